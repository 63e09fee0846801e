#include "model/topology/switch_parts.hpp"

namespace lanecast {

bool collapses_on_fan_out(const std::string& switch_model) {
  for (const char* known : {"PEX890", "PEX891", "Switchtec", "PM501", "PM502"}) {
    if (switch_model.find(known) != std::string::npos) return true;
  }
  return false;
}

}  // namespace lanecast
