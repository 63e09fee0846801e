// What NCCL decided on real GPUs, and on machines that it was only told of, decided again.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/implementation/communicator.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::json;
using support::PcieSpec;

const Json& runs() {
  static const Json document = [] {
    std::ifstream file(LANECAST_NCCL_DECISIONS);
    return Json::parse(file);
  }();
  return document.at("runs");
}

std::string cpu_model(const std::string& name) {
  if (name == "intel-broadwell") return "Intel Xeon E5-2690 v4";
  if (name == "intel-skylake") return "Intel Xeon Gold 6130";
  if (name == "intel-sapphire") return "Intel Xeon Gold 6430";
  if (name == "intel-emerald") return "Intel Xeon Gold 6530";
  return "AMD EPYC 7763";
}

/// As tests/nccl/collect_decisions.py builds them.
Machine machine_of(const Json& spec) {
  const std::string layout = spec.at("layout");
  const PcieSpec pcie{static_cast<PcieRate>(spec.at("generation").get<int>()), spec.at("width").get<int>()};
  const std::string cpu = spec.at("cpu");
  const std::string vendor = cpu.substr(0, cpu.find('-'));
  Machine machine;
  const NodeId first = support::add_cpu(machine, vendor);
  const NodeId second = layout == "sockets" ? support::add_cpu(machine, vendor) : first;
  for (Cpu& node : machine.cpus) node.model = cpu_model(cpu);
  if (layout == "sockets") support::add_socket_link(machine, first, second);
  const NodeId root = support::add_root(machine, first);
  std::array<NodeId, 2> above{root, layout == "sockets" ? support::add_root(machine, second) : root};
  if (layout == "switch" || layout == "nested")
    above[0] = above[1] = support::add_switch(machine, root, pcie);
  if (layout == "switches") {
    above = {support::add_switch(machine, root, pcie), support::add_switch(machine, root, pcie)};
  }
  if (layout == "nested") {
    above = {support::add_switch(machine, above[0], pcie), support::add_switch(machine, above[1], pcie)};
  }
  for (PcieSwitch& chip : machine.switches) chip.model = "Broadcom PEX88096";  // 1000:c010
  for (const NodeId node : above) support::add_gpu(machine, node, pcie);
  for (Gpu& gpu : machine.gpus) gpu.sm = spec.at("sm");
  const int nvlinks = spec.at("nvlinks");
  if (nvlinks > 0) support::add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, nvlinks);
  return machine;
}

/// The virtual machine that the file was recorded on.
Machine real_machine() {
  Json spec{{"layout", "root"}, {"cpu", "intel-emerald"}, {"generation", 5}, {"width", 16},
            {"sm", 90},         {"nvlinks", 18}};
  return machine_of(spec);
}

Implementation implementation_of(const Json& run) {
  Implementation implementation = implementation_from_string("nccl-2.28");
  std::vector<NcclSetting> settings{{"NCCL_NVLS_ENABLE", "0", "--nccl-env"}};
  for (const auto& [name, value] : run.at("environment").items())
    settings.push_back({name, value.get<std::string>(), "--nccl-env"});
  std::vector<Warning> warnings;
  implementation.environment = read_nccl_environment(settings, implementation.version(), warnings);
  return implementation;
}

struct Replay {
  Json run;
  Machine machine;
  Implementation implementation;
  CommunicatorSetup communicator;
  std::string name;
};

std::vector<Replay> replays() {
  std::vector<Replay> all;
  for (const Json& run : runs()) {
    const Machine machine = run.at("machine").is_null() ? real_machine() : machine_of(run.at("machine"));
    const Implementation implementation = implementation_of(run);
    all.push_back({run, machine, implementation, open_communicator(machine, implementation, Call{}),
                   run.at("machine").dump() + run.at("environment").dump()});
    // the search goes by the file's capability, the cost model asks the cards
    all.back().communicator.nccl->min_sm = all.back().communicator.nccl->max_sm = 90;
  }
  return all;
}

void expect_graph(const Json& recorded, const NcclGraph& graph, const std::string& name) {
  EXPECT_EQ(graph.channels, recorded.at("channels").get<int>()) << name;
  EXPECT_NEAR(graph.speed_intra, recorded.at("speed_intra").get<double>(), 1e-3) << name;
  EXPECT_EQ(to_string(graph.type_intra), recorded.at("type_intra").get<std::string>()) << name;
  EXPECT_EQ(static_cast<int>(graph.pattern), recorded.at("pattern").get<int>()) << name;
}

TEST(NcclDecisions, AreRecordedForManyMachines) { EXPECT_GE(runs().size(), 200u); }

TEST(NcclDecisions, TheRingSearchFindsTheSame) {
  for (const Replay& replay : replays()) {
    if (!replay.run.contains("graphs")) continue;
    expect_graph(replay.run.at("graphs").at("ring"), replay.communicator.nccl->ring, "ring " + replay.name);
    EXPECT_EQ(replay.communicator.nccl->ring.fallback, replay.run.value("fallback", false)) << replay.name;
  }
}

TEST(NcclDecisions, TheTreeSearchFindsTheSame) {
  for (const Replay& replay : replays()) {
    if (!replay.run.contains("graphs")) continue;
    expect_graph(replay.run.at("graphs").at("tree"), replay.communicator.nccl->tree, "tree " + replay.name);
  }
}

