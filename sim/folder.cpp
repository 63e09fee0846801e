#include "sim/folder.hpp"

#include <algorithm>
#include <cmath>

namespace lanecast {
namespace {

constexpr std::uint64_t kLongestPeriod = 4;      // turns
constexpr double kTolerance = 1e-4;              // of the period: bounds the error of what is left out
constexpr std::uint64_t kFurthestAhead = 64;     // turns that actors may be apart: beyond, no attempt
constexpr std::uint64_t kLeastSkip = 2;

}  // namespace

Folder::Folder(int actors, int window, std::uint64_t end)
    : window_(window),
      end_(end),
      depth_(static_cast<std::uint64_t>(window) + 2 * kLongestPeriod + kFurthestAhead),
      actors_(static_cast<std::size_t>(actors)),
      arrivals_(depth_) {
  for (History& history : actors_) history.times.resize(depth_);
}

std::uint64_t Folder::advance(int actor, std::uint64_t index, double now) {
  if (skipped_ > 0) return index == jump_at_ ? index + skipped_ : index;
  if (index >= end_) return index;
  History& history = actors_[static_cast<std::size_t>(actor)];
  history.times[index % depth_] = now;
  history.reached = index + 1;
  if (last_to_arrive(index)) decide(index);
  return skipped_ > 0 && index == jump_at_ ? index + skipped_ : index;
}

bool Folder::last_to_arrive(std::uint64_t index) {
  Arrivals& arrivals = arrivals_[index % depth_];
  if (arrivals.turn > index) return false;  // others are a whole buffer ahead
  if (arrivals.turn < index) arrivals = {index, 0};
  return ++arrivals.count == actors_.size();
}

bool Folder::periodic(std::uint64_t index, std::uint64_t period_turns, double& period) const {
  if (index < static_cast<std::uint64_t>(window_) + period_turns) return false;
  // the mean over the window: turns settle, and single ones still swing within the tolerance
  const std::uint64_t periods = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(window_) / period_turns);
  const std::uint64_t turns = periods * period_turns;
  period = (time_of(actors_.front(), index) - time_of(actors_.front(), index - turns)) / static_cast<double>(periods);
  for (const History& history : actors_) {
    for (std::uint64_t back = 0; back < static_cast<std::uint64_t>(window_); ++back) {
      const double span = time_of(history, index - back) - time_of(history, index - back - period_turns);
      if (std::abs(span - period) > kTolerance * period) return false;
    }
  }
  return true;
}

void Folder::decide(std::uint64_t index) {
  std::uint64_t furthest = 0;
  for (const History& history : actors_) furthest = std::max(furthest, history.reached);
  if (furthest > index + kFurthestAhead / 2 || furthest + kLeastSkip > end_) return;
  for (std::uint64_t turns = 1; turns <= kLongestPeriod; ++turns) {
    double period = 0;
    if (!periodic(index, turns, period)) continue;
    // `furthest` is the first turn that nobody has begun
    const std::uint64_t skip = (end_ - furthest) / turns * turns;
    if (skip < kLeastSkip) return;
    jump_at_ = furthest;
    skipped_ = skip;
    offset_ = period * (static_cast<double>(skip) / static_cast<double>(turns));
    return;
  }
}

}  // namespace lanecast
