#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/nccl/graph.hpp"
#include "model/implementation/nccl/version_rules.hpp"
#include "model/protocol/protocol.hpp"
#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What NCCL's cost model looks at, besides the size.
struct CostModelInput {
  NcclVersion version;
  Collective collective = Collective::all_reduce;
  int ranks = 2;
  int nodes = 1;   // above 1: Ring and Tree only, at the graphs' own speed
  int min_sm = 0;  // compute capability x 10 of all GPUs: lowest, highest
  int max_sm = 0;
  std::string cpu_vendor;  // as Cpu::vendor
  NcclGraph ring;
  NcclGraph tree;                 // channels 0: no tree
  std::optional<NcclGraph> nvls;  // where the switches can multicast the call and NVLS is not off

  // What NCCL_ALGO and NCCL_PROTO leave to this collective; absent: unset. A list that holds LL128 allows it
  // on any path, safe or not.
  std::optional<std::vector<NcclAlgorithm>> algorithms;
  std::optional<std::vector<Protocol>> protocols;
  std::string algorithms_from = "NCCL_ALGO";  // who states the lists, for messages
  std::string protocols_from = "NCCL_PROTO";
};

/// One line of NCCL's own bill.
struct CostEstimate {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  bool possible = false;
  std::string reason;       // why not; or what else a reader should know
  Seconds latency{0};       // 0 where the algorithm doesn't do this collective here
  BytesPerSecond algbw{0};  // at this size, after Tree's correction
  Seconds time{0};          // latency + size / algbw
};

/// Every algorithm with every protocol, in NCCL's order, for a call of `size` bytes (as Call::size).
///
/// On one node time never falls with size, but for Tree: NCCL corrects its bandwidth by a table of sizes that
/// jumps.
/// One operation at a time: NCCL's rules for grouped calls are left out, and so is CollNet, which needs a
/// network that reduces. Source: facts.md A6; by release: docs/nccl.md.
/// @param input  ranks >= 2, ring.channels >= 1
std::vector<CostEstimate> nccl_costs(const CostModelInput& input, Bytes size);

/// What NCCL takes: the cheapest of the possible ones, the first of equals.
///
/// Where the lists leave nothing it does as the release does: up to 2.23 Ring comes back (`reason` says so),
/// later the call fails.
/// @throws Error  kind usage: nothing allowed is possible (names the variables and what they say)
CostEstimate nccl_choice(const CostModelInput& input, Bytes size);

}  // namespace lanecast
