#include "hw/engine/staging.hpp"

namespace lanecast {

const char* to_string(Staging staging) { return staging == Staging::kernels ? "sm" : "ce"; }

std::optional<Staging> staging_from_string(const std::string& text) {
  for (const Staging staging : {Staging::kernels, Staging::copy_engines}) {
    if (text == to_string(staging)) return staging;
  }
  return std::nullopt;
}

}  // namespace lanecast
