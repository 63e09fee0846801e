#include "sim/copies.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <simgrid/s4u.hpp>

#include "model/error.hpp"
#include "model/predict/latency.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "sim/fair_share.hpp"
#include "sim/platform.hpp"
#include "sim/run_isolated.hpp"

namespace lanecast {
namespace {

constexpr double kObserved = 1e-3;  // seconds of steady state that are measured

/// How fast a copy can be by itself, and how it travels.
struct PlannedCopy {
  int lane = -1;
  BytesPerSecond alone{0};  // payload
  double staged = 1;        // share that staging leaves; 1 for direct copies
};

std::string end_name(const Machine& machine, const std::optional<int>& end) {
  return end ? machine.gpus[static_cast<std::size_t>(*end)].name : "host";
}

void check_end(const Machine& machine, const std::optional<int>& end) {
  if (!end) return;
  if (*end < 0 || static_cast<std::size_t>(*end) >= machine.gpus.size()) {
    throw Error(ErrorKind::usage,
                "GPU " + std::to_string(*end) + " does not exist: `" + machine.name + "` has " +
                    std::to_string(machine.gpus.size()) + " GPUs",
                "--flows", "take an index below that, or `host`");
  }
  if (!machine.gpus[static_cast<std::size_t>(*end)].present) {
    throw Error(ErrorKind::usage, "GPU " + std::to_string(*end) + " is not present", "--flows",
                "leave it out");
  }
}

void check_flow(const Machine& machine, const CopyFlow& flow) {
  check_end(machine, flow.source);
  check_end(machine, flow.destination);
  if (flow.source == flow.destination) {
    throw Error(ErrorKind::usage, "a copy from " + end_name(machine, flow.source) + " to itself", "--flows",
                "name two different ends");
  }
}

Route host_way(const Machine& machine, int gpu, int memory_of, bool to_host) {
  const auto cpu = cpu_of(machine, {NodeKind::gpu, memory_of});
  auto route = cpu ? host_route(machine, gpu, *cpu, to_host) : std::nullopt;
  if (!route) {
    throw Error(ErrorKind::usage,
                "`" + machine.gpus[static_cast<std::size_t>(gpu)].name + "` has no way to host memory",
                "machine `" + machine.name + "`", "describe its PCIe link");
  }
  return *route;
}

class CopyPlanner {
 public:
  CopyPlanner(const Machine& machine, const Profile& profile, Engine engine)
      : machine_(machine), profile_(profile), builder_(machine, profile, engine), engine_(engine) {}

  PlannedCopy plan(const CopyFlow& flow) {
    PlannedCopy copy;
    if (!flow.source || !flow.destination) {
      copy.lane = host_lane(flow);
    } else {
      const int from = *flow.source;
      const int to = *flow.destination;
      const auto nvlink = nvlink_route(machine_, from, to);
      if (!peer_access(machine_, from, to, Distance::sys).allowed) {
        copy.lane = staged_lane(from, to);
        copy.staged = profile_.value(Param::staged_copy_efficiency);
      } else {
        copy.lane = builder_.add_peer(nvlink ? *nvlink : *peer_route(machine_, from, to));
      }
    }
    copy.alone = rate_alone(copy);
    return copy;
  }

  FlowNetwork network() { return builder_.take(); }

 private:
  int host_lane(const CopyFlow& flow) {
    const int gpu = flow.source ? *flow.source : *flow.destination;
    const int cpu = cpu_of(machine_, {NodeKind::gpu, gpu}).value_or(0);
    const Route route = host_way(machine_, gpu, gpu, flow.source.has_value());
    const bool store = flow.source.has_value();
    return builder_.add_host(gpu, store ? &route : nullptr, store ? std::optional<int>(cpu) : std::nullopt,
                             store ? nullptr : &route, store ? std::nullopt : std::optional<int>(cpu),
                             joint());
  }

  /// The driver's way without peer access: through a buffer in the source's host memory, both halves at once.
  int staged_lane(int from, int to) {
    const Route out = host_way(machine_, from, from, true);
    const Route in = host_way(machine_, to, from, false);
    const int cpu = cpu_of(machine_, {NodeKind::gpu, from}).value_or(0);
    const int store = builder_.add_host(from, &out, cpu, nullptr, std::nullopt, BytesPerSecond(0));
    const int load = builder_.add_host(to, nullptr, std::nullopt, &in, cpu, BytesPerSecond(0));
    return builder_.join(store, load);
  }

