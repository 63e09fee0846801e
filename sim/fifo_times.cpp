#include "sim/fifo_times.hpp"

namespace lanecast {

namespace {

template <class T>
void double_ring(std::vector<T>& ring, std::uint64_t first, std::uint64_t end) {
  std::vector<T> larger(2 * ring.size());
  for (std::uint64_t number = first; number < end; ++number)
    larger[number % larger.size()] = ring[number % ring.size()];
  ring = std::move(larger);
}

}  // namespace

FifoTimes::FifoTimes(int slots, bool accounts) {
  for (Stream& stream : streams_) {
    stream.when.resize(static_cast<std::size_t>(slots));
    if (accounts) stream.accounts.resize(stream.when.size());
  }
}

void FifoTimes::grow(Stream& stream) {
  double_ring(stream.when, stream.asked, stream.posted);
  if (!stream.accounts.empty()) double_ring(stream.accounts, stream.asked, stream.posted);
}

int FifoTimes::post(Event event, double when, const TimeAccount& account) {
  Stream& stream = streams_[event];
  if (stream.posted - stream.asked == stream.when.size()) grow(stream);
  stream.when[stream.posted % stream.when.size()] = when;
  if (!stream.accounts.empty()) stream.accounts[stream.posted % stream.accounts.size()] = account;
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

const TimeAccount& FifoTimes::account(Event event, std::uint64_t number) const {
  const Stream& stream = streams_[event];
  return stream.accounts[number % stream.accounts.size()];
}

double FifoTimes::when(Event event, std::uint64_t number) const {
  const Stream& stream = streams_[event];
  return stream.when[number % stream.when.size()];
}

}  // namespace lanecast
