#pragma once
#include <cstdint>

#include "hw/engine/kernel_call.hpp"
#include "hw/kernels/memory_device.cuh"
#include "hw/rendezvous/status_board.hpp"

namespace lanecast::device {

/// What all threads of a block know of a call that fails.
struct BlockTrouble {
  int gave_up;  // a thread of this block did: the rest of the work is passed over
};

/// Where a thread is in its schedule, for the fault that it may have to report.
struct Place {
  int channel = 0;
  int step = 0;
  int slice = 0;
  std::uint64_t loop = 0;
};

/// One look at whether a wait has to end without what it waits for: another thread of the block gave up, the
/// host raised the abort flag, or the time is over. The first of the GPU's threads writes the fault. Takes
/// everything by value, so that nothing of its caller has to lie in memory.
/// @param begin  time of the first look, 0 at that one
/// @return       `begin` for the next look; 0: it is over
__device__ __noinline__ static std::uint64_t look_at_wait(const KernelCall* call, BlockTrouble* trouble,
                                                          std::uint64_t begin, KernelFault::What what,
                                                          int peer, Place place) {
  volatile int* gave_up = &trouble->gave_up;
  if (*gave_up != 0) return 0;
  const bool aborted = load_flag(call->abort) != 0;
  const std::uint64_t now = device_time_ns();
  if (begin == 0) begin = now;
  if (!aborted && now - begin < call->timeout_ns) return begin;
  *gave_up = 1;
  if (atomicCAS(call->broken, 0u, 1u) != 0) return 0;
  volatile KernelFault* fault = call->fault;
  fault->peer = peer;
  fault->channel = place.channel;
  fault->step = place.step;
  fault->loop = place.loop;
  fault->slice = place.slice;
  fault->aborted = aborted ? 1 : 0;
  fault->call = call->call;
  fence_system();
  fault->what = what;
  return 0;
}

/// Waits that end, as `look_at_wait` says.
class BoundedWait {
 public:
  __device__ BoundedWait(const KernelCall& call, BlockTrouble& trouble) : call_(&call), trouble_(&trouble) {}

  /// @param ready  looks once
  /// @param any    makes one answer of the threads that wait together
  /// @return       whether it came; false: the block gives up
  template <class Ready, class Any>
  __device__ bool until(Ready ready, KernelFault::What what, int peer, const Place& place, Any any) const {
    std::uint64_t begin = 0;
    for (std::uint32_t spins = 1; !ready(); ++spins) {
      if (spins % kSpinsBetweenLooks != 0) continue;
      begin = look_at_wait(call_, trouble_, begin, what, peer, place);
      if (any(begin == 0)) return false;
    }
    return true;
  }
  template <class Ready>
  __device__ bool until(Ready ready, KernelFault::What what, int peer, const Place& place) const {
    return until(ready, what, peer, place, [](bool over) { return over; });
  }

  __device__ bool gave_up() const { return *static_cast<volatile int*>(&trouble_->gave_up) != 0; }

 private:
  static constexpr std::uint32_t kSpinsBetweenLooks = 512;

  const KernelCall* call_;
  BlockTrouble* trouble_;
};

}  // namespace lanecast::device
