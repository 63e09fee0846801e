#include "configs/measured/nccl_settings.hpp"

#include <algorithm>

#include "configs/measured/cell_values.hpp"

namespace lanecast {

std::string nccl_implementation(int minor, MeasuredReading& reading, int line) {
  constexpr int oldest = 18, newest = 30;  // implementation_from_string
  const int taken = std::clamp(minor, oldest, newest);
  if (taken != minor) {
    reading.note("NCCL 2." + std::to_string(minor) + " is not modelled; the rules of 2." +
                     std::to_string(taken) + " are taken for it",
                 line);
  }
  return "nccl-2." + std::to_string(taken);
}

void settle_environment(MeasuredCall& measured) {
  const auto value = [&](const char* name) {
    const auto found = measured.environment.find(name);
    return found == measured.environment.end() ? std::string() : CellValues::lower(found->second);
  };
  Call& call = measured.call;
  if (!call.protocol) call.protocol = protocol_from_string(value("NCCL_PROTO"));
  if (!call.algorithm) {
    const std::string algorithm = value("NCCL_ALGO");
    if (algorithm == "ring") call.algorithm = Algorithm::ring;
    if (algorithm == "tree") call.algorithm = Algorithm::tree;
  }
  const bool no_peers = value("NCCL_P2P_DISABLE") == "1" || value("NCCL_P2P_LEVEL") == "loc";
  if (!call.transport && no_peers && value("NCCL_SHM_DISABLE") != "1") call.transport = Transport::shm;
  if (!measured.stated.registration && value("NCCL_GRAPH_REGISTER") == "0") {
    call.registration = Registration::off;
    measured.stated.registration = true;
  }
}

}  // namespace lanecast
