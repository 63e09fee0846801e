#include "tests/cases/logged_decisions.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "configs/nccl_log.hpp"
#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/nccl/system.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "tests/cases/case_machines.hpp"

namespace lanecast::cases {
namespace {

/// Gathers the facts of one log.
class Facts {
 public:
  explicit Facts(std::string where) : where_(std::move(where)) {}

  void add(const std::string& what, const std::string& logged, const std::string& ours,
           const std::string& why = "") {
    facts_.push_back({where_, what, logged, ours, why});
  }
  void add(const std::string& what, int logged, int ours) {
    add(what, std::to_string(logged), std::to_string(ours));
  }
  std::vector<LoggedFact> take() { return std::move(facts_); }

 private:
  std::string where_;
  std::vector<LoggedFact> facts_;
};

Implementation implementation_of(const NcclLog& log) {
  Implementation implementation =
      implementation_from_string("nccl-2." + std::to_string(log.version.value().release.minor));
  std::vector<Warning> warnings;
  implementation.environment = read_nccl_environment(log.settings, implementation.version(), warnings);
  return implementation;
}

std::string order_text(const std::vector<int>& order) {
  std::string text;
  for (const int rank : order) text += (text.empty() ? "" : " ") + std::to_string(rank);
  return text;
}

/// Each distinct order once, with the channels that have it: "0 1 (24)".
std::string orders_text(const std::vector<std::vector<int>>& orders) {
  std::string text;
  for (std::size_t c = 0; c < orders.size();) {
    std::size_t end = c;
    while (end < orders.size() && orders[end] == orders[c]) ++end;
    text += (text.empty() ? "" : ", ") + fmt::format("{} ({})", order_text(orders[c]), end - c);
    c = end;
  }
  return text;
}

std::string logged_orders(const NcclLog& log) {
  std::vector<std::vector<int>> orders;
  for (const NcclLogRing& ring : log.rings) orders.push_back(ring.order);
  return orders_text(orders);
}

std::string our_orders(const CommunicatorSetup& communicator) {
  std::vector<std::vector<int>> orders;
  for (const int ring : communicator.ring_of)
    orders.push_back(communicator.rings[static_cast<std::size_t>(ring)].order);
  return orders_text(orders);
}

/// "0 to 1 P2P (24), 1 to 0 P2P (24)"
std::string logged_transports(const NcclLog& log) {
  std::string text;
  for (int from = 0; from < log.ranks.value_or(0); ++from) {
    for (const NcclLogConnection& one : log.connections) {
      if (one.from_rank != from) continue;
      text += (text.empty() ? "" : ", ") + fmt::format("{} to {} {} ({})", one.from_rank, one.to_rank,
                                                       one.via.substr(0, 3), one.channels.size());
    }
  }
  return text;
}

std::string our_transports(const CommunicatorSetup& communicator) {
  std::string text;
  for (const Ring& ring : communicator.rings) {
    for (const Connection& link : ring.links) {
      text += (text.empty() ? "" : ", ") + fmt::format("{} to {} {} ({})", link.from_gpu, link.to_gpu,
                                                       link.transport == Transport::shm ? "SHM" : "P2P",
                                                       communicator.channels());
    }
  }
  return text;
}

std::string our_thresholds(const Implementation& implementation, int ranks) {
  std::string text;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::tree, NcclAlgorithm::ring}) {
    text += text.empty() ? "" : " | ";
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const Bytes bytes = thread_threshold(algorithm, protocol, ranks, implementation.environment);
      text += (protocol == Protocol::ll ? "" : "/") + std::to_string(bytes.value());
    }
  }
  return text;
}

std::string logged_thresholds(const NcclLog& log) {
  if (!log.thread_thresholds) return "-";
  const auto& t = *log.thread_thresholds;
  return fmt::format("{}/{}/{} | {}/{}/{}", t[0], t[1], t[2], t[3], t[4], t[5]);
}

std::string patterns_text(const std::vector<int>& patterns) {
  return patterns.empty() ? "none" : "patterns " + order_text(patterns);
}

std::vector<LoggedFact> compare(const std::string& where, const std::string& path,
                                const std::string& machine_name) {
  const NcclLog log = read_nccl_log(path);
  const Implementation implementation = implementation_of(log);
  const Machine machine = machine_of(machine_name, {});
  const CommunicatorSetup communicator = open_communicator(machine, implementation, Call{});
  const NcclSetup& setup = communicator.nccl.value();
  std::vector<int> fallback;
  for (const NcclGraph* graph : {&setup.tree, &setup.ring}) {
    if (graph->fallback) fallback.push_back(static_cast<int>(graph->pattern));
  }
  Facts facts(where + ", " + implementation.version().name());
  facts.add("search without a path", patterns_text(log.fallback_patterns), patterns_text(fallback));
  facts.add("channels", log.coll_channels.value_or(0), communicator.channels());
  facts.add("ring orders (channels)", logged_orders(log), our_orders(communicator));
  facts.add("transports (channels)", logged_transports(log), our_transports(communicator));
  facts.add("NVLS channels", log.nvls_channels.value_or(-1), setup.nvls.channels);
  facts.add("thread thresholds, tree | ring", logged_thresholds(log),
            our_thresholds(implementation, log.ranks.value_or(0)));
  return facts.take();
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().empty()) {
    throw Error(ErrorKind::usage, "cannot read the file, or it is empty", path, "restore shared/cases/raw");
  }
  return text.str();
}

