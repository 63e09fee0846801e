#include <algorithm>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/implementation/channel_work.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "model/implementation/orders.hpp"
#include "model/implementation/transport.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/warnings.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr double kWideBus = 1e15;  // B/s: our engine narrows no blocks

bool all_peers(const ResolvedCall& resolved) {
  return std::all_of(resolved.connections.begin(), resolved.connections.end(),
                     [](const Connection& link) { return link.transport == Transport::p2p; });
}

void add_topology_warnings(const Machine& machine, ResolvedCall& resolved) {
  for (const Connection& link : resolved.connections) {
    if (link.transport == Transport::shm && resolved.call.transport != Transport::shm) {
      resolved.warnings.push_back({"LC-TRANSPORT-01", "through host memory from " +
                                                          pair_name(machine, link.from_gpu, link.to_gpu) +
                                                          ": " + link.reason});
    }
    const auto route = link.transport == Transport::p2p && !link.nvlink
                           ? peer_route(machine, link.from_gpu, link.to_gpu)
                           : std::nullopt;
    if (route && route->redirected) {
      resolved.warnings.push_back({"LC-ACS-01", "peer traffic from " +
                                                    pair_name(machine, link.from_gpu, link.to_gpu) +
                                                    " is redirected to the root by ACS or IOMMU"});
    }
  }
  for (Warning& warning : degraded_link_warnings(machine)) resolved.warnings.push_back(std::move(warning));
}

void check_range(const char* flag, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorKind::usage, std::string(flag) + " is " + std::to_string(value), flag,
              "take " + std::to_string(low) + " to " + std::to_string(high));
}

void choose_registration(const Implementation& implementation, ResolvedCall& resolved) {
  const Call& call = resolved.call;
  const bool peers = all_peers(resolved);
  const bool possible = peers && resolved.algorithm == Algorithm::ring &&
                        resolved.protocol == Protocol::simple && call.collective == Collective::all_reduce &&
                        !call.in_place && resolved.order().size() > 1 && !resolved.store_and_forward;
  const bool nccl_does = nccl_rules(implementation.version()).registers_in_graphs &&
                         implementation.library != Library::lanecast && call.launch == Launch::graph &&
                         implementation.environment.graph_register.value_or(true);
  if (call.registration == Registration::on && resolved.algorithm != Algorithm::ring) {
    throw Error(ErrorKind::usage, std::string(to_string(resolved.algorithm)) + " has no registered buffers",
                "--register on", "leave it to auto, or take ring");
  }
  if (call.registration == Registration::on && !peers) {
    throw Error(ErrorKind::usage, "registered buffers need peer access between all neighbours",
                "--register on", "leave it to auto");
  }
  resolved.registered = possible && (call.registration == Registration::on ||
                                     (call.registration == Registration::automatic && nccl_does));
}

/// NCCL_BUFFSIZE and its siblings, unless the call names a buffer.
std::optional<Bytes> wanted_buffsize(const Implementation& implementation, const Call& call,
                                     Protocol protocol) {
  if (call.buffsize) return call.buffsize;
  switch (protocol) {
    case Protocol::simple:
      return implementation.environment.buffsize;
    case Protocol::ll:
      return implementation.environment.ll_buffsize;
    case Protocol::ll128:
      return implementation.environment.ll128_buffsize;
  }
  return std::nullopt;
}

/// A rank that holds the slot it reads while it waits for one to write locks its neighbours up once all slots
/// are full, where the ranks wait for each other in a circle: it needs one slot more than a chunk has slices,
/// or must empty the slot first. Chains and trees have no circle; halving-doubling holds nothing.
bool holds_while_waiting(const ResolvedCall& resolved) {
  const Collective collective = resolved.call.collective;
  switch (schedule_of(resolved.algorithm)) {
    case Schedule::ring:
      return collective != Collective::broadcast && collective != Collective::reduce;
    case Schedule::two_shot:
    case Schedule::hierarchical:
      return collective == Collective::all_reduce;
    case Schedule::tree:
    case Schedule::one_shot:
    case Schedule::halving_doubling:
      return false;
  }
  return false;
}

