#pragma once
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace lanecast {

/// The end of a wait.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds from_now) : end_(Clock::now() + from_now) {}

  bool passed() const { return Clock::now() >= end_; }
  Clock::time_point time() const { return end_; }

  /// Waits until a file is ready, `slice` is over or the deadline has passed. May return early.
  void wait(std::vector<pollfd>& files, std::chrono::milliseconds slice) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    const auto time = std::max(std::chrono::milliseconds(0), std::min(left, slice));
    poll(files.data(), files.size(), static_cast<int>(time.count()));
  }

 private:
  Clock::time_point end_;
};

}  // namespace lanecast
