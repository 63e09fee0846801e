#include "model/topology/peer_access.hpp"

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

bool able(const Gpu& gpu) { return gpu.p2p ? *gpu.p2p : model_has_peer_access(gpu.model); }

std::string inability(const Gpu& gpu) {
  if (gpu.p2p) return "`" + gpu.name + "` has p2p: false";
  return "`" + gpu.name + "` (" + gpu.model + ") has no PCIe peer access with the vendor's driver";
}

}  // namespace

bool model_has_peer_access(const std::string& gpu_model) {
  if (gpu_model.find("GeForce") == std::string::npos) return true;
  for (const char* series : {"RTX 20", "RTX 30", "RTX 40", "RTX 50"}) {
    if (gpu_model.find(series) != std::string::npos) return false;
  }
  return true;
}

PeerVerdict peer_access(const Machine& machine, int from_gpu, int to_gpu, Distance default_level) {
  return peer_access_within(machine, from_gpu, to_gpu, machine.p2p.level.value_or(default_level));
}

PeerVerdict peer_access_within(const Machine& machine, int from_gpu, int to_gpu, Distance level) {
  if (!machine.p2p.enabled) return {false, "peer access is off for the machine (p2p.enabled)"};
  if (level == Distance::loc) return {false, "peer access is off for the machine (p2p.level LOC)"};
  const Distance far = distance(machine, from_gpu, to_gpu);
  if (far == Distance::nvl) return {true, "NVLink"};
  for (const int gpu : {from_gpu, to_gpu}) {
    const Gpu& card = machine.gpus[static_cast<std::size_t>(gpu)];
    if (!able(card)) return {false, inability(card)};
  }
  if (!peer_route(machine, from_gpu, to_gpu)) return {false, "no PCIe route between the two"};
  const std::string how = std::string(to_string(far)) + (far <= level ? " within" : " is beyond") +
                          " the level " + to_string(level);
  return {far <= level, how, true};
}

}  // namespace lanecast
