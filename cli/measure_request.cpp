#include "cli/measure_request.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "cli/measure_lists.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/measured/reference_values.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kMostRows = 100'000;
constexpr int kMostThreads = 640;  // LL128; the other protocols take 512
constexpr int kMostIterations = 100'000;
constexpr int kMostReplays = 100'000;
constexpr int kMostChecks = 1'000;
constexpr int kMostSessions = 1'000;
constexpr double kLongestTimeout = 600;  // EngineOptions::timeout

/// The lists that make up the calls: one call for each combination.
struct CallLists {
  std::vector<Collective> collectives;
  std::vector<Datatype> types;
  std::vector<ReduceOp> ops;
  std::vector<std::optional<Algorithm>> algorithms;
  std::vector<std::optional<Protocol>> protocols;
  std::vector<std::optional<Transport>> transports;
  std::vector<std::optional<Staging>> stagings;
  std::vector<std::optional<int>> channels;
  std::vector<std::optional<int>> threads;
  std::vector<std::optional<Bytes>> chunks;
  std::vector<std::optional<Bytes>> buffsizes;
};

CallLists read_lists(const MeasureOptions& options) {
  CallLists lists;
  lists.collectives = read_collectives(options.collective);
  lists.types = read_datatypes(options.datatype);
  lists.ops = read_ops(options.op);
  lists.algorithms = read_algorithms(options.algorithm);
  lists.protocols = read_protocols(options.protocol);
  lists.transports = read_transports(options.transport);
  lists.stagings = read_stagings(options.staging);
  lists.channels = read_counts(options.channels, "--channels", kMostEngineChannels);
  lists.threads = read_counts(options.threads, "--threads", kMostThreads);
  lists.chunks = read_byte_sizes(options.chunk, "--chunk");
  lists.buffsizes = read_byte_sizes(options.buffsize, "--buffsize");
  return lists;
}

/// Seconds with decimals, as milliseconds.
std::chrono::milliseconds read_timeout(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && seconds >= 0.001 && seconds <= kLongestTimeout)
    return std::chrono::milliseconds(std::llround(seconds * 1000));
  throw Error(ErrorKind::usage, "`--timeout` is `" + printable(text) + "`", "--timeout",
              "take seconds from 0.001 to 600");
}

PlannedTiming read_timing(const MeasureOptions& options) {
  PlannedTiming timing;
  timing.iterations = static_cast<int>(read_integer(options.iterations, "-n", 1, kMostIterations));
  timing.warmup = static_cast<int>(read_integer(options.warmup, "-w", 0, kMostIterations));
  timing.checks = static_cast<int>(read_integer(options.checks, "-c", 0, kMostChecks));
  if (!options.graph.empty()) {
    const int replays = static_cast<int>(read_integer(options.graph, "--graph", 0, kMostReplays));
    timing.graph = replays > 0;
    if (replays > 0) timing.samples = replays;
  }
  if (options.launch.empty()) return timing;
  const bool graph = read_choice<bool>(options.launch, "--launch", {{"graph", true}, {"stream", false}});
  if (!options.graph.empty() && graph != timing.graph) {
    throw Error(ErrorKind::usage,
                "`--launch " + options.launch + "` and `--graph " + options.graph + "` differ",
                "--launch, --graph", "leave one of them out: `--graph 0` is `--launch stream`");
  }
  timing.graph = graph;
  return timing;
}

std::vector<bool> read_places(const MeasureOptions& options) {
  if (options.in_place) return {true};
  if (options.out_of_place) return {false};
  return {false, true};
}

/// Whole elements, and whole blocks where each rank has a block.
std::vector<Bytes> sizes_of(const std::vector<Bytes>& asked, const Call& call, int ranks) {
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  const std::uint64_t grain = static_cast<std::uint64_t>(element_bytes(call.datatype)) *
                              static_cast<std::uint64_t>(blocks ? ranks : 1);
  std::vector<Bytes> sizes = rounded_sizes(asked, grain);
  if (!sizes.empty()) return sizes;
  throw Error(ErrorKind::usage,
              "no size is left: sizes of " + std::string(to_string(call.collective)) + " of " +
                  to_string(call.datatype) + " are rounded down to multiples of " + std::to_string(grain) +
                  " bytes",
              "-b, -e", "end at " + std::to_string(grain) + " bytes or more");
}

