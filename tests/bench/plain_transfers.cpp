#include "tests/bench/plain_transfers.hpp"

#include <algorithm>
#include <cmath>
#include <simgrid/s4u.hpp>
#include <string>

#include "sim/actor_primitives.hpp"
#include "sim/platform.hpp"

namespace lanecast::bench {
namespace {

/// Lanes that cross a resource that can be full.
std::vector<bool> simulated_lanes(const RingPlan& plan) {
  const std::vector<bool> deciding = deciding_resources(plan.network, demand(plan));
  std::vector<bool> simulated;
  for (const Lane& lane : plan.network.lanes) {
    simulated.push_back(std::any_of(lane.resources.begin(), lane.resources.end(),
                                    [&](int r) { return deciding[static_cast<std::size_t>(r)]; }));
  }
  return simulated;
}

/// The ring's primitives: writes down the transfers of one actor.
class TransferRecorder {
 public:
  TransferRecorder(const RingPlan& plan, const RingWork& work, const std::vector<bool>& simulated)
      : plan_(plan), work_(work), simulated_(simulated) {}

  void send(const Slice& s) { run(RingAction::send, s); }
  void keep_send(const Slice& s) { run(RingAction::keep_send, s); }
  void reduce_send(const Slice& s) { run(RingAction::reduce_send, s); }
  void reduce_keep_send(const Slice& s) { run(RingAction::reduce_keep_send, s); }
  void reduce_keep(const Slice& s) { run(RingAction::reduce_keep, s); }
  void copy_send(const Slice& s) { run(RingAction::copy_send, s); }
  void copy(const Slice& s) { run(RingAction::copy, s); }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) { return step; }

  std::vector<Transfer> take() { return std::move(transfers_); }

 private:
  void run(RingAction action, const Slice& slice) {
    if (plan_.resolved.store_and_forward && receives(action) && sends(action)) {
      turn(reduces(action) ? RingAction::reduce_keep : RingAction::copy, slice);
      turn(RingAction::send, slice);
    } else {
      turn(action, slice);
    }
  }

  void turn(RingAction action, const Slice& slice) {
    const PositionPlan& position =
        plan_.positions(static_cast<std::size_t>(work_.channel))[static_cast<std::size_t>(work_.position)];
    const OperationCost& cost = position.operations[static_cast<std::size_t>(action)];
    if (slice.count == 0 || cost.rate.value() <= 0) return;
    if (cost.lane < 0 || !simulated_[static_cast<std::size_t>(cost.lane)]) return;
    const double payload_bytes = static_cast<double>(slice.count) * work_.element_bytes;
    transfers_.push_back({cost.lane, payload_bytes * cost.wire_per_payload,
                          cost.rate * plan_.channel_factor[static_cast<std::size_t>(work_.channel)]});
  }

  const RingPlan& plan_;
  const RingWork& work_;
  const std::vector<bool>& simulated_;
  std::vector<Transfer> transfers_;
};
static_assert(RingPrimitives<TransferRecorder>);

void put_all(const Platform& platform, simgrid::s4u::Mailbox* mailbox,
             const std::vector<Transfer>& transfers) {
  constexpr int kPutsBeforeClear = 64;  // a mailbox keeps what was put until it is cleared
  static int nothing = 0;
  int puts = 0;
  for (const Transfer& transfer : transfers) {
    simgrid::s4u::Host* host = platform.lane_host(transfer.lane);
    if (simgrid::s4u::this_actor::get_host() != host) simgrid::s4u::this_actor::set_host(host);
    const auto scaled_bytes =
        static_cast<std::uint64_t>(std::llround(transfer.wire_bytes * transfer_scale()));
    const simgrid::s4u::CommPtr flow = mailbox->put_init(&nothing, scaled_bytes);
    flow->set_rate(transfer.cap.value() * transfer_scale());
    flow->wait();
    if (++puts % kPutsBeforeClear == 0) mailbox->clear();
  }
}

}  // namespace

std::vector<std::vector<Transfer>> transfers_of(const RingPlan& plan) {
  const std::vector<bool> simulated = simulated_lanes(plan);
  std::vector<std::vector<Transfer>> transfers;
  for (const auto& channel : plan.resolved.work) {
    for (const RingWork& work : channel) {
      TransferRecorder recorder(plan, work, simulated);
      run_ring(recorder, work);
      transfers.push_back(recorder.take());
    }
  }
  return transfers;
}

std::uint64_t count(const std::vector<std::vector<Transfer>>& transfers) {
  std::uint64_t all = 0;
  for (const auto& sequence : transfers) all += sequence.size();
  return all;
}

RingSimulation run_plain(const RingPlan& plan, const std::vector<std::vector<Transfer>>& transfers) {
  Platform platform(plan.network, demand(plan));
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const std::string name = std::to_string(i);
    simgrid::s4u::Mailbox* mailbox = platform.eager_mailbox(name);
    simgrid::s4u::Actor::create(name, platform.sink(), [&platform, mailbox, &sequence = transfers[i]] {
      put_all(platform, mailbox, sequence);
    });
  }
  platform.run();
  RingSimulation result;
  result.time = Seconds(platform.clock());
  return result;
}

}  // namespace lanecast::bench