  /// Stores and loads of many blocks to and from host memory share the joint capacity without the softness of
  /// few.
  BytesPerSecond joint() const { return engine_ == Engine::sm ? BytesPerSecond(1e15) : BytesPerSecond(0); }

  BytesPerSecond rate_alone(const PlannedCopy& copy) const {
    const Lane& lane = builder_.network().lanes[static_cast<std::size_t>(copy.lane)];
    double slowest = 1e15;
    for (const int r : lane.resources) {
      const auto times = std::count(lane.resources.begin(), lane.resources.end(), r);
      const double capacity = builder_.network().resources[static_cast<std::size_t>(r)].capacity.value();
      slowest = std::min(slowest, capacity / static_cast<double>(times));
    }
    return BytesPerSecond(slowest / lane.wire_per_payload * copy.staged);
  }

  const Machine& machine_;
  const Profile& profile_;
  FlowNetworkBuilder builder_;
  Engine engine_;
};

/// Payload rates of endless flows that run at once, by SimGrid. In a child: one engine a process.
std::vector<double> steady_rates(const FlowNetwork& network, const std::vector<PlannedCopy>& copies) {
  const double scale = transfer_scale();
  std::vector<double> rates(copies.size(), 0.0);
  Platform platform(network, Demand(network.resources.size(), BytesPerSecond(1e30)));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    auto* mailbox = platform.eager_mailbox("copy" + std::to_string(i));
    simgrid::s4u::Actor::create(
        "copy" + std::to_string(i), platform.lane_host(copies[i].lane),
        [&rates, &network, &copies, mailbox, i, scale] {
          static int nothing = 0;
          const Lane& lane = network.lanes[static_cast<std::size_t>(copies[i].lane)];
          const double cap = copies[i].alone.value() * lane.wire_per_payload * scale;
          const double asked = cap * kObserved * 4;
          const auto flow = mailbox->put_init(&nothing, static_cast<std::uint64_t>(std::llround(asked)));
          flow->set_rate(cap);
          flow->start();
          simgrid::s4u::this_actor::sleep_for(kObserved);
          const double moved = asked - flow->get_remaining();
          rates[i] = moved / kObserved / scale / lane.wire_per_payload;
          simgrid::s4u::this_actor::sleep_for(kObserved);  // nobody leaves before all have read
          flow->cancel();
        });
  }
  platform.run();
  return rates;
}

std::string to_bytes(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<double> from_bytes(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The fullest resource on the copy's lane, where it is full.
std::string full_link(const FlowNetwork& network, const std::vector<PlannedCopy>& copies,
                      const std::vector<double>& rates, std::size_t copy) {
  std::vector<double> load(network.resources.size(), 0.0);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Lane& lane = network.lanes[static_cast<std::size_t>(copies[i].lane)];
    for (const int r : lane.resources) load[static_cast<std::size_t>(r)] += rates[i] * lane.wire_per_payload;
  }
  std::string name;
  double fullest = 0.99;
  for (const int r : network.lanes[static_cast<std::size_t>(copies[copy].lane)].resources) {
    const Resource& resource = network.resources[static_cast<std::size_t>(r)];
    const double use = load[static_cast<std::size_t>(r)] / resource.capacity.value();
    if (use <= fullest * (1 + 1e-9)) continue;
    fullest = use;
    name = resource.link + " " + resource.direction;
  }
  return name;
}

struct PlannedSet {
  FlowNetwork network;
  std::vector<PlannedCopy> copies;
};

PlannedSet plan_set(const Machine& machine, const Profile& profile, Engine engine,
                    const std::vector<CopyFlow>& flows) {
  CopyPlanner planner(machine, profile, engine);
  PlannedSet set;
  for (const CopyFlow& flow : flows) {
    check_flow(machine, flow);
    set.copies.push_back(planner.plan(flow));
    PlannedCopy& copy = set.copies.back();
    const bool both_ways = std::any_of(flows.begin(), flows.end(), [&](const CopyFlow& other) {
      return other.source == flow.destination && other.destination == flow.source;
    });
    if (copy.staged < 1 && both_ways) copy.alone = copy.alone * profile.value(Param::staged_copy_duplex);
  }
  set.network = planner.network();
  return set;
}

std::vector<std::vector<CopyRate>> run_sets(const Machine& machine, const Profile& profile, Engine engine,
                                            const std::vector<std::vector<CopyFlow>>& sets) {
  std::vector<PlannedSet> planned;
  for (const auto& flows : sets) planned.push_back(plan_set(machine, profile, engine, flows));
  const auto bytes = run_isolated(planned.size(), 0, [&](std::size_t i) {
    return to_bytes(steady_rates(planned[i].network, planned[i].copies));
  });
  std::vector<std::vector<CopyRate>> answers;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const std::vector<double> rates = from_bytes(bytes[s]);
    answers.emplace_back();
    for (std::size_t i = 0; i < sets[s].size(); ++i) {
      answers.back().push_back(
          {sets[s][i], BytesPerSecond(rates[i]), full_link(planned[s].network, planned[s].copies, rates, i)});
    }
  }
  return answers;
}

/// One-way latency of a flag between two GPUs, or of a small copy staged by the driver.
double latency_us(const Machine& machine, const Profile& profile, int from, int to) {
  if (!peer_access(machine, from, to, Distance::sys).allowed) {
    return profile.time(Param::staged_copy_latency).value() * 1e6;
  }
  return peer_latency(machine, profile, from, to).value() * 1e6;
}

}  // namespace

