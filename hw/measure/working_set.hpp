#pragma once
#include <algorithm>
#include <cstdint>

#include "model/units.hpp"

namespace lanecast {

/// Where in a buffer the calls of a timing lie: one call behind the other, and round again, so that the data
/// of a call were not just in the L2 cache; as in nccl-tests (src/common.cu, startColl).
struct Rotation {
  std::uint64_t stride = 0;  // bytes between the starts of two places
  int places = 1;

  std::uint64_t offset(int call) const { return stride * static_cast<std::uint64_t>(call % places); }
};

inline constexpr std::uint64_t kPlaceAlignment = 512;

/// @param span   bytes that the calls may rotate over; the first place needs `size` even if that is more
/// @param calls  of one timing: more places than that are of no use
inline Rotation rotation_of(Bytes size, Bytes span, int calls) {
  Rotation rotation;
  rotation.stride = (size.value() + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
  if (rotation.stride == 0 || span.value() < size.value()) return rotation;
  const std::uint64_t places = (span.value() - size.value()) / rotation.stride + 1;
  rotation.places = static_cast<int>(std::min<std::uint64_t>(places, static_cast<std::uint64_t>(calls)));
  return rotation;
}

}  // namespace lanecast
