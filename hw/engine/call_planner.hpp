#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "hw/engine/engine_paths.hpp"
#include "hw/engine/kernel_call.hpp"
#include "hw/rendezvous/status_board.hpp"
#include "model/implementation/implementation.hpp"

namespace lanecast {

/// One slice of a copy-engine-driven call.
struct CopyTurn {
  int channel = 0;
  Turn turn;
  Slice slice;
};

/// A call with everything decided but the buffers.
struct CallPlan {
  ChosenWay way;
  KernelCall call;                   // without addresses
  std::vector<ChannelWork> works;    // copy engines: this rank's, by channel
  std::vector<CopyTurn> copy_turns;  // copy engines: in the order in which they are issued
  CallEntry entry;                   // what ranks must agree about
};

/// What the planner needs to know of a communicator.
struct PlannerSetup {
  int rank = 0;
  Machine machine;  // engine_machine
  EnginePaths paths;
  MailboxLayout layout;
  bool alone = false;  // on its GPU
  int most_blocks[3] =
      {};  // of one rank's kernel, by Protocol, so that those of all ranks of a GPU run together
};

/// Decides algorithm, protocol, channels, threads and geometry as the model does for `lanecast`
/// (`resolve_call`), so that kernels run the schedule that the simulator predicts. Keeps what it has planned.
class CallPlanner {
 public:
  explicit CallPlanner(PlannerSetup setup);

  /// @param call  size, collective, type, op, root and in_place count
  /// @throws Error  kind usage: what is fixed cannot be
  const CallPlan& plan(const Call& call, const CallChoice& choice);

 private:
  using Key = std::tuple<int, std::uint64_t, int, int, int, bool, int, int, int, int, std::uint64_t,
                         std::uint64_t, int>;
  static Key key_of(const Call& call, const CallChoice& choice);
  CallPlan make(const Call& call, const CallChoice& choice) const;

  PlannerSetup setup_;
  std::map<Key, std::unique_ptr<CallPlan>> plans_;
};

}  // namespace lanecast
