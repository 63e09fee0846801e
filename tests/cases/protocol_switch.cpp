#include "tests/cases/protocol_switch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "tests/cases/case_machines.hpp"

namespace lanecast::cases {
namespace {

using Json = nlohmann::json;

/// Sizes in ascending order, and whether each runs Simple: "Simple from 2 MiB".
std::string switch_text(const std::vector<Bytes>& sizes, const std::function<bool(std::size_t)>& simple) {
  std::size_t first = sizes.size();
  while (first > 0 && simple(first - 1)) --first;
  if (first == sizes.size()) return "never Simple";
  const std::uint64_t bytes = sizes[first].value();
  return bytes >= (1u << 20) ? fmt::format("Simple from {} MiB", bytes >> 20)
                             : fmt::format("Simple from {} KiB", bytes >> 10);
}

std::string search_text(int channels, double speed, const std::string& type) {
  return fmt::format("{} x {:.0f} GB/s, {}", channels, speed, type);
}

const Json& recorded_run(const Json& document, bool host_memory) {
  const Json environment = host_memory ? Json{{"NCCL_P2P_DISABLE", "1"}} : Json::object();
  for (const Json& run : document.at("runs")) {
    if (run.at("machine").is_null() && run.at("environment") == environment) return run;
  }
  throw Error(ErrorKind::usage, "the recording has no run of the real machine with this environment",
              "configs/measurements", "restore h200x2-nccl-2.28.9-decisions.json");
}

void add_recorded(const Json& run, const std::string& where, std::vector<LoggedFact>& facts) {
  Implementation implementation = implementation_from_string("nccl-2.28");
  std::vector<NcclSetting> settings{{"NCCL_NVLS_ENABLE", "0", "recorded"}};
  for (const auto& [name, value] : run.at("environment").items())
    settings.push_back({name, value.get<std::string>(), "recorded"});
  std::vector<Warning> warnings;
  implementation.environment = read_nccl_environment(settings, implementation.version(), warnings);
  const CommunicatorSetup communicator =
      open_communicator(machine_of("h200x2-nvlink-vm", {}), implementation, Call{});
  const NcclGraph& ours = communicator.nccl.value().ring;
  const Json& ring = run.at("graphs").at("ring");
  facts.push_back({where, "ring search",
                   search_text(ring.at("channels"), ring.at("speed_intra"), ring.at("type_intra")),
                   search_text(ours.channels, ours.speed_intra, to_string(ours.type_intra)), ""});
  std::vector<Bytes> sizes;
  std::vector<bool> recorded;
  std::vector<bool> chosen;
  for (const Json& choice : run.at("choices")) {
    if (choice.at(0) != "AllReduce") continue;
    Call call;
    call.size = Bytes(choice.at(1).get<std::uint64_t>());
    sizes.push_back(call.size);
    recorded.push_back(choice.at(3) == "SIMPLE");
    chosen.push_back(choose(communicator, implementation, call).taken.protocol == Protocol::simple);
  }
  facts.push_back({where, "all-reduce left to NCCL",
                   switch_text(sizes, [&](std::size_t i) { return recorded[i]; }),
                   switch_text(sizes, [&](std::size_t i) { return chosen[i]; }), ""});
}

const AllReduceComparison* sweep_of(const std::vector<AllReduceComparison>& comparisons,
                                    const std::string& path, const std::string& protocol,
                                    const std::string& launch) {
  for (const AllReduceComparison& one : comparisons) {
    if (one.entry.case_id == "2 x H200, " + path + ", " + protocol &&
        one.entry.variant == launch + ", auto channels")
      return &one;
  }
  return nullptr;
}

/// Forced runs: from where on Simple is faster, as measured and as predicted.
void add_crossing(const std::vector<AllReduceComparison>& comparisons, const std::string& path,
                  const std::string& launch, std::vector<LoggedFact>& facts) {
  const AllReduceComparison* ll = sweep_of(comparisons, path, "ll", launch);
  const AllReduceComparison* simple = sweep_of(comparisons, path, "simple", launch);
  if (ll == nullptr || simple == nullptr || ll->points.size() != simple->points.size()) return;
  std::vector<Bytes> sizes;
  for (const AllReducePoint& point : ll->points) sizes.push_back(point.size);
  const auto measured = [&](std::size_t i) {
    return simple->points[i].published_us < ll->points[i].published_us;
  };
  const auto predicted = [&](std::size_t i) {
    return simple->points[i].predicted.value().time < ll->points[i].predicted.value().time;
  };
  facts.push_back({"2 x H200, " + path + ", " + launch + " (measured)",
                   "forced LL and Simple cross, measured and predicted", switch_text(sizes, measured),
                   switch_text(sizes, predicted), ""});
}

/// The runs with NCCL_ALGO=Ring and no protocol: which forced run they are nearer to, where NCCL takes LL by
/// its rules.
void add_open_runs(const std::vector<AllReduceComparison>& comparisons, std::vector<LoggedFact>& facts) {
  const AllReduceComparison* open = sweep_of(comparisons, "NVLink", "auto", "stream");
  const AllReduceComparison* ll = sweep_of(comparisons, "NVLink", "ll", "stream");
  const AllReduceComparison* simple = sweep_of(comparisons, "NVLink", "simple", "stream");
  if (open == nullptr || ll == nullptr || simple == nullptr) return;
  const auto distance = [&](const AllReduceComparison& forced, std::size_t i) {
    return std::abs(std::log(open->points[i].published_us / forced.points[i].published_us));
  };
  int rows = 0;
  int like_ll = 0;
  for (std::size_t i = 0; i < open->points.size(); ++i) {
    if (open->points[i].nccl.value().protocol != Protocol::ll) continue;
    ++rows;
    like_ll += distance(*ll, i) < distance(*simple, i) ? 1 : 0;
  }
  facts.push_back({"2 x H200, NVLink, stream (measured)",
                   "protocol left to NCCL, where it takes LL by its rules: as forced LL rather than Simple",
                   fmt::format("{} of {} rows", like_ll, rows), fmt::format("{} of {} rows", rows, rows),
                   "not explained: the recording of the same release has LL for the same sizes"});
}

}  // namespace

std::vector<LoggedFact> recorded_facts() {
  std::ifstream file(LANECAST_NCCL_DECISIONS);
  const Json document = Json::parse(file);
  std::vector<LoggedFact> facts;
  add_recorded(recorded_run(document, false), "2 x H200, NVLink (recorded), NCCL 2.28", facts);
  add_recorded(recorded_run(document, true), "2 x H200, host memory (recorded), NCCL 2.28", facts);
  return facts;
}

std::vector<LoggedFact> switch_facts(const std::vector<AllReduceComparison>& comparisons) {
  std::vector<LoggedFact> facts;
  add_crossing(comparisons, "NVLink", "graph", facts);
  add_crossing(comparisons, "host memory", "stream", facts);
  add_open_runs(comparisons, facts);
  return facts;
}

}  // namespace lanecast::cases
