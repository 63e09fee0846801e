#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanecast::support {

/// Atomic words that threads exchange stand for the GPU's vector loads and stores: no lock, no tearing.
using WireWord = std::atomic<std::uint64_t>;
static_assert(WireWord::is_always_lock_free && sizeof(WireWord) == 8);

/// LL: data 4 B, flag 4 B, data 4 B, flag 4 B. Each half is one 8-byte store and carries its own flag, so
/// that the line needs no order. Released and acquired it is all the same, for what stands behind it: a tree
/// in place writes a rank's result over the input that another thread of the rank has read and sent before.
/// Source: facts.md A3 (NVIDIA/nccl src/device/prims_ll.h).
struct alignas(16) LlLine {
  static constexpr std::size_t payload_bytes = 8;
  static constexpr std::size_t wire_bytes = 16;
  using Flag = std::uint32_t;

  std::array<WireWord, 2> halves;

  static constexpr Flag flag_of(std::uint64_t step) { return static_cast<Flag>(step + 1); }  // wraps

  /// @param data   may be null when bytes is 0
  /// @param bytes  0 to payload_bytes; the rest of the line is zero
  void store(const std::byte* data, std::size_t bytes, Flag flag) {
    std::array<std::uint32_t, 2> words{};
    if (bytes > 0) std::memcpy(words.data(), data, bytes);
    for (std::size_t i = 0; i < 2; ++i) {
      halves[i].store(std::uint64_t{flag} << 32 | words[i], std::memory_order_release);
    }
  }

  /// Takes the line if both halves carry `flag`.
  bool try_load(std::byte* data, std::size_t bytes, Flag flag) const {
    std::array<std::uint32_t, 2> words{};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint64_t half = halves[i].load(std::memory_order_acquire);
      if (static_cast<Flag>(half >> 32) != flag) return false;
      words[i] = static_cast<std::uint32_t>(half);
    }
    std::memcpy(data, words.data(), bytes);
    return true;
  }

  Flag flag(std::size_t half) const {
    return static_cast<Flag>(halves[half].load(std::memory_order_relaxed) >> 32);
  }
};
static_assert(sizeof(LlLine) == LlLine::wire_bytes);

/// LL128: 15 data words of 8 B, then one flag word. A warp stores the line whole; here the flag is released
/// after the data. Source: facts.md A3 (NVIDIA/nccl src/device/prims_ll128.h).
struct alignas(128) Ll128Line {
  static constexpr std::size_t payload_bytes = 120;
  static constexpr std::size_t wire_bytes = 128;
  using Flag = std::uint64_t;

  std::array<WireWord, 15> data_words;
  WireWord flag_word;

  static constexpr Flag flag_of(std::uint64_t step) { return step + 1; }

  void store(const std::byte* data, std::size_t bytes, Flag flag) {
    std::array<std::uint64_t, 15> words{};
    if (bytes > 0) std::memcpy(words.data(), data, bytes);
    for (std::size_t i = 0; i < words.size(); ++i) data_words[i].store(words[i], std::memory_order_relaxed);
    flag_word.store(flag, std::memory_order_release);
  }

  bool try_load(std::byte* data, std::size_t bytes, Flag flag) const {
    if (flag_word.load(std::memory_order_acquire) != flag) return false;
    std::array<std::uint64_t, 15> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = data_words[i].load(std::memory_order_relaxed);
    std::memcpy(data, words.data(), bytes);
    return true;
  }
};
static_assert(sizeof(Ll128Line) == Ll128Line::wire_bytes);

}  // namespace lanecast::support
