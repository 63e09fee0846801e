#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

/// Whose waits they are; what the error names.
struct Waiter {
  int rank = 0;
  int channel = 0;
  int strand = 0;
};

/// How one strand of one channel of one rank waits for its peers: spin, then yield, look at the abort flag,
/// give up at the deadline. The deadline counts from the start of each wait.
class BoundedWait {
 public:
  BoundedWait(Waiter waiter, std::chrono::milliseconds deadline, const std::atomic<bool>& abort)
      : waiter_(waiter), deadline_(deadline), abort_(abort) {}

  /// What the error names; call before each slice.
  void enter(const Slice& slice) {
    loop_ = slice.loop;
    step_ = slice.step;
    slice_ = slice.slice;
  }
  /// The position whose data or credit the next waits are for.
  void face(int position) { peer_ = position; }

  /// Returns when `ready()` is true.
  ///
  /// @param what  what the peer has to give: "data", "credit"
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

  Waiter waiter_;
  std::chrono::milliseconds deadline_;
  const std::atomic<bool>& abort_;
  std::uint64_t loop_ = 0;
  int step_ = 0;
  int slice_ = 0;
  int peer_ = 0;
};

}  // namespace lanecast::support
