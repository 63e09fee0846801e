#include "sim/strand.hpp"

#include <algorithm>

namespace lanecast {

FifoTimes& StrandContext::fifo(int channel, int from, int to) {
  const auto c = static_cast<std::size_t>(channel);
  const auto kept = static_cast<int>(plan.positions(c).size());
  return fifos[c].try_emplace({from % kept, to % kept}, plan.fifo_slices).first->second;
}

Strand::Strand(StrandContext& context, const ChannelWork& work, int number)
    : context_(context),
      plan_(context.plan.positions(
          static_cast<std::size_t>(work.channel))[static_cast<std::size_t>(work.position)]),
      number_(number),
      factor_(context.plan.channel_factor[static_cast<std::size_t>(work.channel)]) {
  find_kinds(work);
}

void Strand::find_kinds(const ChannelWork& work) {
  const auto& costs = plan_.strands[static_cast<std::size_t>(work.strand)];
  kinds_.resize(costs.size());
  for (int step = 0; step < step_count(work); ++step) {
    const Turn turn = turn_of(work, step);
    Kind& kind = kinds_[static_cast<std::size_t>(turn.kind)];
    if (kind.parts != nullptr) continue;
    kind.parts = &costs[static_cast<std::size_t>(turn.kind)];
    for (int k = 0; k < turn.from.count; ++k) kind.sources.push_back(source(work, turn.from.at(k)));
    for (int k = 0; k < turn.to.count; ++k) kind.destinations.push_back(destination(work, turn.to.at(k)));
  }
}

std::size_t Strand::source(const ChannelWork& work, int position) {
  const auto [known, fresh] = source_of_.try_emplace(position, sources_.size());
  if (!fresh) return known->second;
  const auto& positions = context_.plan.positions(static_cast<std::size_t>(work.channel));
  const PositionPlan& sender = positions[static_cast<std::size_t>(position) % positions.size()];
  // a ring reduced by symmetry: the hop leads to the position after the sender's, which stands for this one
  const HopCost& hop = work.schedule == Schedule::ring ? sender.to_next() : sender.hop(work.position);
  sources_.push_back({&context_.fifo(work.channel, position, work.position), hop});
  return known->second;
}

std::size_t Strand::destination(const ChannelWork& work, int position) {
  const auto [known, fresh] = destination_of_.try_emplace(position, destinations_.size());
  if (fresh) {
    destinations_.push_back({&context_.fifo(work.channel, work.position, position), plan_.hop(position)});
  }
  return known->second;
}

void Strand::begin(int kind, double payload_bytes) {
  kind_ = static_cast<std::size_t>(kind);
  part_ = 0;
  phase_ = Phase::await_peers;
  payload_ = payload_bytes;
}

Strand::Wait Strand::go_on(double clock) {
  while (part_ < kinds_[kind_].parts->size()) {
    if (phase_ == Phase::await_peers) {
      if (!peers_are_ready()) return Wait::post;
      set_ready();
      phase_ = Phase::await_wake;
      if (must_wake() && ready_ > clock) return Wait::clock;
    }
    if (phase_ == Phase::await_wake) {
      begin_lines();
      phase_ = empty() ? Phase::await_last_lines : Phase::start_flows;
    }
    if (phase_ == Phase::start_flows) {
      phase_ = start_flows() ? Phase::await_clock : Phase::await_last_lines;
      if (phase_ == Phase::await_clock && ready_ > clock) return Wait::clock;
    }
    if (phase_ == Phase::await_clock) {
      phase_ = Phase::flowing;
      return Wait::flows;
    }
    if (phase_ == Phase::flowing) {
      now_ = std::max(now_, clock);
      phase_ = Phase::await_last_lines;
    }
    if (!last_lines_are_here()) return Wait::post;
    finish_part();
    ++part_;
    phase_ = Phase::await_peers;
  }
  return Wait::nothing;
}

bool Strand::peers_are_ready() {
  const TurnPart& cost = part();
  const auto depth = static_cast<std::uint64_t>(context_.plan.fifo_slices);
  if (cost.sends) {
    for (const std::size_t d : kinds_[kind_].destinations) {
      End& to = destinations_[d];
      if (to.slices >= depth && !to.fifo->posted(FifoTimes::credit, to.slices - depth, number_)) return false;
    }
  }
  // an empty slice of LL or LL128 has no line, so there is no flag to wait for
  if (!cost.receives || (empty() && context_.plan.flag_in_line)) return true;
  const auto event = context_.plan.flag_in_line ? FifoTimes::begun : FifoTimes::done;
  for (const std::size_t s : kinds_[kind_].sources) {
    if (!sources_[s].fifo->posted(event, sources_[s].slices, number_)) return false;
  }
  return true;
}

/// When the bytes can begin, with credits and flags seen and the overhead paid, if all links are awake.
void Strand::set_ready() {
  const TurnPart& cost = part();
  const bool in_line = context_.plan.flag_in_line;
  const auto depth = static_cast<std::uint64_t>(context_.plan.fifo_slices);
  double ready = now_;
  double look = 0;
  if (cost.sends) {
    for (const std::size_t d : kinds_[kind_].destinations) {
      const End& to = destinations_[d];
      if (to.slices < depth) continue;
      ready = std::max(ready, to.fifo->when(FifoTimes::credit, to.slices - depth));
      look = std::max(look, to.cost.look.value());
    }
  }
  ready += look;
  if (cost.receives && !(empty() && in_line)) {
    const auto event = in_line ? FifoTimes::begun : FifoTimes::done;
    for (const std::size_t s : kinds_[kind_].sources)
      ready = std::max(ready, sources_[s].fifo->when(event, sources_[s].slices));
  }
  if (empty()) {
    ready += cost.beside ? 0.0 : context_.plan.empty_overhead.value();
  } else {
    ready += cost.overhead.value() + cost.rounds.longer_seconds(payload_);
    ++context_.transfers;
  }
  ready_ = ready;
}

/// Bytes begin, once the links on their way are awake; lines that begin are posted.
void Strand::begin_lines() {
  if (!empty()) ready_ = wake_links(ready_);
  now_ = ready_;
  if (!part().sends || !context_.plan.flag_in_line) return;
  for (const std::size_t d : kinds_[kind_].destinations)
    post(*destinations_[d].fifo, FifoTimes::begun, ready_ + destinations_[d].cost.flag.value());
}

/// Whether a link on the way sleeps that nobody has asked for yet. Strands may run ahead of the clock, but
/// who comes first to such a link must be settled by time, not by the order in which strands are driven.
bool Strand::must_wake() const {
  if (empty()) return false;
  const auto& lanes = context_.plan.network.lanes;
  return std::any_of(part().flows.begin(), part().flows.end(), [&](const FlowCost& flow) {
    if (flow.lane < 0) return false;
    const auto& sleeping = lanes[static_cast<std::size_t>(flow.lane)].sleeping;
    return std::any_of(sleeping.begin(), sleeping.end(),
                       [&](const SleepingLink& link) { return !context_.awake_from.contains(link.link); });
  });
}

/// When all links on the way are awake. The first flow over a sleeping link wakes it for all.
double Strand::wake_links(double ready) {
  double awake = ready;
  for (const FlowCost& flow : part().flows) {
    if (flow.lane < 0) continue;
    for (const SleepingLink& link :
         context_.plan.network.lanes[static_cast<std::size_t>(flow.lane)].sleeping) {
      const auto known = context_.awake_from.try_emplace(link.link, ready + link.exit.value()).first;
      awake = std::max(awake, known->second);
    }
  }
  return awake;
}

bool Strand::crosses_shared(const FlowCost& flow) const {
  return flow.lane >= 0 && context_.shared_lanes[static_cast<std::size_t>(flow.lane)];
}

/// Flows that share nothing take their time at once.
/// @return  whether others must run
bool Strand::start_flows() {
  bool shared = false;
  for (const FlowCost& flow : part().flows) {
    if (flow.rate.value() <= 0) continue;
    if (crosses_shared(flow)) {
      shared = true;
    } else {
      now_ = std::max(now_, ready_ + payload_ * flow.wire_per_payload / (flow.rate.value() * factor_));
    }
  }
  return shared;
}

/// Lines are followed as they come: this rank can't be through before the last line is here.
bool Strand::last_lines_are_here() {
  if (!part().receives || !context_.plan.flag_in_line || empty()) return true;
  for (const std::size_t s : kinds_[kind_].sources) {
    if (!sources_[s].fifo->posted(FifoTimes::done, sources_[s].slices, number_)) return false;
  }
  return true;
}

void Strand::finish_part() {
  const TurnPart& cost = part();
  const bool in_line = context_.plan.flag_in_line;
  if (cost.receives) {
    for (const std::size_t s : kinds_[kind_].sources) {
      if (in_line && !empty())
        now_ = std::max(now_, sources_[s].fifo->when(FifoTimes::done, sources_[s].slices));
    }
    for (const std::size_t s : kinds_[kind_].sources) {
      post(*sources_[s].fifo, FifoTimes::credit, now_ + sources_[s].cost.credit.value());
      ++sources_[s].slices;
    }
  }
  if (!cost.sends) return;
  for (const std::size_t d : kinds_[kind_].destinations) {
    End& to = destinations_[d];
    const double fence = in_line || empty() ? 0.0 : to.cost.fence.value();
    post(*to.fifo, FifoTimes::done, now_ + fence + to.cost.flag.value());
    ++to.slices;
  }
}

void Strand::post(FifoTimes& fifo, FifoTimes::Event event, double when) {
  const int waiting = fifo.post(event, when);
  if (waiting != FifoTimes::nobody) context_.wake(waiting);
}

}  // namespace lanecast
