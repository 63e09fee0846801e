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

FifoTimes& SimulationState::fifo(int channel, int from, int to) {
  const auto c = static_cast<std::size_t>(channel);
  const auto kept = static_cast<int>(plan.positions(c).size());
  return fifos[c].try_emplace({from % kept, to % kept}, plan.fifo_slices).first->second;
}

ActorPrimitives::ActorPrimitives(SimulationState& state, const ChannelWork& work, int actor,
                                 simgrid::s4u::Mailbox* mailbox)
    : state_(state),
      work_(work),
      actor_(actor),
      plan_(state.plan.positions(
          static_cast<std::size_t>(work.channel))[static_cast<std::size_t>(work.position)]),
      mailbox_(mailbox),
      factor_(state.plan.channel_factor[static_cast<std::size_t>(work.channel)]) {
  find_kinds();
}

void ActorPrimitives::find_kinds() {
  const auto& costs = plan_.strands[static_cast<std::size_t>(work_.strand)];
  kinds_.resize(costs.size());
  for (int step = 0; step < step_count(work_); ++step) {
    const Turn turn = turn_of(work_, step);
    Kind& kind = kinds_[static_cast<std::size_t>(turn.kind)];
    if (kind.parts != nullptr) continue;
    kind.parts = &costs[static_cast<std::size_t>(turn.kind)];
    for (int k = 0; k < turn.from.count; ++k) kind.sources.push_back(source(turn.from.at(k)));
    for (int k = 0; k < turn.to.count; ++k) kind.destinations.push_back(destination(turn.to.at(k)));
  }
}

std::size_t ActorPrimitives::source(int position) {
  const auto [known, fresh] = source_of_.try_emplace(position, sources_.size());
  if (!fresh) return known->second;
  const auto& positions = state_.plan.positions(static_cast<std::size_t>(work_.channel));
  const PositionPlan& sender = positions[static_cast<std::size_t>(position) % positions.size()];
  // a ring reduced by symmetry: the hop leads to the position after the sender's, which stands for this one
  const HopCost& hop = work_.schedule == Schedule::ring ? sender.to_next() : sender.hop(work_.position);
  sources_.push_back({&state_.fifo(work_.channel, position, work_.position), hop});
  return known->second;
}

std::size_t ActorPrimitives::destination(int position) {
  const auto [known, fresh] = destination_of_.try_emplace(position, destinations_.size());
  if (fresh) {
    destinations_.push_back({&state_.fifo(work_.channel, work_.position, position), plan_.hop(position)});
  }
  return known->second;
}

/// When all links on the way are awake. The first flow over a sleeping link wakes it for all.
double ActorPrimitives::wake_links(const TurnPart& part, double ready) {
  double awake = ready;
  for (const FlowCost& flow : part.flows) {
    if (flow.lane < 0) continue;
    for (const SleepingLink& link : state_.plan.network.lanes[static_cast<std::size_t>(flow.lane)].sleeping) {
      const double if_woken_here = ready + link.exit.value();
      double& from = state_.awake_from.try_emplace(link.link, if_woken_here).first->second;
      from = std::min(from, if_woken_here);  // actors' clocks may run ahead of each other's
      awake = std::max(awake, from);
    }
  }
  return awake;
}

double ActorPrimitives::ready_time(const TurnPart& part, const Kind& kind, bool empty) {
  double ready = now_;
  const auto depth = static_cast<std::uint64_t>(state_.plan.fifo_slices);
  if (part.sends) {
    for (const std::size_t d : kind.destinations) {
      End& to = destinations_[d];
      if (to.slices >= depth) ready = std::max(ready, to.fifo->wait(FifoTimes::credit, to.slices - depth));
    }
  }
  // an empty slice of LL or LL128 has no line, so there is no flag to wait for
  if (part.receives && !(empty && state_.plan.flag_in_line)) {
    const auto event = state_.plan.flag_in_line ? FifoTimes::begun : FifoTimes::done;
    for (const std::size_t s : kind.sources)
      ready = std::max(ready, sources_[s].fifo->wait(event, sources_[s].slices));
  }
  if (empty) return part.beside ? ready : ready + state_.plan.empty_overhead.value();
  return wake_links(part, ready + part.overhead.value());
}

