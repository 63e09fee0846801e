#include "tests/schedule/symbolic_schedule.hpp"

#include <algorithm>

#include "model/predict/call.hpp"

namespace lanecast::support {
namespace {

bool in_blocks(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

void combine(SymbolicPart& into, const SymbolicPart& part) {
  for (std::size_t i = 0; i < into.times.size(); ++i) into.times[i] += part.times[i];
  into.finishes += part.finishes;
}

}  // namespace

SymbolicPart everyones_once(int ranks, int finishes) {
  return {std::vector<int>(static_cast<std::size_t>(ranks), 1), finishes};
}

SymbolicPart only_of(int position, int ranks) {
  SymbolicPart part{std::vector<int>(static_cast<std::size_t>(ranks), 0), 0};
  part.times[static_cast<std::size_t>(position)] = 1;
  return part;
}

SymbolicSchedule::SymbolicSchedule(std::vector<ChannelWork> strands)
    : ranks_(strands.at(0).ranks),
      parts_(in_blocks(strands[0].collective) ? ranks_ : static_cast<int>(parts_per_loop(strands[0]))),
      sent_(index(ranks_), 0),
      received_(index(ranks_), 0) {
  for (const ChannelWork& work : strands) strands_.push_back({work, 0, 0});
}

std::string SymbolicSchedule::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Strand& strand : strands_) {
      while (strand.step < step_count(strand.work)) {
        const Turn turn = turn_of(strand.work, strand.step);
        if (!ready(strand, turn)) break;
        take_turn(strand, turn);
        moved = true;
      }
    }
  }
  for (const Strand& strand : strands_) {
    if (strand.step < step_count(strand.work)) complain(strand, "is stuck");
  }
  for (const auto& [ends, queue] : queues_) {
    if (!queue.empty()) fault_ += "a message to position " + std::to_string(ends.second) + " is left over; ";
  }
  return fault_;
}

std::optional<SymbolicPart> SymbolicSchedule::output(int position, int part) const {
  const auto found = outputs_.find({position, part});
  return found == outputs_.end() ? std::nullopt : std::optional(found->second.value);
}

int SymbolicSchedule::writes(int position, int part) const {
  const auto found = outputs_.find({position, part});
  return found == outputs_.end() ? 0 : found->second.times;
}

int SymbolicSchedule::parts_sent(int from, int to) const {
  const auto found = parts_between_.find({from, to});
  return found == parts_between_.end() ? 0 : found->second;
}

bool SymbolicSchedule::ready(const Strand& strand, const Turn& turn) const {
  for (int i = 0; i < turn.from.count; ++i) {
    const auto queue = queues_.find({turn.from.at(i), strand.work.position});
    if (queue == queues_.end() || queue->second.empty()) return false;
  }
  return true;
}

void SymbolicSchedule::take_turn(Strand& strand, const Turn& turn) {
  const int position = strand.work.position;
  if (turn.part < 0 || turn.parts < 1 || turn.part + turn.parts > parts_)
    complain(strand, "is about a region outside of the loop");
  std::vector<SymbolicPart> values = own(strand, turn);
  receive(strand, turn, values);
  for (SymbolicPart& value : values) value.finishes += turn.finishes ? 1 : 0;
  if (turn.keeps) write(position, turn, values);
  send(strand, turn, values);
  ++strand.step;
}

std::vector<SymbolicPart> SymbolicSchedule::own(const Strand& strand, const Turn& turn) {
  const int position = strand.work.position;
  const SymbolicPart nothing{std::vector<int>(index(ranks_), 0), 0};
  std::vector<SymbolicPart> values(index(turn.parts), nothing);
  for (int i = 0; i < turn.parts && turn.own != Own::nothing; ++i) {
    const auto written = outputs_.find({position, turn.part + i});
    if (turn.own == Own::input) {
      if (written != outputs_.end()) complain(strand, "reads an input that its output has replaced");
      values[index(i)] = only_of(position, ranks_);
    } else if (written == outputs_.end()) {
      // All-gather in place starts with its own block in the output, without having written it.
      const bool there = strand.work.collective == Collective::all_gather && strand.work.in_place &&
                         turn.part + i == position;
      if (!there) complain(strand, "reads an output that was never written");
      values[index(i)] = only_of(position, ranks_);
    } else {
      values[index(i)] = written->second.value;
    }
  }
  return values;
}

void SymbolicSchedule::receive(Strand& strand, const Turn& turn, std::vector<SymbolicPart>& values) {
  for (int i = 0; i < turn.from.count; ++i) {
    std::deque<Message>& queue = queues_[{turn.from.at(i), strand.work.position}];
    const Message message = queue.front();
    queue.pop_front();
    if (message.part != turn.part || message.values.size() != values.size()) {
      complain(strand, "takes another region than was sent");
      continue;
    }
    for (std::size_t p = 0; p < values.size(); ++p) combine(values[p], message.values[p]);
    received_[index(strand.work.position)] += turn.parts;
    strand.flight = std::max(strand.flight, message.flight);
    flights_ = std::max(flights_, message.flight);
  }
}

void SymbolicSchedule::write(int position, const Turn& turn, const std::vector<SymbolicPart>& values) {
  for (int i = 0; i < turn.parts; ++i) {
    Written& written = outputs_[{position, turn.part + i}];
    written.value = values[index(i)];
    ++written.times;
  }
}

void SymbolicSchedule::send(const Strand& strand, const Turn& turn, const std::vector<SymbolicPart>& values) {
  const int position = strand.work.position;
  for (int i = 0; i < turn.to.count; ++i) {
    queues_[{position, turn.to.at(i)}].push_back({turn.part, strand.flight + 1, values});
    parts_between_[{position, turn.to.at(i)}] += turn.parts;
    sent_[index(position)] += turn.parts;
  }
}

void SymbolicSchedule::complain(const Strand& strand, const std::string& what) {
  fault_ += "position " + std::to_string(strand.work.position) + ", strand " +
            std::to_string(strand.work.strand) + ", step " + std::to_string(strand.step) + " " + what + "; ";
}

std::vector<ChannelWork> channel_of(const ScheduleShape& shape, Collective collective, int ranks, int root,
                                    bool in_place) {
  ShareSplit split;
  split.collective = collective;
  split.shape = shape;
  split.orders = {plain_order(ranks)};
  split.root = root;
  split.in_place = in_place;
  split.count = 64;
  std::vector<ChannelWork> strands = strands_of(split_evenly(split), 0);
  for (ChannelWork& work : strands) work.order = nullptr;  // plain; the plan owned it
  return strands;
}

std::string describe(const ScheduleShape& shape, Collective collective, int ranks) {
  return std::string(to_string(collective)) + ", " + describe(shape) + ", " + std::to_string(ranks) +
         " ranks";
}

}  // namespace lanecast::support
