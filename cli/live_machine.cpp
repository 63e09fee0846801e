#include "cli/live_machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "configs/dumps/device_role.hpp"
#include "configs/dumps/discover.hpp"
#include "configs/dumps/live_hwloc.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

#ifdef LANECAST_WITH_HW
#include "cli/live_gpus.hpp"
#include "hw/wake.hpp"
#endif

namespace lanecast {
namespace {

/// 2026-11-30T06:25:03Z
std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  char text[32] = {};
  if (gmtime_r(&now, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
    return "";
  }
  return text;
}

std::string sysroot() {
  const char* chosen = std::getenv("LANECAST_SYSROOT");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/";
}

#ifdef LANECAST_WITH_HW

MachineFacts facts_of_awake_machine(const Session& session) {
  const AwakeGpus awake;
  awake.wait_until_busy(Seconds(15.0));
  const std::vector<bool> busy = awake.busy();
  session.detail("keeping " + std::to_string(busy.size()) + " GPUs awake while their links are read");
  MachineFacts facts = live_facts("/", utc_now());
  add_live_hwloc(facts);
  add_live_gpus(busy, facts);
  return facts;
}

#else

MachineFacts facts_of_awake_machine(const Session&) {
  MachineFacts facts = live_facts("/", utc_now());
  add_live_hwloc(facts);
  facts.notes.push_back(
      "live: this lanecast was built without CUDA (nvcc was not found), so peer access and NVLink were not "
      "asked for, and idle GPUs were not woken; add `nvidia-smi topo -m` and `nvidia-smi -q`");
  return facts;
}

#endif

}  // namespace

MachineFacts discover_machine(const Session& session) {
  const std::string root = sysroot();
  if (root == "/") return facts_of_awake_machine(session);
  session.detail("LANECAST_SYSROOT: reading the system below " + root);
  return live_facts(root, utc_now());
}

ImportedMachine live_machine(const std::string& name, const Session& session) {
  const MachineFacts facts = discover_machine(session);
  const std::string host = facts.host.empty() ? "live" : facts.host.all().front().value;
  const auto is_gpu = [](const auto& device) { return role_of(device.second) == DeviceRole::gpu; };
  if (std::any_of(facts.devices.begin(), facts.devices.end(), is_gpu)) {
    return machine_from_facts(facts, name.empty() ? host : name);
  }
  for (const std::string& note : facts.notes) session.note(note);
  throw Error(
      ErrorKind::no_hardware, "this machine shows no GPU",
      printable(host) + ", " + std::to_string(facts.devices.size()) + " PCI functions",
      "run it where the GPUs are, and outside of containers; where lanecast is not installed, the script "
      "that `lanecast topo collect` prints does the same");
}

LiveFiles live_files() { return LiveFiles(sysroot()); }

}  // namespace lanecast
