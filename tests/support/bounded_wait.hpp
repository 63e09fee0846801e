#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

/// How one channel of one rank waits for its neighbours: spin, then yield, look at the abort flag, give up at
/// the deadline. The deadline counts from the start of each wait.
class BoundedWait {
 public:
  BoundedWait(int rank, int channel, std::chrono::milliseconds deadline, const std::atomic<bool>& abort)
      : rank_(rank), channel_(channel), deadline_(deadline), abort_(abort) {}

  /// What the error names; call before each slice.
  void enter(const Slice& slice) {
    loop_ = slice.loop;
    step_ = slice.step;
    slice_ = slice.slice;
  }

  /// Returns when `ready()` is true.
  ///
  /// @param what  what is missing: "data from the previous rank"
  /// @throws Error  kind runtime, when the abort flag is up or the deadline has passed
  template <class Ready>
  void until(const char* what, Ready ready) const {
    for (int spin = 0; spin < spins_before_yield; ++spin) {
      if (ready()) return;
    }
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t turn = 0; !ready(); ++turn) {
      if (abort_.load(std::memory_order_relaxed)) give_up("aborted while waiting for ", what);
      if (turn % yields_between_clock_reads == 0 && std::chrono::steady_clock::now() - start > deadline_) {
        give_up("the deadline passed while waiting for ", what);
      }
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int spins_before_yield = 32;
  static constexpr std::uint64_t yields_between_clock_reads = 16;

  [[noreturn]] void give_up(const char* why, const char* what) const;

  int rank_;
  int channel_;
  std::chrono::milliseconds deadline_;
  const std::atomic<bool>& abort_;
  std::uint64_t loop_ = 0;
  int step_ = 0;
  int slice_ = 0;
};

}  // namespace lanecast::support
