#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lanecast {

/// The numbers by which a PCI device names its maker and itself.
struct PciId {
  std::uint32_t vendor = 0;  // 0x10de
  std::uint32_t device = 0;
  auto operator<=>(const PciId&) const = default;
};

/// A GPU that its PCI id gives away.
struct KnownGpu {
  std::string model;  // as its vendor's tools print it: "NVIDIA A100-SXM4-40GB"
  int sm = 0;         // compute capability x 10; 0: another vendor's
};

/// A GPU of machines that people tune; nothing for all others.
/// Source: the PCI ID database (pci.ids) for the ids, nvidia-smi and rocm-smi for the names.
std::optional<KnownGpu> known_gpu(const PciId& id);

/// Its model alone.
std::optional<std::string> gpu_model_of(std::uint32_t vendor, std::uint32_t device);

/// The other way: the id of a GPU of exactly this model.
std::optional<PciId> pci_id_of_gpu(const std::string& model);

}  // namespace lanecast