void choose_geometry(const ChunkGeometry& geometry, ResolvedCall& resolved) {
  resolved.buffsize = geometry.buffsize;
  resolved.chunk = geometry.chunk;
  resolved.slices_per_chunk = geometry.slices_per_chunk;
  resolved.fifo_slices = geometry.fifo_slices;
  resolved.store_and_forward = resolved.order().size() > 1 &&
                               resolved.fifo_slices <= resolved.slices_per_chunk &&
                               holds_while_waiting(resolved);
  if (!resolved.store_and_forward) return;
  resolved.warnings.push_back({"LC-CHUNK-01", "connections of " + std::to_string(resolved.buffsize.value()) +
                                                  " B hold one chunk of " +
                                                  std::to_string(resolved.chunk.value()) +
                                                  " B: each slice is received whole before it is passed on"});
}

/// What the engine counts threads for, in the terms of a ring, whose turns are about 1/n of the data: the
/// turns of the others are about all of it, and a rank of a one-shot or the centre of a star has all of it
/// from each of the others. (LL alone counts by turns: facts.md A5.3.)
Bytes bytes_at_once(const ResolvedCall& resolved, int ranks) {
  std::uint64_t times = 1;
  const Algorithm algorithm = resolved.algorithm;
  if (algorithm != Algorithm::ring && resolved.protocol == Protocol::ll)
    times = static_cast<std::uint64_t>(ranks);
  if (schedule_of(algorithm) == Schedule::one_shot || algorithm == Algorithm::star)
    times *= static_cast<std::uint64_t>(ranks - 1);
  return Bytes(resolved.call.size.value() * times);
}

/// Packs that a thread of Simple has in flight: NCCL's by the oldest GPU (src/device/common_kernel.h,
/// ncclCollUnroll: 8 from sm_80, 4 before), our engine's 4.
int packs_ahead(const Machine& machine, const CommunicatorSetup& communicator) {
  if (!communicator.nccl) return 4;
  const bool old = std::any_of(communicator.ranks.begin(), communicator.ranks.end(), [&](int gpu) {
    const int sm = machine.gpus[static_cast<std::size_t>(gpu)].sm;
    return sm > 0 && sm < 80;
  });
  return old ? 4 : 8;
}

/// Channels and threads: the library's, fewer for small calls (facts.md A5). What a call forces is NCCL's
/// most, as NCCL_MAX_NCHANNELS and NCCL_NTHREADS are: small calls get fewer (2 x H200: 1 KiB takes as long
/// with 16 channels forced as with 1). Our engine does as it is told.
void choose_shape(const Machine& machine, const CommunicatorSetup& communicator,
                  const Implementation& implementation, ResolvedCall& resolved) {
  const Call& call = resolved.call;
  NcclEnvironment environment = implementation.environment;
  if (call.threads) environment.threads = environment.ll128_threads = call.threads;
  const NcclRules& rules = nccl_rules(implementation.version());
  const NcclAlgorithm nccl_algorithm = resolved.chains ? NcclAlgorithm::tree : NcclAlgorithm::ring;
  const BytesPerSecond ring_bus(communicator.nccl ? communicator.nccl->ring.bus_GBps() * 1e9 : kWideBus);
  const auto ranks = static_cast<int>(communicator.ranks.size());
  const int channels = call.channels.value_or(communicator.channels());
  const Bytes work = communicator.nccl ? call.size : bytes_at_once(resolved, ranks);
  const NcclBlocks blocks =
      nccl_blocks(rules, nccl_algorithm, resolved.protocol, work, ranks, channels, ring_bus, environment);
  resolved.packs_ahead = packs_ahead(machine, communicator);
  if (communicator.nccl) {
    resolved.channels = blocks.channels;
    resolved.threads = blocks.threads;
    return;
  }
  const bool kept = !call.channels || blocks.channels == *call.channels;
  resolved.channels = call.channels.value_or(blocks.channels);
  resolved.threads = call.threads.value_or(
      kept ? blocks.threads : most_threads(rules, nccl_algorithm, resolved.protocol, ring_bus, environment));
}

