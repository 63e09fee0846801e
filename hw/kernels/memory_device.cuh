#pragma once
#include <cstdint>

/// Loads and stores that other GPUs and the host see. Volatile: never taken from a stale first-level cache,
/// and never dropped or repeated by the compiler; the polling loads and line stores of NCCL (facts.md A3,
/// A4).
namespace lanecast::device {

/// 16 bytes, as two words.
struct alignas(16) Pack {
  std::uint64_t low;
  std::uint64_t high;
};

__device__ inline Pack load_shared_pack(const void* from) {
  Pack pack;
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(pack.low), "=l"(pack.high)
               : "l"(from)
               : "memory");
  return pack;
}

__device__ inline void store_shared_pack(void* to, const Pack& pack) {
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(pack.low), "l"(pack.high)
               : "memory");
}

/// An LL line: data, flag, data, flag.
struct alignas(16) LlWords {
  std::uint32_t data_low;
  std::uint32_t flag_low;
  std::uint32_t data_high;
  std::uint32_t flag_high;
};

__device__ inline LlWords load_line(const void* from) {
  LlWords line;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(line.data_low), "=r"(line.flag_low), "=r"(line.data_high), "=r"(line.flag_high)
               : "l"(from)
               : "memory");
  return line;
}

__device__ inline void store_line(void* to, std::uint64_t data, std::uint32_t flag) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to),
               "r"(static_cast<std::uint32_t>(data)), "r"(flag), "r"(static_cast<std::uint32_t>(data >> 32))
               : "memory");
}

__device__ inline std::uint64_t load_counter(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline std::uint32_t load_flag(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline void store_counter(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/// What this thread, and those that met it at a barrier before, have written is seen before what follows.
__device__ inline void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ inline std::uint64_t device_time_ns() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// A barrier of `threads` threads (whole warps) of the block, by number: 0 is __syncthreads.
__device__ inline void block_barrier(int number, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

}  // namespace lanecast::device
