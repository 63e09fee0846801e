#include "model/implementation/nccl/path_type.hpp"

#include <array>

namespace lanecast {
namespace {

constexpr std::array<const char*, 12> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                             "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

}  // namespace

const char* to_string(PathType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<PathType> path_type_from_string(const std::string& text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<PathType>(i);
  }
  return std::nullopt;
}

}  // namespace lanecast