/// The first match of a pattern with one group; "-" where there is none.
std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "-";
}

/// "160 GB/s NVL" of NCCL's "160.000000/NVL".
std::string path_text(const std::string& logged) {
  const std::size_t slash = logged.find('/');
  return fmt::format("{:.0f} GB/s {}", std::stod(logged), logged.substr(slash + 1));
}

/// Two GPUs of sm_80 with eight NVLinks each to an NVSwitch, on Gen4 below one of two Intel sockets.
Machine nvswitch_pair() {
  Machine machine =
      machine_of("dgx-a100-4gpu-nvswitch", {"gpus.gpu6.present=false", "gpus.gpu7.present=false"});
  for (Link& link : machine.links) {
    if (link.kind == LinkKind::nvlink) link.count = 8;
  }
  return machine;
}

}  // namespace

std::vector<LoggedFact> h200_log_facts(const std::string& folder) {
  std::vector<LoggedFact> facts =
      compare("2 x H200, NVLink", folder + "/nccl-tests-debug-info.log", "h200x2-nvlink-vm");
  const auto host = compare("2 x H200, host memory", folder + "/nccl-tests-p2p-disabled-debug-info.log",
                            "h200x2-nvlink-vm");
  facts.insert(facts.end(), host.begin(), host.end());
  return facts;
}

std::vector<LoggedFact> published_log_facts(const std::string& folder) {
  std::vector<LoggedFact> facts =
      compare("2 x RTX 5090, two NUMA nodes", folder + "/nccl-info-2x5090-genoa.txt", "2x5090-genoa-2nodes");
  const std::string log = whole_file(folder + "/nccl-info-paths-nvs-2gpu.partial.txt");
  const NcclRules& rules = nccl_rules({false, 18});
  const Machine machine = nvswitch_pair();
  const NcclSystem system(machine, {0, 1}, link_assumptions(rules), [](int, int) { return true; });
  const NcclPath& path = system.path(0, 1);
  Cpu xeon;
  xeon.vendor = "intel";
  xeon.model = "Intel Xeon Gold 6130";
  Facts paths("2 GPUs on an NVSwitch (paths only), NCCL 2.18");
  paths.add("from GPU to GPU", path_text(found(log, R"(GPU/51000 \(\d+/([^)]+)\))")),
            fmt::format("{:.0f} GB/s {}", static_cast<double>(path.milli_GBps) / 1000, to_string(path.type)));
  paths.add("links between them", found(log, R"(GPU/51000 \((\d+)/)"), std::to_string(path.links.size()));
  paths.add("GPU's own CPU (Gen4 x16)", path_text(found(log, R"(CPU/0 \(\d+/([^)]+)\))")),
            fmt::format("{:.0f} GB/s PHB", nccl_pcie_GBps(machine.links.front(), false)));
  paths.add("the other CPU (Xeon)", path_text(found(log, R"(CPU/1 \(\d+/([^)]+)\))")),
            fmt::format("{:.0f} GB/s SYS", cpu_link_GBps(rules, xeon)));
  const auto more = paths.take();
  facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

std::vector<LoggedFact> graph_file_facts(const std::string& folder) {
  const std::string xml = whole_file(folder + "/from-fetch/nccl-graph-a100-1gpu.xml");
  const auto value = [&](const std::string& name) { return found(xml, name + "=\"([^\"]*)\""); };
  Facts facts("1 x A100 (graph file)");
  facts.add(
      "ring search", value("nchannels") + " x " + value("speedintra") + " GB/s, " + value("typeintra"), "-",
      "a communicator of one rank: no link is crossed, so that NCCL takes the first speed that it tries and "
      "as many channels as it may; we decide nothing for one rank");
  return facts.take();
}

Grid fact_grid(const std::vector<LoggedFact>& facts) {
  Grid grid;
  grid.columns = {{"where", "", 0, false},
                  {"what", "", 0, false},
                  {"seen", "", 0, false},
                  {"lanecast", "", 0, false},
                  {"verdict", "", 0, false}};
  for (const LoggedFact& fact : facts) {
    const std::string verdict = fact.agrees() ? "agrees" : fact.ours == "-" ? "outside" : "differs";
    grid.rows.push_back({fact.where, fact.what, fact.logged, fact.ours,
                         fact.why.empty() ? verdict : verdict + ": " + fact.why});
  }
  return grid;
}

}  // namespace lanecast::cases