/// Adds `planned` once for each value of a list, as `set` writes it in.
template <class T, class Set>
std::vector<PlannedCall> times(const std::vector<PlannedCall>& calls, const std::vector<T>& values, Set set) {
  std::vector<PlannedCall> product;
  for (const PlannedCall& call : calls) {
    for (const T& value : values) {
      product.push_back(call);
      set(product.back(), value);
    }
  }
  return product;
}

/// What does not depend on the path: every combination, without sizes.
std::vector<PlannedCall> combinations(const CallLists& lists, const Call& common) {
  PlannedCall first;
  first.call = common;
  std::vector<PlannedCall> calls{first};
  calls = times(calls, lists.collectives, [](PlannedCall& c, Collective v) { c.call.collective = v; });
  calls = times(calls, lists.types, [](PlannedCall& c, Datatype v) { c.call.datatype = v; });
  calls = times(calls, lists.ops, [](PlannedCall& c, ReduceOp v) { c.call.op = v; });
  const auto useless = [&](const PlannedCall& c) {  // an operation of a call that does not reduce
    return !is_reduction(c.call.collective) && c.call.op != lists.ops.front();
  };
  calls.erase(std::remove_if(calls.begin(), calls.end(), useless), calls.end());
  calls = times(calls, lists.algorithms, [](PlannedCall& c, const auto& v) { c.call.algorithm = v; });
  calls = times(calls, lists.protocols, [](PlannedCall& c, const auto& v) { c.call.protocol = v; });
  calls = times(calls, lists.stagings, [](PlannedCall& c, const auto& v) { c.choice.staging = v; });
  calls = times(calls, lists.channels, [](PlannedCall& c, const auto& v) { c.call.channels = v; });
  calls = times(calls, lists.threads, [](PlannedCall& c, const auto& v) { c.call.threads = v; });
  calls = times(calls, lists.chunks, [](PlannedCall& c, const auto& v) { c.call.chunk = v; });
  calls = times(calls, lists.buffsizes, [](PlannedCall& c, const auto& v) { c.call.buffsize = v; });
  for (PlannedCall& each : calls) {
    each.choice.algorithm = each.call.algorithm;
    each.choice.protocol = each.call.protocol;
    each.choice.channels = each.call.channels;
    each.choice.threads = each.call.threads;
    each.choice.chunk = each.call.chunk;
    each.choice.buffsize = each.call.buffsize;
  }
  return calls;
}

/// What the communicator must have so that all of its calls can be run.
EngineOptions engine_options(const std::vector<PlannedCall>& calls, std::optional<Transport> transport,
                             std::chrono::milliseconds timeout) {
  EngineOptions options;
  options.transport = transport;
  options.timeout = timeout;
  bool every = true;
  int most = 0;
  for (const PlannedCall& each : calls) {
    every = every && each.call.channels.has_value();
    most = std::max(most, each.call.channels.value_or(0));
    for (int protocol = 0; protocol < 3; ++protocol) {
      const bool may = !each.call.protocol || static_cast<int>(*each.call.protocol) == protocol;
      std::optional<Bytes>& buffsize = options.ring_buffsize[protocol];
      if (!each.call.buffsize || !may) continue;
      const Bytes usual = protocol_traits(static_cast<Protocol>(protocol)).default_buffsize;
      buffsize = std::max({buffsize.value_or(usual), usual, *each.call.buffsize});
    }
  }
  if (every && most > 0) options.channels = most;
  return options;
}

void refuse_too_many(std::uint64_t rows) {
  if (rows <= kMostRows) return;
  throw Error(ErrorKind::usage,
              "these are " + std::to_string(rows) + " rows; at most " + std::to_string(kMostRows) +
                  " are measured at once",
              "the lists of calls and -b, -e, -f", "take fewer sizes or shorter lists");
}

