#include "sim/actor_primitives.hpp"

#include <algorithm>
#include <cmath>

#include "model/predict/schedule_traffic.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kPutsBeforeClear = 64;  // a mailbox keeps what was put until it is cleared
constexpr int kStepWindow = 24;
constexpr int kStepTail = 12;
constexpr int kLongestStepBeat = 1;

std::vector<bool> shared_lanes(const SchedulePlan& plan, const Platform& platform) {
  std::vector<bool> shared;
  for (std::size_t l = 0; l < plan.network.lanes.size(); ++l)
    shared.push_back(platform.lane_host(static_cast<int>(l)) != nullptr);
  return shared;
}

}  // namespace

SimulationState::SimulationState(const SchedulePlan& p, Platform& pl)
    : plan(p), platform(pl), strands(p, shared_lanes(p, pl)) {
  strands.wake = [this](int strand) {
    const simgrid::s4u::ActorPtr waiting = std::move(asleep[static_cast<std::size_t>(strand)]);
    asleep[static_cast<std::size_t>(strand)].reset();
    waiting->resume();
  };
}

ActorPrimitives::ActorPrimitives(SimulationState& state, const ChannelWork& work, int number, int actor,
                                 simgrid::s4u::Mailbox* mailbox)
    : state_(state),
      work_(work),
      strand_(state.strands, work, number),
      number_(number),
      actor_(actor),
      mailbox_(mailbox),
      carried_(strand_.kind_count()) {}

/// Puts the flows that leave the GPU side by side, and waits for them all.
void ActorPrimitives::put_flows() {
  static int nothing = 0;
  std::vector<simgrid::s4u::CommPtr> others;  // all but the last put
  simgrid::s4u::CommPtr last;
  for (const FlowCost& flow : strand_.part().flows) {
    simgrid::s4u::Host* host = flow.lane < 0 ? nullptr : state_.platform.lane_host(flow.lane);
    if (host == nullptr || flow.rate.value() <= 0) continue;
    if (last) {
      last->start();
      others.push_back(std::move(last));
    }
    if (simgrid::s4u::this_actor::get_host() != host) simgrid::s4u::this_actor::set_host(host);
    const double scaled_bytes = strand_.payload_bytes() * flow.wire_per_payload * transfer_scale();
    last = mailbox_->put_init(
        &nothing, std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(scaled_bytes)), 1));
    last->set_rate(flow.rate.value() * strand_.factor() * transfer_scale());
    ++puts_;
  }
  last->wait();
  for (const auto& comm : others) comm->wait();
  if (puts_ >= kPutsBeforeClear) {
    mailbox_->clear();
    puts_ = 0;
  }
}

void ActorPrimitives::run(const Turn& turn, const Slice& slice) {
  if (state_.on_issue) state_.on_issue({work_.channel, work_.position, work_.strand, action_of(turn), slice});
  const double payload_bytes = static_cast<double>(slice.count) * static_cast<double>(work_.element_bytes);
  carried_[static_cast<std::size_t>(turn.kind)].bytes += payload_bytes;
  strand_.begin(turn.kind, payload_bytes);
  while (true) {
    switch (strand_.go_on(state_.platform.clock())) {
      case Strand::Wait::nothing:
        return;
      case Strand::Wait::post:
        state_.asleep[static_cast<std::size_t>(number_)] = simgrid::s4u::Actor::self();
        simgrid::s4u::this_actor::suspend();
        break;
      case Strand::Wait::clock:
        simgrid::s4u::this_actor::sleep_until(strand_.until());
        break;
      case Strand::Wait::flows:
        put_flows();
        break;
    }
  }
}

std::uint64_t ActorPrimitives::fold(Folder& folder, std::uint64_t turn, double Carried::*at_turn) {
  const int place = state_.loops.place_in_group[static_cast<std::size_t>(work_.channel)];
  const std::uint64_t next = folder.advance(place, actor_, turn, strand_.now());
  for (Carried& carried : carried_) {
    const double of_one_turn = carried.bytes - carried.*at_turn;
    if (next > turn) carried.bytes += of_one_turn * static_cast<double>(next - turn);
    carried.*at_turn = carried.bytes;
  }
  if (next > turn) state_.folded = true;
  return next;
}

std::uint64_t ActorPrimitives::next_loop(std::uint64_t loop, std::uint64_t) {
  Folder* folder = state_.loops.folder(work_.channel);
  return folder == nullptr ? loop : fold(*folder, loop, &Carried::at_loop);
}

Folder* ActorPrimitives::step_folder(std::uint64_t loop, std::uint64_t step) {
  // phases in which all ranks do the same with chunks of the same size: reduce_send, then copy_send
  const auto ranks = static_cast<std::uint64_t>(work_.ranks);
  const int phase = step < ranks - 1 ? 0 : 1;
  const std::uint64_t begin = phase == 0 ? 1 : ranks;
  const std::uint64_t end = phase == 0 ? ranks - 1 : 2 * (ranks - 1);
  if (step < begin || step >= end) return nullptr;
  const std::size_t group = state_.loops.group_of[static_cast<std::size_t>(work_.channel)];
  auto& folder = state_.step_folders[{group, loop, phase}];
  if (!folder) {
    std::vector<Folder::Channel> channels = state_.loops.groups[group];
    const auto slices = static_cast<std::uint64_t>(work_.slices_per_chunk);
    const std::uint64_t filled = ceil_div(static_cast<std::uint64_t>(state_.plan.fifo_slices), slices);
    const std::uint64_t before = loop * 2 * (ranks - 1) + begin;  // turns that send
    for (Folder::Channel& channel : channels) {
      channel.end = end - begin > kStepTail ? end - begin - kStepTail : 0;
      channel.settled = channel.settled > 0 && filled > before ? filled - before : 0;
    }
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
  const std::uint64_t next = fold(*folder, step - begin, &Carried::at_step) + begin;
  if (next > step) step_offset_ += folder->offset();
  return next;
}

void ActorPrimitives::finish() {
  double loops = 0;
  if (Folder* folder = state_.loops.folder(work_.channel)) {
    folder->finish(state_.loops.place_in_group[static_cast<std::size_t>(work_.channel)]);
    loops = folder->offset();
  }
  state_.end = std::max(state_.end, strand_.now() + step_offset_ + loops);
  for (std::size_t kind = 0; kind < carried_.size(); ++kind) {
    if (strand_.parts(kind) == nullptr) continue;
    for (const TurnPart& part : *strand_.parts(kind))
      add_wire_bytes(state_.plan.network, part, carried_[kind].bytes, state_.wire_bytes);
  }
}

}  // namespace lanecast