TEST(NcclDecisions, TransportsAndChannelsAreTheSame) {
  for (const Replay& replay : replays()) {
    EXPECT_EQ(replay.communicator.channels(), replay.run.at("coll_channels").get<int>()) << replay.name;
    const std::string via = replay.run.at("transports").at(0);
    const bool shm = via.rfind("SHM", 0) == 0;
    EXPECT_EQ(replay.communicator.rings.front().links.front().transport == Transport::shm, shm)
        << replay.name;
  }
}

Collective collective_of(const std::string& name) {
  if (name == "AllGather") return Collective::all_gather;
  if (name == "ReduceScatter") return Collective::reduce_scatter;
  if (name == "Broadcast") return Collective::broadcast;
  return name == "Reduce" ? Collective::reduce : Collective::all_reduce;
}

/// NCCL prints what one rank gives for all-gather, what it gets for reduce-scatter; we count the larger
/// buffer.
Call call_of(const Json& choice) {
  Call call;
  call.collective = collective_of(choice.at(0));
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  call.size = Bytes(choice.at(1).get<std::uint64_t>() * (blocks ? 2 : 1));
  call.launch = Launch::stream;
  return call;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(NcclDecisions, AlgorithmAndProtocolAreTheSame) {
  std::size_t compared = 0;
  for (const Replay& replay : replays()) {
    for (const Json& choice : replay.run.at("choices")) {
      const NcclChoice ours = choose(replay.communicator, replay.implementation, call_of(choice));
      const std::string name = choice.dump() + " " + replay.name;
      EXPECT_EQ(upper(to_string(ours.taken.algorithm)), choice.at(2).get<std::string>()) << name;
      EXPECT_EQ(upper(to_string(ours.taken.protocol)), choice.at(3).get<std::string>()) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 7000u);
}

TEST(NcclDecisions, ChannelsOfACallAreTheSame) {
  for (const Replay& replay : replays()) {
    for (const Json& choice : replay.run.at("choices")) {
      if (choice.at(2) != "RING") continue;
      const ResolvedCall call =
          resolve_call(replay.machine, replay.implementation, replay.communicator, call_of(choice));
      EXPECT_EQ(call.channels, choice.at(4).get<int>()) << choice.dump() << " " << replay.name;
    }
  }
}

void expect_costs(const Json& recorded, const std::vector<CostEstimate>& bill, NcclAlgorithm algorithm,
                  const std::string& name) {
  const Protocol protocols[] = {Protocol::ll, Protocol::ll128, Protocol::simple};
  for (std::size_t p = 0; p < 3; ++p) {
    const double bandwidth = recorded.at(p).at(1);
    for (const CostEstimate& line : bill) {
      if (line.algorithm != algorithm || line.protocol != protocols[p]) continue;
      const bool printed_as_nothing = line.algbw.value() < 0.05e9;  // the fallback's 0.1 GB/s, halved
      if (!printed_as_nothing) {
        EXPECT_EQ(line.possible, bandwidth > 0) << name << " " << line.reason;
      }
      if (!line.possible || bandwidth == 0) continue;
      EXPECT_NEAR(line.latency.value() * 1e6, recorded.at(p).at(0).get<double>(), 0.051) << name;
      EXPECT_NEAR(line.algbw.value() * 1e-9, bandwidth, 0.051) << name;  // printed with one digit
    }
  }
}

TEST(NcclDecisions, MostThreadsAndThresholdsAreTheSame) {
  const Protocol protocols[] = {Protocol::ll, Protocol::ll128, Protocol::simple};
  for (const Replay& replay : replays()) {
    const NcclRules& rules = nccl_rules(replay.implementation.version());
    const BytesPerSecond bus(replay.communicator.nccl->ring.bus_GBps() * 1e9);
    const NcclEnvironment& environment = replay.implementation.environment;
    std::string thresholds;
    for (const auto& [name, algorithm] :
         {std::pair("tree", NcclAlgorithm::tree), std::pair("ring", NcclAlgorithm::ring)}) {
      for (std::size_t p = 0; p < 3; ++p) {
        EXPECT_EQ(most_threads(rules, algorithm, protocols[p], bus, environment),
                  replay.run.at("max_threads").at(name).at(p).get<int>())
            << name << " " << replay.name;
        thresholds += std::to_string(thread_threshold(algorithm, protocols[p], 2, environment).value());
        thresholds += p < 2 ? "/" : " | ";
      }
    }
    EXPECT_EQ(thresholds + "512 | 512", replay.run.at("thread_thresholds").get<std::string>()) << replay.name;
  }
}

TEST(NcclDecisions, TheCostTableIsTheSame) {
  for (const Replay& replay : replays()) {
    for (const auto& [collective, costs] : replay.run.at("costs").items()) {
      Call call;
      call.collective = collective_of(collective);
      call.size = Bytes(std::uint64_t{1} << 31);  // Tree's correction is 1 there
      const std::vector<CostEstimate> bill = [&] {
        try {
          return choose(replay.communicator, replay.implementation, call).bill;
        } catch (const std::exception&) {
          return std::vector<CostEstimate>{};  // nothing is allowed: NCCL fails too
        }
      }();
      const std::string name = collective + " " + replay.name;
      expect_costs(costs.at("ring"), bill, NcclAlgorithm::ring, "ring " + name);
      expect_costs(costs.at("tree"), bill, NcclAlgorithm::tree, "tree " + name);
    }
  }
}

}  // namespace
}  // namespace lanecast
