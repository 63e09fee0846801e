#include <algorithm>
#include <cmath>
#include <string>

#include "model/error.hpp"
#include "model/implementation/implementation.hpp"
#include "model/implementation/nccl_defaults.hpp"
#include "model/implementation/work_split.hpp"
#include "model/predict/warnings.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

std::string pair_name(const Machine& machine, int from, int to) {
  return "`" + machine.gpus[static_cast<std::size_t>(from)].name + "` to `" +
         machine.gpus[static_cast<std::size_t>(to)].name + "`";
}

RingLink link_between(const Machine& machine, const Call& call, int from, int to, Distance level) {
  const bool forced = call.transport == Transport::p2p;
  const PeerVerdict verdict = peer_access(machine, from, to, forced ? Distance::sys : level);
  RingLink link{from, to, Transport::shm, false, verdict.reason};
  if (forced && !verdict.allowed) {
    throw Error(
        ErrorKind::usage, "no peer access from " + pair_name(machine, from, to) + ": " + verdict.reason,
        "--transport p2p", "take --transport shm, or change what forbids it (p2p.level, p2p.enabled)");
  }
  if (call.transport != Transport::shm && verdict.allowed) {
    link.transport = Transport::p2p;
    link.nvlink = nvlink_route(machine, from, to).has_value();
    return link;
  }
  const bool to_host =
      host_route(machine, from, cpu_of(machine, {NodeKind::gpu, from}).value_or(0), true).has_value();
  if (!to_host || !cpu_of(machine, {NodeKind::gpu, to})) {
    throw Error(ErrorKind::usage,
                "no way from " + pair_name(machine, from, to) + ": no peer access (" + verdict.reason +
                    ") and no PCIe path to host memory",
                "machine `" + machine.name + "`", "describe the GPUs' PCIe links");
  }
  return link;
}

void add_topology_warnings(const Machine& machine, ResolvedCall& resolved) {
  for (const RingLink& link : resolved.links) {
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

int root_position(const ResolvedCall& resolved) {
  const auto at = std::find(resolved.order.begin(), resolved.order.end(), resolved.call.root);
  const bool needed =
      resolved.call.collective == Collective::broadcast || resolved.call.collective == Collective::reduce;
  if (at == resolved.order.end()) {
    if (!needed) return 0;
    throw Error(ErrorKind::usage, "root " + std::to_string(resolved.call.root) + " is not among the ranks",
                "--root", "name a GPU that takes part");
  }
  return static_cast<int>(at - resolved.order.begin());
}

void split_work(ResolvedCall& resolved, const ChunkGeometry& geometry, std::uint64_t count) {
  const Call& call = resolved.call;
  const auto ranks = static_cast<int>(resolved.order.size());
  const auto element = static_cast<std::uint64_t>(element_bytes(call.datatype));
  const std::vector<std::uint64_t> shares = split_over_channels(
      count, element_bytes(call.datatype), call.collective, ranks, resolved.protocol, resolved.channels);
  RingWork work;
  work.collective = call.collective;
  work.ranks = ranks;
  work.root = root_position(resolved);
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
  const bool peers = std::all_of(resolved.links.begin(), resolved.links.end(),
                                 [](const RingLink& l) { return l.transport == Transport::p2p; });
  const bool possible = peers && resolved.protocol == Protocol::simple &&
                        call.collective == Collective::all_reduce && !call.in_place &&
                        resolved.order.size() > 1 && !resolved.store_and_forward;
  const bool nccl_does = implementation.library == Library::nccl && call.launch == Launch::graph;
  if (call.registration == Registration::on && !peers) {
    throw Error(ErrorKind::usage, "registered buffers need peer access between all neighbours",
                "--register on", "leave it to auto");
  }
  resolved.registered = possible && (call.registration == Registration::on ||
                                     (call.registration == Registration::automatic && nccl_does));
}

}  // namespace

ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation, const Call& call) {
  ResolvedCall resolved;
  resolved.call = call;
  resolved.order = ring_order(machine, call);
  resolved.protocol = call.protocol.value_or(Protocol::simple);
  const auto ranks = static_cast<int>(resolved.order.size());
  check_range("--iterations", call.iterations, 1, 1'000'000);
  if (call.channels) check_range("--channels", *call.channels, 1, 64);
  if (call.threads) {
    check_range("--threads", *call.threads, 32, protocol_traits(resolved.protocol).max_threads);
  }
  const Distance level = default_p2p_level(implementation, machine);
  for (int i = 0; ranks > 1 && i < ranks; ++i) {
    const auto next = static_cast<std::size_t>((i + 1) % ranks);
    resolved.links.push_back(link_between(machine, call, resolved.order[static_cast<std::size_t>(i)],
                                          resolved.order[next], level));
  }
  const std::uint64_t count = elements_of(call, ranks);
  const ChunkGeometry geometry =
      chunk_geometry(resolved.protocol, call.collective, call.buffsize,
                     call.chunk ? call.chunk : default_chunk(implementation, resolved));
  resolved.buffsize = geometry.buffsize;
  resolved.chunk = geometry.chunk;
  resolved.slices_per_chunk = geometry.slices_per_chunk;
  resolved.fifo_slices = geometry.fifo_slices;
  const BlockShape shape = block_shape(machine, implementation, resolved);
  resolved.channels = shape.channels;
  resolved.threads = shape.threads;
  if (ranks > 1) split_work(resolved, geometry, count);
  add_topology_warnings(machine, resolved);
  // A rank that holds the slot it reads while it waits for one to write locks the ring up once all slots are
  // full: it needs one slot more than a chunk has slices, or must empty the slot first.
  resolved.store_and_forward = ranks > 1 && resolved.fifo_slices <= resolved.slices_per_chunk &&
                               call.collective != Collective::broadcast &&
                               call.collective != Collective::reduce;
  if (resolved.store_and_forward) {
    resolved.warnings.push_back(
        {"LC-CHUNK-01", "connections of " + std::to_string(resolved.buffsize.value()) +
                            " B hold one chunk of " + std::to_string(resolved.chunk.value()) +
                            " B: each slice is received whole before it is passed on"});
  }
  choose_registration(implementation, resolved);
  const bool over_pcie =
      std::any_of(resolved.links.begin(), resolved.links.end(), [](const RingLink& l) { return !l.nvlink; });
  if (resolved.protocol == Protocol::ll128 && over_pcie) {
    resolved.warnings.push_back(
        {"LC-PROTO-01",
         "LL128 over PCIe: NCCL never chooses it there, and a path that splits or reorders "
         "128 B stores corrupts data"});
  }
  return resolved;
}

}  // namespace lanecast
