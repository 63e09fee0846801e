#include "sim/fifo_times.hpp"

namespace lanecast {

FifoTimes::FifoTimes(int slots) {
  for (Stream& stream : streams_) stream.when.resize(static_cast<std::size_t>(slots));
}

void FifoTimes::grow(Stream& stream) {
  std::vector<double> larger(2 * stream.when.size());
  for (std::uint64_t number = stream.asked; number < stream.posted; ++number)
    larger[number % larger.size()] = stream.when[number % stream.when.size()];
  stream.when = std::move(larger);
}

int FifoTimes::post(Event event, double when) {
  Stream& stream = streams_[event];
  if (stream.posted - stream.asked == stream.when.size()) grow(stream);
  stream.when[stream.posted % stream.when.size()] = when;
  ++stream.posted;
  return std::exchange(stream.waiting, nobody);
}

bool FifoTimes::posted(Event event, std::uint64_t number, int strand) {
  Stream& stream = streams_[event];
  stream.asked = number;
  if (stream.posted > number) return true;
  stream.waiting = strand;
  return false;
}

double FifoTimes::when(Event event, std::uint64_t number) const {
  const Stream& stream = streams_[event];
  return stream.when[number % stream.when.size()];
}

}  // namespace lanecast