void ActorPrimitives::transfer(const TurnPart& part, double payload_bytes, double ready) {
  now_ = ready;
  bool leaves = false;
  for (const FlowCost& flow : part.flows) {
    if (flow.rate.value() <= 0) continue;
    if (flow.lane >= 0 && state_.platform.lane_host(flow.lane) != nullptr) {
      leaves = true;
    } else {
      now_ = std::max(now_, ready + payload_bytes * flow.wire_per_payload / (flow.rate.value() * factor_));
    }
  }
  if (!leaves) return;
  if (ready > state_.platform.clock()) simgrid::s4u::this_actor::sleep_until(ready);
  put_flows(part.flows, payload_bytes);
  now_ = std::max(now_, state_.platform.clock());
}

/// Puts the flows that leave the GPU side by side, and waits for them all.
void ActorPrimitives::put_flows(const std::vector<FlowCost>& flows, double payload_bytes) {
  static int nothing = 0;
  std::vector<simgrid::s4u::CommPtr> others;  // all but the last put
  simgrid::s4u::CommPtr last;
  for (const FlowCost& flow : flows) {
    simgrid::s4u::Host* host = flow.lane < 0 ? nullptr : state_.platform.lane_host(flow.lane);
    if (host == nullptr || flow.rate.value() <= 0) continue;
    if (last) {
      last->start();
      others.push_back(std::move(last));
    }
    if (simgrid::s4u::this_actor::get_host() != host) simgrid::s4u::this_actor::set_host(host);
    const double scaled_bytes = payload_bytes * flow.wire_per_payload * transfer_scale();
    last = mailbox_->put_init(
        &nothing, std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(scaled_bytes)), 1));
    last->set_rate(flow.rate.value() * factor_ * transfer_scale());
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
  Kind& kind = kinds_[static_cast<std::size_t>(turn.kind)];
  const double payload_bytes = static_cast<double>(slice.count) * static_cast<double>(work_.element_bytes);
  for (const TurnPart& part : *kind.parts) take_part(part, kind, payload_bytes, slice.count == 0);
  kind.payload_bytes += payload_bytes;
}

void ActorPrimitives::take_part(const TurnPart& part, const Kind& kind, double payload_bytes, bool empty) {
  const bool in_line = state_.plan.flag_in_line;
  const double ready = ready_time(part, kind, empty);
  if (part.sends && in_line) {
    for (const std::size_t d : kind.destinations)
      destinations_[d].fifo->post(FifoTimes::begun, ready + destinations_[d].cost.flag.value());
  }
  now_ = ready;
  if (!empty) {
    transfer(part, payload_bytes, ready);
    ++state_.transfers;
  }
  if (part.receives) {
    for (const std::size_t s : kind.sources) {
      // lines are followed as they come: this rank can't be through before the last line is here
      End& from = sources_[s];
      if (in_line && !empty) now_ = std::max(now_, from.fifo->wait(FifoTimes::done, from.slices));
    }
    for (const std::size_t s : kind.sources) {
      sources_[s].fifo->post(FifoTimes::credit, now_ + sources_[s].cost.credit.value());
      ++sources_[s].slices;
    }
  }
  if (!part.sends) return;
  for (const std::size_t d : kind.destinations) {
    End& to = destinations_[d];
    const double fence = in_line || empty ? 0.0 : to.cost.fence.value();
    to.fifo->post(FifoTimes::done, now_ + fence + to.cost.flag.value());
    ++to.slices;
  }
}

std::uint64_t ActorPrimitives::fold(Folder& folder, std::uint64_t turn, double Kind::*at_turn) {
  const int place = state_.place_in_group[static_cast<std::size_t>(work_.channel)];
  const std::uint64_t next = folder.advance(place, actor_, turn, now_);
  for (Kind& kind : kinds_) {
    const double of_one_turn = kind.payload_bytes - kind.*at_turn;
    if (next > turn) kind.payload_bytes += of_one_turn * static_cast<double>(next - turn);
    kind.*at_turn = kind.payload_bytes;
  }
  if (next > turn) state_.folded = true;
  return next;
}

std::uint64_t ActorPrimitives::next_loop(std::uint64_t loop, std::uint64_t) {
  if (!state_.fold_loops) return loop;
  const auto channel = static_cast<std::size_t>(work_.channel);
  return fold(*state_.loop_folders[state_.folder_of[channel]], loop, &Kind::at_loop);
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
  const std::uint64_t next = fold(*folder, step - begin, &Kind::at_step) + begin;
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
  for (const Kind& kind : kinds_) {
    if (kind.parts == nullptr) continue;
    for (const TurnPart& part : *kind.parts)
      add_wire_bytes(state_.plan.network, part, kind.payload_bytes, state_.wire_bytes);
  }
}

}  // namespace lanecast