std::vector<CopyRate> concurrent_copies(const Machine& machine, const Profile& profile, Engine engine,
                                        const std::vector<CopyFlow>& flows) {
  return run_sets(machine, profile, engine, {flows}).front();
}

std::vector<BytesPerSecond> fair_copies(const Machine& machine, const Profile& profile, Engine engine,
                                        const std::vector<CopyFlow>& flows) {
  const PlannedSet set = plan_set(machine, profile, engine, flows);
  FairShare share(set.network, std::vector<bool>(set.network.resources.size(), true));
  for (std::size_t i = 0; i < set.copies.size(); ++i) {
    const Lane& lane = set.network.lanes[static_cast<std::size_t>(set.copies[i].lane)];
    share.add(set.copies[i].lane, set.copies[i].alone.value() * lane.wire_per_payload, 1.0,
              static_cast<int>(i));
  }
  std::vector<BytesPerSecond> rates;
  for (const double rate : share.rates()) {
    const PlannedCopy& copy = set.copies[rates.size()];
    rates.push_back(
        BytesPerSecond(rate / set.network.lanes[static_cast<std::size_t>(copy.lane)].wire_per_payload));
  }
  return rates;
}

CopyMatrix copy_matrix(const Machine& machine, const Profile& profile, Engine engine, MatrixKind kind) {
  CopyMatrix matrix;
  matrix.gpus = present_gpus(machine);
  std::vector<std::vector<CopyFlow>> sets;
  const bool host = kind == MatrixKind::h2d || kind == MatrixKind::d2h;
  const std::size_t rows = host ? 1 : matrix.gpus.size();
  matrix.rows.assign(rows, std::vector<std::optional<double>>(matrix.gpus.size()));
  std::vector<std::pair<std::size_t, std::size_t>> cells;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < matrix.gpus.size(); ++c) {
      const int from = matrix.gpus[r];
      const int to = matrix.gpus[c];
      if (!host && from == to) continue;
      if (kind == MatrixKind::latency) {
        matrix.rows[r][c] = latency_us(machine, profile, from, to);
        continue;
      }
      cells.emplace_back(r, c);
      if (kind == MatrixKind::h2d) sets.push_back({{std::nullopt, to}});
      if (kind == MatrixKind::d2h) sets.push_back({{to, std::nullopt}});
      if (kind == MatrixKind::p2p) sets.push_back({{from, to}});
      if (kind == MatrixKind::bidir) sets.push_back({{from, to}, {to, from}});
    }
  }
  const auto answers = run_sets(machine, profile, engine, sets);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double sum = 0;
    for (const CopyRate& rate : answers[i]) sum += rate.rate.value() / 1e9;
    matrix.rows[cells[i].first][cells[i].second] = sum;
  }
  return matrix;
}

}  // namespace lanecast