/// Groups by path, since a communicator has one.
std::vector<PlannedGroup> read_groups(const MeasureOptions& options, std::optional<int> ranks,
                                      const PlannedTiming& timing, std::chrono::milliseconds timeout) {
  Call common;
  common.root =
      static_cast<int>(read_integer(options.root, "--root", 0, ranks.value_or(kMostEngineRanks) - 1));
  common.iterations = timing.iterations;
  common.launch = timing.graph ? Launch::graph : Launch::stream;
  const CallLists lists = read_lists(options);
  const std::vector<Bytes> asked = sweep_sizes(options.sweep);
  std::vector<PlannedGroup> groups;
  if (lists.collectives.empty()) return groups;
  std::uint64_t count = lists.collectives.size() * lists.types.size() * lists.ops.size();
  for (const std::size_t size :
       {lists.algorithms.size(), lists.protocols.size(), lists.transports.size(), lists.stagings.size(),
        lists.channels.size(), lists.threads.size(), lists.chunks.size(), lists.buffsizes.size()}) {
    count *= size;
    refuse_too_many(count);
  }
  std::vector<PlannedCall> calls = combinations(lists, common);
  for (PlannedCall& each : calls) each.sizes = sizes_of(asked, each.call, ranks.value_or(1));
  for (const std::optional<Transport>& transport : lists.transports) {
    PlannedGroup group{engine_options(calls, transport, timeout), calls};
    for (PlannedCall& each : group.calls) each.call.transport = transport;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<int> read_devices(const std::string& text, std::optional<int> asked) {
  if (text.empty()) return {};
  std::vector<int> devices = read_indices(text, "--devices");
  const int ranks = asked.value_or(std::min(static_cast<int>(devices.size()), kMostEngineRanks));
  if (devices.size() == static_cast<std::size_t>(ranks)) return devices;
  if (!asked || devices.size() > static_cast<std::size_t>(kMostEngineRanks)) {
    throw Error(ErrorKind::usage, "`--devices` names " + std::to_string(devices.size()) + " GPUs",
                "--devices", "the engine takes at most " + std::to_string(kMostEngineRanks) + " ranks");
  }
  throw Error(
      ErrorKind::usage,
      "`--devices` names " + std::to_string(devices.size()) + " GPUs for " + std::to_string(ranks) + " ranks",
      "--devices, -g", "name one GPU for each rank; a GPU may stand there more than once");
}

}  // namespace

std::optional<int> asked_ranks(const MeasureOptions& options) {
  if (options.ranks.empty() && !options.devices.empty())
    return static_cast<int>(read_devices(options.devices, std::nullopt).size());
  if (options.ranks.empty()) return std::nullopt;
  return static_cast<int>(read_integer(options.ranks, "-g", 1, kMostEngineRanks));
}

MeasureRequest read_measure_request(const MeasureOptions& options, std::optional<int> ranks) {
  MeasureRequest request;
  request.timeout = read_timeout(options.timeout);
  request.ranks_as = read_choice<RanksAs>(options.ranks_as, "--ranks-as",
                                          {{"processes", RanksAs::processes}, {"threads", RanksAs::threads}});
  request.devices = read_devices(options.devices, ranks);
  if (!options.suite.empty()) {
    request.suite =
        read_choice<std::string>(options.suite, "--suite", {{"quick", "quick"}, {"full", "full"}});
  }
  MeasurePlan& plan = request.plan;
  plan.ranks = ranks.value_or(1);
  plan.timing = read_timing(options);
  plan.in_place = read_places(options);
  plan.sessions = static_cast<int>(read_integer(options.sessions, "--sessions", 1, kMostSessions));
  plan.offset = static_cast<std::uint64_t>(read_integer(options.offset, "--offset", 0, 4096));
  if (!options.working_set.empty())
    plan.working_set = read_size(options.working_set, "--working-set " + printable(options.working_set));
  plan.groups = read_groups(options, ranks, plan.timing, request.timeout);
  refuse_too_many(plan.rows());
  if (plan.groups.empty() && !request.suite) {
    throw Error(ErrorKind::usage, "there is nothing to measure", "--collective none",
                "add `--suite quick` for the micro-benchmarks, or name a collective");
  }
  return request;
}

std::vector<PlannedRun> planned_runs(const MeasurePlan& plan) {
  std::vector<PlannedRun> runs;
  for (const PlannedGroup& group : plan.groups) {
    for (const PlannedCall& planned : group.calls) {
      for (const Bytes size : planned.sizes) {
        for (const bool in_place : plan.in_place) {
          PlannedRun run;
          run.call = planned.call;
          run.call.size = size;
          run.call.in_place = in_place;
          if (planned.choice.staging) run.staging = *planned.choice.staging == Staging::kernels ? "sm" : "ce";
          runs.push_back(std::move(run));
        }
      }
    }
  }
  return runs;
}

}  // namespace lanecast
