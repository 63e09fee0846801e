#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/link/pcie_rate.hpp"

namespace lanecast {

/// What a GPU says about its clocks and its link at one moment. Absent: it does not say.
struct GpuState {
  std::optional<int> sm_clock_MHz;
  std::optional<int> memory_clock_MHz;
  std::optional<PcieRate> rate;
  std::optional<int> width;
  std::optional<int> performance_state;
};

/// A GPU before a measurement, and what was seen while it worked.
struct GpuStates {
  std::string bus_id;  // "0000:3b:00.0"
  GpuState before;
  std::optional<int> sm_clock_MHz_min;  // of all looks under load
  std::optional<int> sm_clock_MHz_max;
  GpuState loaded;  // the last look under load
  int looks = 0;
};

/// Looks at GPUs through NVIDIA's management library. Where that is not there, nothing is known.
class GpuWatch {
 public:
  /// Looks a first time.
  /// @param bus_ids  of the GPUs, as CUDA writes them or as NVML does
  explicit GpuWatch(const std::vector<std::string>& bus_ids,
                    const std::string& library = "libnvidia-ml.so.1");
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Looks while the GPUs work, unless it did so a moment ago: a look takes some 100 us.
  void look();

  const std::vector<GpuStates>& states() const { return states_; }

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::vector<GpuStates> states_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace lanecast
