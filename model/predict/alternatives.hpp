#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/communicator.hpp"
#include "model/predict/prediction.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// One way in which a call could run: what NCCL thinks of it, and what the simulation says.
struct Alternative {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  bool taken = false;                    // what the implementation runs
  bool possible = true;                  // for the implementation
  bool hopeless = false;                 // so slow by the closed form that it is not simulated
  std::optional<Seconds> nccl_estimate;  // NCCL's own; absent: not possible, or not NCCL
  std::optional<Prediction> prediction;  // ours; absent: not simulated
  std::string note;                      // why not, in one clause
};

/// The ways that a call of one size has.
struct Alternatives {
  Bytes size{0};
  std::vector<Alternative> ways;

  const Alternative* taken() const;
  /// The safe one with the shortest predicted time, among those that the implementation could run; null:
  /// none.
  const Alternative* fastest() const;
};

/// What an implementation weighs for a call, without predictions: for NCCL all lines of its bill but the
/// algorithms that need a network; for our engine each algorithm with each protocol, of which those that the
/// closed form calls eight times as slow as the best are marked hopeless.
Alternatives alternatives(const Machine& machine, const Profile& profile,
                          const Implementation& implementation, const CommunicatorSetup& communicator,
                          const Call& call);

/// Whether a predicted way may corrupt data: LL128 over PCIe (LC-PROTO-01).
bool is_unsafe(const Alternative& way);

/// Whether the simulator can predict this way: all but NVLS and what is hopeless, where
/// the implementation could run it.
bool is_simulated(const Alternative& way);

/// The call that runs this way.
Call call_of(const Call& call, const Alternative& way);

/// NCCL's own estimate as a prediction: the baseline `nccl-model`. No band, no bottleneck; the limit is that
/// of a ring's links, which the estimate may exceed.
/// @throws Error  kind usage: fewer than two ranks, nothing allowed
Prediction nccl_estimate(const Machine& machine, const Profile& profile, const Implementation& implementation,
                         const CommunicatorSetup& communicator, const Call& call);

}  // namespace lanecast