void note_what_is_not_simulated(const NcclChoice& choice, ResolvedCall& resolved) {
  if (choice.taken.algorithm != NcclAlgorithm::nvls) return;
  resolved.stands_in_for =
      to_string(algorithm_of(choice.taken.algorithm)) + std::string("/") + to_string(choice.taken.protocol);
  resolved.warnings.push_back({"LC-ALGO-01", std::string("NCCL takes ") + to_string(choice.taken.algorithm) +
                                                 "/" + to_string(choice.taken.protocol) + " for " +
                                                 std::to_string(resolved.call.size.value()) +
                                                 " B, which is not simulated; shown is what it would take "
                                                 "without"});
}

void take_nccl_choice(const CommunicatorSetup& communicator, const Implementation& implementation,
                      ResolvedCall& resolved) {
  const NcclChoice choice = choose(communicator, implementation, resolved.call);
  if (!choice.simulated) {
    throw Error(ErrorKind::usage,
                std::string("what is forced leaves ") + to_string(choice.taken.algorithm) +
                    ", which is not simulated",
                resolved.call.algorithm ? "--algorithm" : "NCCL_ALGO",
                "allow ring or tree, or take `--implementation nccl-model` for NCCL's estimate");
  }
  resolved.algorithm = algorithm_of(choice.simulated->algorithm);
  resolved.protocol = choice.simulated->protocol;
  resolved.chains = resolved.algorithm == Algorithm::tree;
  note_what_is_not_simulated(choice, resolved);
}

/// The engine's algorithm: what the call says, of a family the first; Ring where it says nothing.
void take_engine_choice(int ranks, ResolvedCall& resolved) {
  const Call& call = resolved.call;
  resolved.protocol = call.protocol.value_or(Protocol::simple);
  if (ranks < 2) return;
  resolved.algorithm = call.algorithm ? variants_of(*call.algorithm).front() : Algorithm::ring;
  if (resolved.algorithm == Algorithm::nvls) {
    throw Error(ErrorKind::usage, "lanecast's engine has no nvls", "--algorithm nvls",
                "take another algorithm, or NCCL's own estimate by `--implementation nccl-model`");
  }
  const std::string name = to_string(call.algorithm.value_or(resolved.algorithm));
  if (!has_form(resolved.algorithm, call.collective, ranks)) {
    throw Error(ErrorKind::usage,
                name + " has no " + to_string(call.collective) + " of " + std::to_string(ranks) + " ranks",
                "--algorithm " + name,
                "take ring, which has every collective, or auto; docs/algorithms.md lists what each has");
  }
  if (pulls(resolved.algorithm) && resolved.protocol != Protocol::simple) {
    throw Error(ErrorKind::usage,
                name + " loads what others have written, which " + to_string(resolved.protocol) +
                    "'s flags within lines are not made for",
                "--protocol", "take simple, or a variant that pushes");
  }
  if (ranks > kMostDirectRanks && family_of(resolved.algorithm) == Algorithm::direct) {
    throw Error(ErrorKind::usage,
                "a direct exchange between " + std::to_string(ranks) + " ranks needs " +
                    std::to_string(ranks - 1) + " connections a rank and channel",
                "--algorithm " + name, "take at most " + std::to_string(kMostDirectRanks) + " ranks");
  }
}

void choose_algorithm(const CommunicatorSetup& communicator, const Implementation& implementation,
                      ResolvedCall& resolved) {
  if (communicator.nccl) {
    take_nccl_choice(communicator, implementation, resolved);
  } else {
    take_engine_choice(static_cast<int>(communicator.ranks.size()), resolved);
  }
  // NCCL makes kernels for LL only and calls the rest through a table (h200-findings.md); the engine's are
  // all instances of the schedule for one protocol
  resolved.specialised = resolved.protocol == Protocol::ll || implementation.library == Library::lanecast;
}

void add_group_warning(ResolvedCall& resolved) {
  const bool hierarchy = family_of(resolved.algorithm) == Algorithm::hierarchical;
  if (!hierarchy || resolved.group_ranks < static_cast<int>(resolved.order().size())) return;
  resolved.warnings.push_back(
      {"LC-GROUP-01", "no level of the machine divides these ranks into equal groups: " +
                          std::string(to_string(resolved.algorithm)) + " has one group of all, a ring"});
}

