#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "hw/engine/kernel_call.hpp"
#include "hw/kernels/copy_kernels.hpp"

namespace lanecast::support {

/// A moment within a rank's calls: the step has what it waits for, and nothing is passed on yet.
struct CallMoment {
  std::uint64_t call = 1;  // number in its communicator, from 1
  int step = 0;
};

/// What a pretended kernel does wrong.
struct KernelMischief {
  std::optional<CallMoment> dies;       // its process kills itself
  std::optional<CallMoment> hangs;      // goes no further, until it is told to give up or the time is over
  std::chrono::milliseconds starts{0};  // time that every kernel takes before it begins
};

/// One block of a call, on the thread that calls it: the shared schedule over the real layout, with the
/// steps' counters, bounded waits and faults of the CUDA kernels. Payload lies in the slots as it is, and the
/// counters alone say that it is there, whatever the protocol.
void run_pretended_block(const KernelCall& call, int block, const KernelMischief& mischief);

/// The same for copy engines: asks the proxy for a job, waits for a counter in host memory, sets one.
void pretended_copy_request(const CopyRequest& request, const std::uint32_t* broken);
void pretended_copy_wait(const KernelCall& call, const CopyWait& wait);
void pretended_copy_post(std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                         const std::uint32_t* broken);

}  // namespace lanecast::support
