#pragma once
#include <cstdint>

#include "hw/kernels/memory_device.cuh"

namespace lanecast::device {

inline constexpr std::uint64_t kMicroWaitNs = 2'000'000'000;

/// A thread that waits by itself.
struct WaitAlone {
  __device__ bool operator()(bool over) const { return over; }
};

/// Looks until `ready` says so, 2 s at most, or until another thread of the kernel gave up.
/// @param gave_up  of the kernel, in its device's memory; set when the time is over
/// @param agree    makes threads that look together give up together
template <class Ready, class Agree = WaitAlone>
__device__ bool wait_until(Ready ready, unsigned* gave_up, Agree agree = {}) {
  constexpr unsigned kSpinsBetweenLooks = 512;
  std::uint64_t begin_ns = 0;
  for (unsigned spins = 1; !ready(); ++spins) {
    if (spins % kSpinsBetweenLooks != 0) continue;
    const std::uint64_t now_ns = device_time_ns();
    if (begin_ns == 0) begin_ns = now_ns;
    if (!agree(load_flag(gave_up) != 0 || now_ns - begin_ns >= kMicroWaitNs)) continue;
    *static_cast<volatile unsigned*>(gave_up) = 1;
    return false;
  }
  return true;
}

}  // namespace lanecast::device