void add_search_warning(const CommunicatorSetup& communicator, ResolvedCall& resolved) {
  if (!communicator.nccl || !communicator.nccl->ring.fallback) return;
  const bool too_many = communicator.ranks.size() > kMostNcclGpus;
  resolved.warnings.push_back(
      {"LC-SEARCH-01",
       std::string(too_many ? "NCCL takes at most 256 GPUs of one machine; shown is what its "
                              "search falls back to"
                            : "NCCL's search finds no ring that fits the paths and falls back") +
           ": plain order, one channel counted 0.1 GB/s"});
}

void add_protocol_warning(const Implementation& implementation, ResolvedCall& resolved) {
  if (resolved.protocol != Protocol::ll128) return;
  const bool over_pcie = std::any_of(resolved.connections.begin(), resolved.connections.end(),
                                     [](const Connection& link) { return !link.nvlink; });
  if (!over_pcie) return;
  const bool forced =
      resolved.call.protocol || implementation.environment.protocols.states(resolved.call.collective);
  const char* why = forced ? "NCCL never chooses it there of its own accord"
                    : resolved.call.order_given
                        ? "NCCL chooses it for its own order, which has NVLink all the way"
                        : "NCCL chooses it because it counts these GPUs as joined by NVLink through a third "
                          "one, which is not modelled";
  resolved.warnings.push_back(
      {"LC-PROTO-01", std::string("LL128 over PCIe: ") + why +
                          ", and a path that splits or reorders 128 B stores corrupts data"});
}

ChunkGeometry geometry_of(const CommunicatorSetup& communicator, const Implementation& implementation,
                          const ResolvedCall& resolved) {
  const Call& call = resolved.call;
  const Schedule schedule = schedule_of(resolved.algorithm);
  std::optional<Bytes> chunk = call.chunk;
  if (!chunk && !call.buffsize && implementation.library == Library::lanecast)
    chunk = engine_chunk(resolved.protocol, resolved.algorithm);
  std::optional<Bytes> buffsize = wanted_buffsize(implementation, call, resolved.protocol);
  if (!buffsize && implementation.library == Library::lanecast)
    buffsize = engine_buffsize(resolved.protocol, resolved.algorithm);
  ChunkGeometry geometry = chunk_geometry(resolved.protocol, call.collective, schedule, buffsize, chunk);
  if (!call.chunk && !call.buffsize && implementation.library == Library::lanecast)
    geometry.odd_chunk = engine_odd_chunk(resolved.protocol, resolved.algorithm, communicator.rings.front())
                             .value_or(Bytes(0));
  if (chunk || !resolved.chains || resolved.protocol != Protocol::ll128) return geometry;
  return with_chunk(geometry, tree_ll128_chunk(geometry.chunk, call.size, communicator.channels(),
                                               static_cast<int>(communicator.ranks.size())));
}

}  // namespace

ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation,
                          const CommunicatorSetup& communicator, const Call& call) {
  check_range("--iterations", call.iterations, 1, 1'000'000);
  if (call.channels) check_range("--channels", *call.channels, 1, 64);
  ResolvedCall resolved;
  resolved.call = call;
  const auto ranks = static_cast<int>(communicator.ranks.size());
  const std::uint64_t count = elements_of(call, ranks);
  choose_algorithm(communicator, implementation, resolved);
  if (call.threads)
    check_range("--threads", *call.threads, 32, protocol_traits(resolved.protocol).max_threads);
  const ChunkGeometry geometry = geometry_of(communicator, implementation, resolved);
  choose_shape(machine, communicator, implementation, resolved);
  choose_orders(machine, communicator, implementation, resolved);
  choose_geometry(geometry, resolved);
  resolved.fifo_at_sender = implementation.environment.shm_locality == 1;
  if (ranks > 1) {
    split_work(resolved, geometry, count, nccl_rules(implementation.version()).min_traffic);
    drop_idle_channels(resolved);
    connect_ranks(machine, implementation, resolved);
  }
  add_search_warning(communicator, resolved);
  add_group_warning(resolved);
  add_topology_warnings(machine, resolved);
  choose_registration(implementation, resolved);
  add_protocol_warning(implementation, resolved);
  return resolved;
}

ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation, const Call& call) {
  return resolve_call(machine, implementation, open_communicator(machine, implementation, call), call);
}

}  // namespace lanecast
