#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/implementation/nccl/thread_rules.hpp"
#include "model/implementation/transport.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/warnings.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr double kWideBus = 1e15;  // B/s: our engine narrows no blocks

/// Neighbours of all rings, each pair once.
std::vector<RingLink> distinct_links(const ResolvedCall& resolved) {
  std::vector<RingLink> links;
  std::set<std::pair<int, int>> seen;
  for (const Ring& ring : resolved.rings) {
    for (const RingLink& link : ring.links) {
      if (seen.insert({link.from_gpu, link.to_gpu}).second) links.push_back(link);
    }
  }
  return links;
}

bool all_peers(const ResolvedCall& resolved) {
  const std::vector<RingLink> links = distinct_links(resolved);
  return std::all_of(links.begin(), links.end(),
                     [](const RingLink& link) { return link.transport == Transport::p2p; });
}

void add_topology_warnings(const Machine& machine, ResolvedCall& resolved) {
  for (const RingLink& link : distinct_links(resolved)) {
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

std::uint64_t elements_of(const Call& call, int ranks) {
  const auto element = static_cast<std::uint64_t>(element_bytes(call.datatype));
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  const std::uint64_t unit = blocks ? element * static_cast<std::uint64_t>(ranks) : element;
  if (call.size.value() == 0 || call.size.value() % unit != 0) {
    throw Error(ErrorKind::usage,
                "a size of " + std::to_string(call.size.value()) + " B is no positive multiple of " +
                    std::to_string(unit) + " B (" + to_string(call.datatype) + (blocks ? " x ranks)" : ")"),
                "size", "round it down");
  }
  if (call.size.value() > (std::uint64_t{1} << 42)) {
    throw Error(ErrorKind::usage, "a size of " + std::to_string(call.size.value()) + " B", "size",
                "take at most 4 TiB");
  }
  return call.size.value() / unit;
}

int root_position(const Call& call, const Ring& ring) {
  const auto at = std::find(ring.order.begin(), ring.order.end(), call.root);
  const bool needed = call.collective == Collective::broadcast || call.collective == Collective::reduce;
  if (at == ring.order.end()) {
    if (!needed) return 0;
    throw Error(ErrorKind::usage, "root " + std::to_string(call.root) + " is not among the ranks", "--root",
                "name a GPU that takes part");
  }
  return static_cast<int>(at - ring.order.begin());
}

void split_work(ResolvedCall& resolved, const ChunkGeometry& geometry, std::uint64_t count,
                Bytes min_traffic) {
  const Call& call = resolved.call;
  const auto ranks = static_cast<int>(resolved.order().size());
  const auto element = static_cast<std::uint64_t>(element_bytes(call.datatype));
  const std::vector<std::uint64_t> shares =
      split_over_channels(count, element_bytes(call.datatype), call.collective, ranks, resolved.protocol,
                          resolved.channels, min_traffic);
  RingWork work;
  work.collective = call.collective;
  work.ranks = ranks;
  work.in_place = call.in_place;
  work.element_bytes = static_cast<int>(element);
  work.block_stride =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter ? count : 0;
  work.grain_count = std::max<std::uint64_t>(1, 16 / element);
  work.chunk_count = std::max<std::uint64_t>(1, geometry.chunk.value() / element);
  work.slices_per_chunk = geometry.slices_per_chunk;
  work.min_slice_count = std::max<std::uint64_t>(1, geometry.min_slice.value() / element);
  for (std::size_t c = 0; c < shares.size(); ++c) {
    work.channel = static_cast<int>(c);
    work.root = root_position(call, resolved.ring(c));
    work.count = shares[c];
    std::vector<RingWork> positions;
    for (int position = 0; position < ranks; ++position) {
      work.position = position;
      positions.push_back(work);
    }
    resolved.work.push_back(std::move(positions));
    work.offset += shares[c];
  }
  resolved.channels = static_cast<int>(shares.size());
}

void choose_registration(const Implementation& implementation, ResolvedCall& resolved) {
  const Call& call = resolved.call;
  const bool peers = all_peers(resolved);
  const bool possible = peers && resolved.protocol == Protocol::simple &&
                        call.collective == Collective::all_reduce && !call.in_place &&
                        resolved.order().size() > 1 && !resolved.store_and_forward;
  const bool nccl_does = nccl_rules(implementation.version()).registers_in_graphs &&
                         implementation.library != Library::lanecast && call.launch == Launch::graph &&
                         implementation.environment.graph_register.value_or(true);
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

void choose_geometry(const ChunkGeometry& geometry, ResolvedCall& resolved) {
  resolved.buffsize = geometry.buffsize;
  resolved.chunk = geometry.chunk;
  resolved.slices_per_chunk = geometry.slices_per_chunk;
  resolved.fifo_slices = geometry.fifo_slices;
  const Collective collective = resolved.call.collective;
  // A rank that holds the slot it reads while it waits for one to write locks the ring up once all slots are
  // full: it needs one slot more than a chunk has slices, or must empty the slot first.
  resolved.store_and_forward = resolved.order().size() > 1 &&
                               resolved.fifo_slices <= resolved.slices_per_chunk &&
                               collective != Collective::broadcast && collective != Collective::reduce;
  if (!resolved.store_and_forward) return;
  resolved.warnings.push_back({"LC-CHUNK-01", "connections of " + std::to_string(resolved.buffsize.value()) +
                                                  " B hold one chunk of " +
                                                  std::to_string(resolved.chunk.value()) +
                                                  " B: each slice is received whole before it is passed on"});
}

/// Channels and threads: forced ones as they are, else the library's, fewer for small calls (facts.md A5).
void choose_shape(const Communicator& communicator, const Implementation& implementation,
                  ResolvedCall& resolved) {
  const Call& call = resolved.call;
  NcclEnvironment environment = implementation.environment;
  if (call.threads) environment.threads = environment.ll128_threads = call.threads;
  const NcclRules& rules = nccl_rules(implementation.version());
  const BytesPerSecond ring_bus(communicator.nccl ? communicator.nccl->ring.bus_GBps() * 1e9 : kWideBus);
  const auto ranks = static_cast<int>(communicator.ranks.size());
  const int channels = call.channels.value_or(communicator.channels());
  const NcclBlocks blocks = nccl_blocks(rules, NcclAlgorithm::ring, resolved.protocol, call.size, ranks,
                                        channels, ring_bus, environment);
  const bool kept = !call.channels || blocks.channels == *call.channels;
  resolved.channels = call.channels.value_or(blocks.channels);
  resolved.threads = call.threads.value_or(
      kept ? blocks.threads
           : most_threads(rules, NcclAlgorithm::ring, resolved.protocol, ring_bus, environment));
}

/// The rings of the channels in use, which come first in the communicator.
void choose_rings(const Communicator& communicator, ResolvedCall& resolved) {
  int rings = 0;
  resolved.ring_of.clear();
  for (int c = 0; c < resolved.channels; ++c) {
    resolved.ring_of.push_back(communicator.ring_of[static_cast<std::size_t>(c % communicator.channels())]);
    rings = std::max(rings, resolved.ring_of.back() + 1);
  }
  resolved.rings.assign(communicator.rings.begin(), communicator.rings.begin() + rings);
}

void note_what_is_not_simulated(const NcclChoice& choice, ResolvedCall& resolved) {
  if (choice.taken.algorithm == NcclAlgorithm::ring) return;
  resolved.stands_in_for =
      to_string(algorithm_of(choice.taken.algorithm)) + std::string("/") + to_string(choice.taken.protocol);
  resolved.warnings.push_back({"LC-ALGO-01", std::string("NCCL takes ") + to_string(choice.taken.algorithm) +
                                                 "/" + to_string(choice.taken.protocol) + " for " +
                                                 std::to_string(resolved.call.size.value()) +
                                                 " B, which is not simulated yet; shown is its best ring"});
}

void choose_protocol(const Communicator& communicator, const Implementation& implementation,
                     ResolvedCall& resolved) {
  const Call& call = resolved.call;
  resolved.protocol = call.protocol.value_or(Protocol::simple);
  if (!communicator.nccl) return;
  const NcclChoice choice = choose(communicator, implementation, call);
  if (!choice.ring) {
    throw Error(ErrorKind::usage,
                std::string("what is forced leaves ") + to_string(choice.taken.algorithm) +
                    ", which is not simulated yet",
                "NCCL_ALGO", "allow ring, or take `--implementation nccl-model` for NCCL's own estimate");
  }
  resolved.protocol = choice.ring->protocol;
  note_what_is_not_simulated(choice, resolved);
}

void add_search_warning(const Communicator& communicator, ResolvedCall& resolved) {
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
  for (const Ring& ring : resolved.rings) {
    const bool over_pcie =
        std::any_of(ring.links.begin(), ring.links.end(), [](const RingLink& link) { return !link.nvlink; });
    if (!over_pcie) continue;
    const bool forced =
        resolved.call.protocol || implementation.environment.protocols.states(resolved.call.collective);
    const char* why =
        forced ? "NCCL never chooses it there of its own accord"
        : resolved.call.order_given
            ? "NCCL chooses it for its own order, which has NVLink all the way"
            : "NCCL chooses it because it counts these GPUs as joined by NVLink through a third "
              "one, which is not modelled";
    resolved.warnings.push_back(
        {"LC-PROTO-01", std::string("LL128 over PCIe: ") + why +
                            ", and a path that splits or reorders 128 B stores corrupts data"});
    return;
  }
}

}  // namespace

ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation,
                          const Communicator& communicator, const Call& call) {
  check_range("--iterations", call.iterations, 1, 1'000'000);
  if (call.channels) check_range("--channels", *call.channels, 1, 64);
  ResolvedCall resolved;
  resolved.call = call;
  resolved.rings = communicator.rings;
  const auto ranks = static_cast<int>(communicator.ranks.size());
  const std::uint64_t count = elements_of(call, ranks);
  choose_protocol(communicator, implementation, resolved);
  if (call.threads)
    check_range("--threads", *call.threads, 32, protocol_traits(resolved.protocol).max_threads);
  const bool engine = implementation.library == Library::lanecast && !call.buffsize;
  const ChunkGeometry geometry = chunk_geometry(
      resolved.protocol, call.collective, wanted_buffsize(implementation, call, resolved.protocol),
      call.chunk || !engine ? call.chunk : engine_chunk(resolved.protocol));
  choose_geometry(geometry, resolved);
  resolved.fifo_at_sender = implementation.environment.shm_locality == 1;
  choose_shape(communicator, implementation, resolved);
  choose_rings(communicator, resolved);
  if (ranks > 1) split_work(resolved, geometry, count, nccl_rules(implementation.version()).min_traffic);
  choose_rings(communicator, resolved);  // channels without work are left out
  add_search_warning(communicator, resolved);
  add_topology_warnings(machine, resolved);
  choose_registration(implementation, resolved);
  add_protocol_warning(implementation, resolved);
  return resolved;
}

ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation, const Call& call) {
  return resolve_call(machine, implementation, open_communicator(machine, implementation, call), call);
}

}  // namespace lanecast
