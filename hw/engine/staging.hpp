#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lanecast {

/// Who moves the data between two GPUs that meet in host memory: kernels by loads and stores, or the GPUs'
/// copy engines, with kernels for the sums only. Copy engines take long to start and are faster at large
/// sizes (shared between loads and stores, an SM-driven path stops near 33 GB/s where they reach 50:
/// h200-findings.md).
enum class Staging : std::uint8_t { kernels, copy_engines };

const char* to_string(Staging staging);  // "sm", "ce"
std::optional<Staging> staging_from_string(const std::string& text);

}  // namespace lanecast
