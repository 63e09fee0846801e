#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/kernels/elements_device.cuh"
#include "hw/kernels/memory_device.cuh"

/// What a line is, for a thread: its words, which lines it has, how it takes and puts them.
namespace lanecast::device {

/// LL: a thread has a line of 16 B with 8 B of data (facts.md A3).
struct LlLines {
  static constexpr int unroll = 4;
  struct Part {
    static constexpr int words = 1;
    std::uint64_t at[1];
  };

  static __device__ std::uint64_t units(std::uint64_t bytes) { return (bytes + 7) / 8; }
  static __device__ std::uint64_t first() { return threadIdx.x; }
  static __device__ std::uint64_t stride(int threads) { return static_cast<std::uint64_t>(threads); }
  static __device__ bool all_agree(bool mine) { return mine; }
  static __device__ bool any(bool mine) { return mine; }
  static __device__ std::uint32_t flag(std::uint64_t step) { return static_cast<std::uint32_t>(step + 1); }

  template <std::size_t Size>
  static __device__ Part load(const std::byte* share, std::uint64_t unit, std::uint64_t bytes, bool aligned) {
    return {{load_word<Size>(share + 8 * unit, bytes - 8 * unit, aligned)}};
  }
  template <std::size_t Size>
  static __device__ void store(std::byte* share, std::uint64_t unit, std::uint64_t bytes, bool aligned,
                               const Part& part) {
    store_word<Size>(share + 8 * unit, part.at[0], bytes - 8 * unit, aligned);
  }
  static __device__ bool take(const std::byte* slot, std::uint64_t unit, std::uint64_t step, Part& part) {
    const LlWords line = load_line(slot + 16 * unit);
    part.at[0] = static_cast<std::uint64_t>(line.data_high) << 32 | line.data_low;
    return line.flag_low == flag(step) && line.flag_high == flag(step);
  }
  static __device__ void put(std::byte* slot, std::uint64_t unit, std::uint64_t step, const Part& part) {
    store_line(slot + 16 * unit, part.at[0], flag(step));
  }
};

/// LL128: eight threads have a line of 128 B; the last one's second word is the flag. A warp has four lines,
/// a row of 480 B of data (facts.md A3).
struct Ll128Lines {
  static constexpr int unroll = 2;
  struct Part {
    static constexpr int words = 2;
    std::uint64_t at[2];
  };

  static __device__ std::uint64_t units(std::uint64_t bytes) { return (bytes + 479) / 480; }
  static __device__ std::uint64_t first() { return threadIdx.x / 32; }
  static __device__ std::uint64_t stride(int threads) { return static_cast<std::uint64_t>(threads / 32); }
  static __device__ bool all_agree(bool mine) { return __all_sync(0xffffffffu, mine) != 0; }
  static __device__ bool any(bool mine) { return __any_sync(0xffffffffu, mine) != 0; }
  static __device__ bool has_flag() { return threadIdx.x % 8 == 7; }

  /// Where this thread's first word lies in the data.
  static __device__ std::uint64_t begin(std::uint64_t unit) {
    const std::uint64_t lane = threadIdx.x % 32;
    return 480 * unit + lane / 8 * 120 + lane % 8 * 16;
  }

  template <std::size_t Size>
  static __device__ Part load(const std::byte* share, std::uint64_t unit, std::uint64_t bytes, bool aligned) {
    Part part{{0, 0}};
    const std::uint64_t at = begin(unit);
    if (at < bytes) part.at[0] = load_word<Size>(share + at, bytes - at, aligned);
    if (at + 8 < bytes && !has_flag()) part.at[1] = load_word<Size>(share + at + 8, bytes - at - 8, aligned);
    return part;
  }
  template <std::size_t Size>
  static __device__ void store(std::byte* share, std::uint64_t unit, std::uint64_t bytes, bool aligned,
                               const Part& part) {
    const std::uint64_t at = begin(unit);
    if (at < bytes) store_word<Size>(share + at, part.at[0], bytes - at, aligned);
    if (at + 8 < bytes && !has_flag()) store_word<Size>(share + at + 8, part.at[1], bytes - at - 8, aligned);
  }
  static __device__ bool take(const std::byte* slot, std::uint64_t unit, std::uint64_t step, Part& part) {
    __syncwarp();  // the threads of a line load it together
    const Pack pack = load_shared_pack(slot + 512 * unit + threadIdx.x % 32 * 16);
    part.at[0] = pack.low;
    part.at[1] = pack.high;
    return !has_flag() || pack.high == step + 1;
  }
  static __device__ void put(std::byte* slot, std::uint64_t unit, std::uint64_t step, const Part& part) {
    __syncwarp();  // and store it together: the flag must not come before the data
    store_shared_pack(slot + 512 * unit + threadIdx.x % 32 * 16,
                      {part.at[0], has_flag() ? step + 1 : part.at[1]});
  }
};

}  // namespace lanecast::device
