#include "sim/strand.hpp"

#include <algorithm>

namespace lanecast {

FifoTimes& StrandContext::fifo(int channel, int from, int to) {
  const auto c = static_cast<std::size_t>(channel);
  const auto kept = static_cast<int>(plan.positions(c).size());
  return fifos[c].try_emplace({from % kept, to % kept}, plan.fifo_slices, accounts).first->second;
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
  const bool accounts = context_.accounts;
  double ready = now_;
  TimeAccount account = account_;
  const auto wait_for = [&](const FifoTimes& fifo, FifoTimes::Event event, std::uint64_t number) {
    const double when = fifo.when(event, number);
    if (when <= ready) return;
    ready = when;
    if (accounts) account = fifo.account(event, number);
  };
  double look = 0;
  if (cost.sends) {
    for (const std::size_t d : kinds_[kind_].destinations) {
      const End& to = destinations_[d];
      if (to.slices < depth) continue;
      wait_for(*to.fifo, FifoTimes::credit, to.slices - depth);
      look = std::max(look, to.cost.look.value());
    }
  }
  ready += look;
  account.protocol += look;
  if (cost.receives && !(empty() && in_line)) {
    const auto event = in_line ? FifoTimes::begun : FifoTimes::done;
    for (const std::size_t s : kinds_[kind_].sources) wait_for(*sources_[s].fifo, event, sources_[s].slices);
  }
  double overhead = cost.beside ? 0.0 : context_.plan.empty_overhead.value();
  if (!empty()) {
    overhead = cost.overhead.value() + cost.rounds.longer_seconds(payload_);
    ++context_.transfers;
  }
  ready_ = ready + overhead;
  account.protocol += overhead;
  ready_account_ = account;
}

/// Bytes begin, once the links on their way are awake; lines that begin are posted.
void Strand::begin_lines() {
  if (!empty()) {
    const double awake = wake_links(ready_);
    ready_account_.latency += awake - ready_;
    ready_ = awake;
  }
  now_ = ready_;
  account_ = ready_account_;
  if (!part().sends || !context_.plan.flag_in_line) return;
  for (const std::size_t d : kinds_[kind_].destinations)
    post_later(*destinations_[d].fifo, FifoTimes::begun, 0.0, destinations_[d].cost.flag.value());
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

/// What a flow of the part would take if no other pair of ranks used its links.
double Strand::undisturbed_seconds(const FlowCost& flow) const {
  double rate = flow.rate.value() * factor_;
  if (crosses_shared(flow))
    rate =
        std::min(rate, context_.plan.network.lanes[static_cast<std::size_t>(flow.lane)].undisturbed.value());
  return payload_ * flow.wire_per_payload / rate;
}

/// Shares out the time from the first byte to the last.
void Strand::charge_transfer() {
  const double seconds = now_ - ready_;
  double alone = 0;
  double payload_share = 1;
  for (const FlowCost& flow : part().flows) {
    if (flow.rate.value() <= 0) continue;
    const double of_flow = undisturbed_seconds(flow);
    if (of_flow <= alone) continue;
    alone = of_flow;
    payload_share = 1.0 / flow.wire_per_payload;
  }
  const double undisturbed = std::min(seconds, alone);
  account_.wire += undisturbed * payload_share;
  account_.protocol += undisturbed * (1.0 - payload_share);
  account_.waiting += seconds - undisturbed;
}

void Strand::finish_part() {
  if (context_.accounts && !empty()) charge_transfer();
  const TurnPart& cost = part();
  const bool in_line = context_.plan.flag_in_line;
  if (cost.receives) {
    for (const std::size_t s : kinds_[kind_].sources) {
      if (in_line && !empty()) follow(*sources_[s].fifo, sources_[s].slices);
    }
    for (const std::size_t s : kinds_[kind_].sources) {
      post_later(*sources_[s].fifo, FifoTimes::credit, 0.0, sources_[s].cost.credit.value());
      ++sources_[s].slices;
    }
  }
  if (!cost.sends) return;
  for (const std::size_t d : kinds_[kind_].destinations) {
    End& to = destinations_[d];
    const double fence = in_line || empty() ? 0.0 : to.cost.fence.value();
    post_later(*to.fifo, FifoTimes::done, fence, to.cost.flag.value());
    ++to.slices;
  }
}

/// The last line of a slice is here no sooner than its sender was through.
void Strand::follow(const FifoTimes& fifo, std::uint64_t slice) {
  const double when = fifo.when(FifoTimes::done, slice);
  if (when <= now_) return;
  now_ = when;
  if (context_.accounts) account_ = fifo.account(FifoTimes::done, slice);
}

/// Becomes visible elsewhere after a fence and a flight.
void Strand::post_later(FifoTimes& fifo, FifoTimes::Event event, double fence, double flight) {
  TimeAccount account = account_;
  account.protocol += fence;
  account.latency += flight;
  const int waiting = fifo.post(event, now_ + fence + flight, account);
  if (waiting != FifoTimes::nobody) context_.wake(waiting);
}

}  // namespace lanecast
