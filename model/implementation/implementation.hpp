#pragma once
#include <string>
#include <vector>

#include "model/predict/call.hpp"
#include "model/predict/prediction.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

enum class Library { nccl, lanecast };

/// Whose rules fill in what a call leaves open. `nccl` so far has NCCL's geometry, work split, thread rules
/// and P2P level by version; its ring search and its choice of protocol and algorithm are simple defaults
/// (see docs/model.md).
struct Implementation {
  Library library = Library::nccl;
  int major = 2;
  int minor = 30;

  std::string name() const;  // "nccl-2.30", "lanecast"
};

/// From "nccl", "nccl-2.28", "lanecast".
/// @throws Error  kind usage: another name, or a version outside 2.18 to 2.30
Implementation implementation_from_string(const std::string& text);

/// Farthest distance at which the implementation uses peer access of its own accord.
/// Source: facts.md A7: NCCL from 2.23 PXB, SYS with AMD CPUs and at most two GPUs; before, SYS, but PXB on
/// Intel.
Distance default_p2p_level(const Implementation& implementation, const Machine& machine);

/// How one ring neighbour reaches the next.
struct RingLink {
  int from_gpu = 0;
  int to_gpu = 0;
  Transport transport = Transport::p2p;
  bool nvlink = false;
  std::string reason;
};

/// A call with nothing left open.
struct ResolvedCall {
  Call call;
  std::vector<int> order;       // GPU indices in ring order
  std::vector<RingLink> links;  // links[i]: from order[i] to order[i + 1]
  Protocol protocol = Protocol::simple;
  int channels = 1;   // that carry data
  int threads = 512;  // of a block, without Simple's sync warp
  Bytes buffsize{0};  // wire bytes of a connection's FIFO
  Bytes chunk{0};     // payload
  int slices_per_chunk = 1;
  int fifo_slices = 8;  // slices that fit the FIFO
  bool store_and_forward =
      false;  // the FIFO holds no more than a chunk: a slice is taken out before it is passed on
  bool registered = false;                  // last receives land in the user's buffer
  std::vector<std::vector<RingWork>> work;  // [channel][ring position]
  std::vector<Warning> warnings;
};

/// GPUs that take part, in ring order.
/// @throws Error  kind usage: a rank that doesn't exist, is absent or is named twice; no GPU at all
std::vector<int> ring_order(const Machine& machine, const Call& call);

/// Decides transports, channels, threads, protocol geometry, work split and order.
///
/// @throws Error  kind usage: what the call forces cannot be (an unreachable transport, a chunk that doesn't
/// fit the
///                buffer, threads or channels out of range, sizes that are no multiple of the element)
ResolvedCall resolve_call(const Machine& machine, const Implementation& implementation, const Call& call);

}  // namespace lanecast
