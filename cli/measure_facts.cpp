#include "cli/measure_facts.hpp"

#include <cuda_runtime_api.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <exception>
#include <fstream>

#include "cli/live_machine.hpp"
#include "configs/machine_writer.hpp"
#include "hw/nvml_discovery.hpp"

namespace lanecast {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = {};
  const bool known = gmtime_r(&now, &parts) != nullptr &&
                     std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) != 0;
  return known ? text : "";
}

/// The first value of a key in /proc/cpuinfo.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

/// 13000 is 13.0.
std::optional<std::string> cuda_version(cudaError_t (*ask)(int*)) {
  int version = 0;
  if (ask(&version) != cudaSuccess || version <= 0) return std::nullopt;
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Text of `topo discover`. A machine that cannot be read is no reason not to measure it.
std::string machine_file(const Session& session) {
  try {
    return write_machine(live_machine("", session).machine);
  } catch (const std::exception& error) {
    session.note("the machine file is left out: " + std::string(error.what()));
    return "";
  }
}

}  // namespace

MeasuredMachine measured_machine(const CudaDevices& cuda, bool all, const Session& session) {
  MeasuredMachine machine;
  machine.host = session.run_info("").host;
  utsname system{};
  if (uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
  machine.cpu = cpu_model();
  machine.captured = utc_now();
  machine.driver = discover_nvml_devices().driver;
  machine.cuda_driver = cuda_version(&cudaDriverGetVersion);
  machine.cuda_runtime = cuda_version(&cudaRuntimeGetVersion);
  for (std::size_t i = 0; i < cuda.devices.size(); ++i) {
    MeasuredGpu gpu;
    gpu.index = static_cast<int>(i);
    gpu.name = cuda.devices[i].name;
    gpu.bus_id = lower(cuda.devices[i].bus_id);
    gpu.sm = cuda.devices[i].sm;
    gpu.memory = cuda.devices[i].memory;
    machine.gpus.push_back(gpu);
  }
  if (all) machine.machine_file = machine_file(session);
  return machine;
}

void add_states(const std::vector<GpuStates>& states, MeasuredMachine& machine) {
  for (const GpuStates& state : states) {
    for (MeasuredGpu& gpu : machine.gpus) {
      if (gpu.bus_id != state.bus_id) continue;
      gpu.sm_clock_MHz_before = state.before.sm_clock_MHz;
      gpu.memory_clock_MHz_before = state.before.memory_clock_MHz;
      gpu.sm_clock_MHz_min = state.sm_clock_MHz_min;
      gpu.sm_clock_MHz_max = state.sm_clock_MHz_max;
      gpu.memory_clock_MHz = state.loaded.memory_clock_MHz;
      if (state.loaded.rate) gpu.pcie_generation = static_cast<int>(*state.loaded.rate);
      gpu.pcie_width = state.loaded.width;
      gpu.performance_state = state.loaded.performance_state;
    }
  }
}

}  // namespace lanecast
