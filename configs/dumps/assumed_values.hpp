#pragma once
#include <optional>
#include <string>

#include "model/link/pcie_rate.hpp"
#include "model/topology/cpu_ids.hpp"
#include "model/units.hpp"

namespace lanecast {

/// A value that no dump states, and the rule that chose it.
template <class T>
struct AssumedValue {
  T value{};
  std::string rule;
};

/// What all GPUs of a family have in common.
struct GpuFamily {
  int sm = 0;  // compute capability x 10; 0: another vendor's
  PcieRate rate = PcieRate::gen4;
  int nvlinks = 0;                // of one GPU; 0: none, or not known
  BytesPerSecond nvlink_rate{0};  // of one NVLink or xGMI link, per direction; 0: not known
  std::optional<Bytes> l2;
};

/// By the words of a model's name: "V100" of "Tesla V100-PCIE-16GB".
/// Source: NVIDIA's and AMD's data sheets, recalled; NVLink rates as `nvidia-smi nvlink --status` prints
/// them.
std::optional<GpuFamily> gpu_family(const std::string& model);

/// PCIe generation that a GPU can do: its family's, else that of its compute capability, else Gen4.
AssumedValue<PcieRate> assumed_gpu_rate(const std::string& model, int sm);

/// Rate of one NVLink or xGMI link, per direction.
AssumedValue<BytesPerSecond> assumed_nvlink_rate(const std::string& model, int sm);

/// NVLinks of one GPU; nothing where it is not known.
std::optional<int> nvlinks_of_gpu(const std::string& model, int sm);

/// A network adapter by its name: rate of its port, and the PCIe generation that it can do.
struct AdapterFamily {
  BytesPerSecond rate{0};
  PcieRate link = PcieRate::gen4;
  std::string rule;
};
AdapterFamily assumed_adapter(const std::string& name);

/// What host memory and the link to another socket carry, by the processor's generation.
/// Source: channels and speed of memory by data sheets, recalled, of which devices get 70 to 80 %; socket
/// links: facts.md C4 and C9, and the machines that ship.
struct HostRates {
  BytesPerSecond memory{0};  // of a whole socket, both directions together
  BytesPerSecond socket{0};  // per direction
  std::string rule;
};
HostRates assumed_host_rates(const std::string& vendor, const std::optional<CpuId>& id);

}  // namespace lanecast
