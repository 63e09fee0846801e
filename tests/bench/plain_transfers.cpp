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
std::vector<bool> simulated_lanes(const SchedulePlan& plan) {
  const std::vector<bool> deciding = deciding_resources(plan.network, demand(plan));
  std::vector<bool> simulated;
  for (const Lane& lane : plan.network.lanes) {
    simulated.push_back(std::any_of(lane.resources.begin(), lane.resources.end(),
                                    [&](int r) { return deciding[static_cast<std::size_t>(r)]; }));
  }
  return simulated;
}

/// A schedule's primitives: writes down the transfers of one actor. Flows of a turn come one after the other.
class TransferRecorder {
 public:
  TransferRecorder(const SchedulePlan& plan, const ChannelWork& work, const std::vector<bool>& simulated)
      : plan_(plan), work_(work), simulated_(simulated) {}

  void run(const Turn& turn, const Slice& slice) {
    const PositionPlan& position =
        plan_.positions(static_cast<std::size_t>(work_.channel))[static_cast<std::size_t>(work_.position)];
    const auto& kinds = position.strands[static_cast<std::size_t>(work_.strand)];
    const double payload_bytes = static_cast<double>(slice.count) * work_.element_bytes;
    if (slice.count == 0) return;
    for (const TurnPart& part : kinds[static_cast<std::size_t>(turn.kind)]) {
      for (const FlowCost& flow : part.flows) add(flow, payload_bytes);
    }
  }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) { return step; }

  std::vector<Transfer> take() { return std::move(transfers_); }

 private:
  void add(const FlowCost& flow, double payload_bytes) {
    if (flow.rate.value() <= 0 || flow.lane < 0 || !simulated_[static_cast<std::size_t>(flow.lane)]) return;
    transfers_.push_back({flow.lane, payload_bytes * flow.wire_per_payload,
                          flow.rate * plan_.channel_factor[static_cast<std::size_t>(work_.channel)]});
  }

  const SchedulePlan& plan_;
  const ChannelWork& work_;
  const std::vector<bool>& simulated_;
  std::vector<Transfer> transfers_;
};
static_assert(SchedulePrimitives<TransferRecorder>);

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

std::vector<std::vector<Transfer>> transfers_of(const SchedulePlan& plan) {
  const std::vector<bool> simulated = simulated_lanes(plan);
  std::vector<std::vector<Transfer>> transfers;
  for (const auto& channel : plan.resolved.work) {
    for (const ChannelWork& work : channel) {
      TransferRecorder recorder(plan, work, simulated);
      run_schedule(recorder, work);
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

ScheduleSimulation run_plain(const SchedulePlan& plan, const std::vector<std::vector<Transfer>>& transfers) {
  Platform platform(plan.network, demand(plan));
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const std::string name = std::to_string(i);
    simgrid::s4u::Mailbox* mailbox = platform.eager_mailbox(name);
    simgrid::s4u::Actor::create(name, platform.sink(), [&platform, mailbox, &sequence = transfers[i]] {
      put_all(platform, mailbox, sequence);
    });
  }
  platform.run();
  ScheduleSimulation result;
  result.time = Seconds(platform.clock());
  return result;
}

}  // namespace lanecast::bench
