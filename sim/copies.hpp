#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/predict/flow_network.hpp"
#include "model/predict/prediction.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

enum class MatrixKind { p2p, bidir, h2d, d2h, latency };

/// One copy among others that run at the same time. An absent end is host memory (of the GPU's own CPU).
struct CopyFlow {
  std::optional<int> source;
  std::optional<int> destination;
};

struct CopyRate {
  CopyFlow flow;
  BytesPerSecond rate{0};
  std::string bottleneck;  // "uplink0 up"; empty: nothing is full (the copy's own limit)
};

/// Steady rates of copies that run at once, by SimGrid's max-min sharing.
///
/// Copies between GPUs without peer access are staged through host memory, as the driver does.
/// @throws Error  kind usage: an end that doesn't exist or is absent, both ends the same or both `host`
std::vector<CopyRate> concurrent_copies(const Machine& machine, const Profile& profile, Engine engine,
                                        const std::vector<CopyFlow>& flows);

/// The same rates by `FairShare`, in this process: for fits, which need them by the ten thousand.
std::vector<BytesPerSecond> fair_copies(const Machine& machine, const Profile& profile, Engine engine,
                                        const std::vector<CopyFlow>& flows);

/// What a reader must know of copies that run at once beside their rates: stagings through host memory, and
/// the fan-out of posted writes that collapses on known switch parts, which the rates don't contain (facts.md
/// C6).
std::vector<Warning> copy_warnings(const Machine& machine, const std::vector<CopyFlow>& flows);

/// A pairwise table over the present GPUs: GB/s, or one-way microseconds for `latency`.
struct CopyMatrix {
  std::vector<int> gpus;  // row and column labels
  std::vector<std::vector<std::optional<double>>>
      rows;  // row source, column destination; h2d and d2h: one row
};

/// The tables of p2pBandwidthLatencyTest and nvbandwidth, predicted. Each cell is a run of its own; `bidir`
/// is the sum of both directions at once.
CopyMatrix copy_matrix(const Machine& machine, const Profile& profile, Engine engine, MatrixKind kind);

}  // namespace lanecast
