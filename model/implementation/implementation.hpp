#pragma once
#include <string>
#include <vector>

#include "model/implementation/nccl/environment.hpp"
#include "model/implementation/nccl/version_rules.hpp"
#include "model/predict/call.hpp"
#include "model/predict/prediction.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

enum class Library { nccl, rccl, lanecast };

/// Whose rules fill in what a call leaves open (docs/nccl.md).
struct Implementation {
  Library library = Library::nccl;
  int minor = 30;               // of NCCL 2.x
  bool own_cost_model = false;  // times are NCCL's own estimates instead of a simulation: a baseline
  NcclEnvironment environment;  // NCCL's variables

  std::string name() const;  // "nccl-2.30", "nccl-model-2.30", "rccl", "lanecast"
  NcclVersion version() const { return {library == Library::rccl, minor}; }
};

/// From "nccl", "nccl-2.28", "nccl-model", "nccl-model-2.28", "rccl", "lanecast".
/// @throws Error  kind usage: another name, or a version outside 2.18 to 2.30
Implementation implementation_from_string(const std::string& text);

/// Farthest distance at which the implementation uses peer access of its own accord, by release and CPU
/// (facts.md A7).
/// @param gpus  that take part
Distance default_p2p_level(const Implementation& implementation, const Machine& machine, int gpus);

/// Distance up to which NCCL's level reaches: its PHB covers all host bridges of a NUMA node, which
/// nvidia-smi calls NODE (facts.md A7).
Distance distance_of(PathType level);

/// How one rank reaches another.
struct Connection {
  int from_gpu = 0;
  int to_gpu = 0;
  Transport transport = Transport::p2p;
  bool nvlink = false;
  std::string reason;
};

/// One order of all ranks; for the ring algorithm a way around them.
struct Ring {
  std::vector<int> order;         // GPU indices, by position
  std::vector<Connection> links;  // ring: links[i] leads from order[i] to order[i + 1]; else none
};

/// A call with nothing left open.
struct ResolvedCall {
  Call call;
  Algorithm algorithm = Algorithm::ring;  // no family; NVLS never
  std::vector<Ring> rings;                // distinct orders; the first is channel 0's
  std::vector<int> ring_of;               // [channel]: index into `rings`
  bool chains = false;                    // tree: NCCL's, a chain within a node
  bool specialised = false;               // the kernel is made for its protocol, not called through a table
  int group_ranks = 1;                    // hierarchical: ranks of a group
  std::vector<Connection> connections;    // all that carry data, sorted by both GPUs
  Protocol protocol = Protocol::simple;
  int channels = 1;     // that carry data
  int threads = 512;    // of a block, without Simple's sync warp
  int packs_ahead = 8;  // Simple: packs of 16 B that a thread has in flight
  Bytes buffsize{0};    // wire bytes of a connection's FIFO
  Bytes chunk{0};       // payload
  int slices_per_chunk = 1;
  int fifo_slices = 8;  // slices that fit the FIFO
  bool store_and_forward =
      false;  // the FIFO holds no more than a chunk: a slice is taken out before it is passed on
  std::string
      stands_in_for;  // "nvls/simple": what NCCL takes where it is not simulated; empty: this call itself
  bool fifo_at_sender = false;                 // through host memory: in the sender's NUMA node
  bool registered = false;                     // last receives land in the user's buffer
  std::vector<std::vector<ChannelWork>> work;  // [channel][position]
  std::vector<Warning> warnings;

  /// Channel 0's order and, for the ring algorithm, links.
  const std::vector<int>& order() const& { return rings.front().order; }
  const std::vector<Connection>& links() const& { return rings.front().links; }
  const std::vector<Connection>& links() const&& = delete;  // would outlive its call

  /// The connection between two GPUs that exchange data; it must be there.
  const Connection& connection(int from_gpu, int to_gpu) const;

  /// Ring of a channel; channel 0's for those beyond `ring_of`.
  std::size_t ring_index(std::size_t channel) const {
    return channel < ring_of.size() ? static_cast<std::size_t>(ring_of[channel]) : 0;
  }
  const Ring& ring(std::size_t channel) const { return rings[ring_index(channel)]; }
};

/// GPUs that take part, by rank: sorted unless the call gives their order.
/// @throws Error  kind usage: a rank that doesn't exist, is absent or is named twice; no GPU at all
std::vector<int> call_ranks(const Machine& machine, const Call& call);

/// Decides transports, channels, threads, protocol, its geometry, the work split and the rings.
///
/// Where the call leaves the protocol open, NCCL's cost model chooses; the engine takes Simple (`plan_call`
/// compares).
/// @throws Error  kind usage: what the call forces cannot be (an unreachable transport, a chunk that doesn't
/// fit the
///                buffer, threads or channels out of range, sizes that are no multiple of the element)
ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation, const Call& call);

}  // namespace lanecast
