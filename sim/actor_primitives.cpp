#include "sim/actor_primitives.hpp"

#include <algorithm>
#include <cmath>

namespace lanecast {
namespace {

constexpr std::uint64_t kPutsBeforeClear = 64;  // a mailbox keeps what was put until it is cleared
constexpr int kStepWindow = 24;
constexpr int kStepTail = 12;
constexpr int kLongestStepBeat = 1;

/// In a plan reduced by symmetry the last position's successor is the first, as in a whole ring.
std::size_t previous_position(const RingPlan& plan, int position) {
  const std::size_t positions = plan.positions().size();
  return (static_cast<std::size_t>(position) + positions - 1) % positions;
}

}  // namespace

FifoTimes::FifoTimes(int slots) : slots_(static_cast<std::size_t>(slots)) {
  for (Stream& stream : streams_) stream.when.resize(slots_);
}

void FifoTimes::post(Event event, double when) {
  Stream& stream = streams_[event];
  stream.when[stream.posted % slots_] = when;
  ++stream.posted;
  if (stream.waiting) {
    const simgrid::s4u::ActorPtr waiting = std::move(stream.waiting);
    stream.waiting.reset();
    waiting->resume();
  }
}

double FifoTimes::wait(Event event, std::uint64_t number) {
  Stream& stream = streams_[event];
  while (stream.posted <= number) {
    stream.waiting = simgrid::s4u::Actor::self();
    simgrid::s4u::this_actor::suspend();
  }
  return stream.when[number % slots_];
}

ActorPrimitives::ActorPrimitives(RingState& state, const RingWork& work, simgrid::s4u::Mailbox* mailbox)
    : state_(state),
      work_(work),
      plan_(state.plan.positions(
          static_cast<std::size_t>(work.channel))[static_cast<std::size_t>(work.position)]),
      mailbox_(mailbox),
      from_previous_(
          state.fifos[static_cast<std::size_t>(work.channel)][previous_position(state.plan, work.position)]),
      to_next_(state.fifos[static_cast<std::size_t>(work.channel)][static_cast<std::size_t>(work.position)]),
      credit_flight_(
          state.plan
              .positions(static_cast<std::size_t>(work.channel))[previous_position(state.plan, work.position)]
              .to_next.credit),
      factor_(state.plan.channel_factor[static_cast<std::size_t>(work.channel)]),
      lane_awake_(state.plan.network.lanes.size(), false) {}

double ActorPrimitives::wake_links(int lane) {
  if (lane < 0 || lane_awake_[static_cast<std::size_t>(lane)]) return 0;
  lane_awake_[static_cast<std::size_t>(lane)] = true;
  return state_.plan.network.lanes[static_cast<std::size_t>(lane)].first_use.value();
}

double ActorPrimitives::ready_time(RingAction action, const OperationCost& cost, bool empty) {
  double ready = now_;
  const auto depth = static_cast<std::uint64_t>(state_.plan.fifo_slices);
  if (sends(action) && sent_ >= depth)
    ready = std::max(ready, to_next_.wait(FifoTimes::credit, sent_ - depth));
  // an empty slice of LL or LL128 has no line, so there is no flag to wait for
  if (receives(action) && !(empty && state_.plan.flag_in_line)) {
    const auto event = state_.plan.flag_in_line ? FifoTimes::begun : FifoTimes::done;
    ready = std::max(ready, from_previous_.wait(event, received_));
  }
  ready += empty ? state_.plan.empty_overhead.value() : cost.overhead.value();
  return empty ? ready : ready + wake_links(cost.lane);
}

void ActorPrimitives::transfer(const OperationCost& cost, double wire_bytes, double ready) {
  simgrid::s4u::Host* host = cost.lane < 0 ? nullptr : state_.platform.lane_host(cost.lane);
  if (cost.rate.value() <= 0) {
    now_ = ready;
    return;
  }
  const double rate_bytes_per_second = cost.rate.value() * factor_;
  if (host == nullptr) {
    now_ = ready + wire_bytes / rate_bytes_per_second;
    return;
  }
  static int nothing = 0;
  if (ready > state_.platform.clock()) simgrid::s4u::this_actor::sleep_until(ready);
  if (simgrid::s4u::this_actor::get_host() != host) simgrid::s4u::this_actor::set_host(host);
  const auto scaled = static_cast<std::uint64_t>(std::llround(wire_bytes * transfer_scale()));
  const simgrid::s4u::CommPtr flow = mailbox_->put_init(&nothing, std::max<std::uint64_t>(scaled, 1));
  flow->set_rate(rate_bytes_per_second * transfer_scale());
  flow->wait();
  if (++puts_ % kPutsBeforeClear == 0) mailbox_->clear();
  now_ = state_.platform.clock();
}

void ActorPrimitives::run(RingAction action, const Slice& slice) {
  if (state_.on_issue) state_.on_issue({work_.channel, work_.position, action, slice});
  if (state_.plan.resolved.store_and_forward && receives(action) && sends(action)) {
    turn(reduces(action) ? RingAction::reduce_keep : RingAction::copy, slice);
    turn(RingAction::send, slice);
    return;
  }
  turn(action, slice);
}

void ActorPrimitives::turn(RingAction action, const Slice& slice) {
  const auto index = static_cast<std::size_t>(action);
  const OperationCost& cost = plan_.operations[index];
  const HopCost& hop = plan_.to_next;
  const bool empty = slice.count == 0;
  const bool in_line = state_.plan.flag_in_line;
  const double ready = ready_time(action, cost, empty);
  if (sends(action) && in_line) to_next_.post(FifoTimes::begun, ready + hop.flag.value());
  now_ = ready;
  if (!empty) {
    const double wire_bytes =
        static_cast<double>(slice.count) * static_cast<double>(work_.element_bytes) * cost.wire_per_payload;
    transfer(cost, wire_bytes, ready);
    if (cost.lane >= 0) wire_bytes_[index] += wire_bytes;
    ++state_.transfers;
  }
  if (receives(action)) {
    // lines are followed as they come: this rank can't be through before the previous one's last line is here
    if (in_line && !empty) now_ = std::max(now_, from_previous_.wait(FifoTimes::done, received_));
    from_previous_.post(FifoTimes::credit, now_ + credit_flight_.value());
    ++received_;
  }
  if (sends(action)) {
    const double fence = in_line || empty ? 0.0 : hop.fence.value();
    to_next_.post(FifoTimes::done, now_ + fence + hop.flag.value());
    ++sent_;
  }
}

std::uint64_t ActorPrimitives::fold(Folder& folder, std::uint64_t turn,
                                    std::array<double, ring_action_count>& at_turn) {
  const int place = state_.place_in_group[static_cast<std::size_t>(work_.channel)];
  const std::uint64_t next = folder.advance(place, work_.position, turn, now_);
  for (std::size_t i = 0; i < ring_action_count; ++i) {
    const double of_one_turn = wire_bytes_[i] - at_turn[i];
    if (next > turn) wire_bytes_[i] += of_one_turn * static_cast<double>(next - turn);
    at_turn[i] = wire_bytes_[i];
  }
  if (next > turn) state_.folded = true;
  return next;
}

std::uint64_t ActorPrimitives::next_loop(std::uint64_t loop, std::uint64_t) {
  if (!state_.fold_loops) return loop;
  const auto channel = static_cast<std::size_t>(work_.channel);
  return fold(*state_.loop_folders[state_.folder_of[channel]], loop, at_loop_);
}

Folder* ActorPrimitives::step_folder(std::uint64_t loop, std::uint64_t step) {
  // phases in which all ranks do the same with chunks of the same size: reduce_send, then copy_send
  const auto ranks = static_cast<std::uint64_t>(work_.ranks);
  const int phase = step < ranks - 1 ? 0 : 1;
  const std::uint64_t begin = phase == 0 ? 1 : ranks;
  const std::uint64_t end = phase == 0 ? ranks - 1 : 2 * (ranks - 1);
  if (step < begin || step >= end) return nullptr;
  const std::size_t group = state_.folder_of[static_cast<std::size_t>(work_.channel)];
  auto& folder = state_.step_folders[{group, loop, phase}];
  if (!folder) {
    std::vector<Folder::Channel> channels = state_.groups[group];
    for (Folder::Channel& channel : channels)
      channel.end = end - begin > kStepTail ? end - begin - kStepTail : 0;
    folder = std::make_unique<Folder>(channels, kStepWindow, kLongestStepBeat);
  }
  return folder.get();
}

std::uint64_t ActorPrimitives::next_step(std::uint64_t loop, std::uint64_t step, std::uint64_t) {
  if (!state_.fold_steps) return step;
  Folder* folder = step_folder(loop, step);
  if (folder == nullptr) return step;
  const auto ranks = static_cast<std::uint64_t>(work_.ranks);
  const std::uint64_t begin = step < ranks - 1 ? 1 : ranks;
  const std::uint64_t next = fold(*folder, step - begin, at_step_) + begin;
  if (next > step) step_offset_ += folder->offset();
  return next;
}

void ActorPrimitives::finish() {
  const auto channel = static_cast<std::size_t>(work_.channel);
  double loops = 0;
  if (state_.fold_loops) {
    Folder& folder = *state_.loop_folders[state_.folder_of[channel]];
    folder.finish(state_.place_in_group[channel]);
    loops = folder.offset();
  }
  state_.end = std::max(state_.end, now_ + step_offset_ + loops);
  for (std::size_t i = 0; i < ring_action_count; ++i) {
    const int lane = plan_.operations[i].lane;
    if (lane < 0) continue;
    for (const int r : state_.plan.network.lanes[static_cast<std::size_t>(lane)].resources) {
      state_.wire_bytes[static_cast<std::size_t>(r)] += wire_bytes_[i];
    }
  }
}

}  // namespace lanecast
