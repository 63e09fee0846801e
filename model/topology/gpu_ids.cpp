#include "model/topology/gpu_ids.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t kNvidia = 0x10de;
constexpr std::uint32_t kAmd = 0x1002;

struct Row {
  std::uint32_t vendor;
  std::uint32_t device;
  const char* model;
  int sm;
};

constexpr Row kRows[] = {
    {kNvidia, 0x15f8, "Tesla P100-PCIE-16GB", 60},
    {kNvidia, 0x15f9, "Tesla P100-SXM2-16GB", 60},
    {kNvidia, 0x1db1, "Tesla V100-SXM2-16GB", 70},
    {kNvidia, 0x1db4, "Tesla V100-PCIE-16GB", 70},
    {kNvidia, 0x1db5, "Tesla V100-SXM2-32GB", 70},
    {kNvidia, 0x1db6, "Tesla V100-PCIE-32GB", 70},
    {kNvidia, 0x1db8, "Tesla V100-SXM3-32GB", 70},
    {kNvidia, 0x1e04, "NVIDIA GeForce RTX 2080 Ti", 75},
    {kNvidia, 0x1e07, "NVIDIA GeForce RTX 2080 Ti", 75},
    {kNvidia, 0x1eb8, "Tesla T4", 75},
    {kNvidia, 0x20b0, "NVIDIA A100-SXM4-40GB", 80},
    {kNvidia, 0x20b2, "NVIDIA A100-SXM4-80GB", 80},
    {kNvidia, 0x20b5, "NVIDIA A100 80GB PCIe", 80},
    {kNvidia, 0x20b7, "NVIDIA A30", 80},
    {kNvidia, 0x20f1, "NVIDIA A100-PCIE-40GB", 80},
    {kNvidia, 0x2203, "NVIDIA GeForce RTX 3090 Ti", 86},
    {kNvidia, 0x2204, "NVIDIA GeForce RTX 3090", 86},
    {kNvidia, 0x2230, "NVIDIA RTX A6000", 86},
    {kNvidia, 0x2235, "NVIDIA A40", 86},
    {kNvidia, 0x2236, "NVIDIA A10", 86},
    {kNvidia, 0x2237, "NVIDIA A10G", 86},
    {kNvidia, 0x2321, "NVIDIA H100 NVL", 90},
    {kNvidia, 0x2324, "NVIDIA H800", 90},
    {kNvidia, 0x2329, "NVIDIA H20", 90},
    {kNvidia, 0x2330, "NVIDIA H100 80GB HBM3", 90},
    {kNvidia, 0x2331, "NVIDIA H100 PCIe", 90},
    {kNvidia, 0x2335, "NVIDIA H200", 90},
    {kNvidia, 0x233b, "NVIDIA H200 NVL", 90},
    {kNvidia, 0x2342, "NVIDIA GH200 480GB", 90},
    {kNvidia, 0x2684, "NVIDIA GeForce RTX 4090", 89},
    {kNvidia, 0x26b1, "NVIDIA RTX 6000 Ada Generation", 89},
    {kNvidia, 0x26b5, "NVIDIA L40", 89},
    {kNvidia, 0x26b9, "NVIDIA L40S", 89},
    {kNvidia, 0x27b8, "NVIDIA L4", 89},
    {kNvidia, 0x2901, "NVIDIA B200", 100},
    {kNvidia, 0x2941, "NVIDIA GB200", 100},
    {kNvidia, 0x2b85, "NVIDIA GeForce RTX 5090", 120},
    {kNvidia, 0x2bb1, "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120},
    {kNvidia, 0x2bb4, "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120},
    {kNvidia, 0x2bb5, "NVIDIA RTX PRO 6000 Blackwell Server Edition", 120},
    {kAmd, 0x66a0, "AMD Instinct MI60 / MI50", 0},
    {kAmd, 0x66a1, "AMD Instinct MI60 / MI50", 0},
    {kAmd, 0x738c, "AMD Instinct MI100", 0},
    {kAmd, 0x7408, "AMD Instinct MI250X", 0},
    {kAmd, 0x740c, "AMD Instinct MI250X / MI250", 0},
    {kAmd, 0x740f, "AMD Instinct MI210", 0},
    {kAmd, 0x74a0, "AMD Instinct MI300A", 0},
    {kAmd, 0x74a1, "AMD Instinct MI300X", 0},
    {kAmd, 0x74a5, "AMD Instinct MI325X", 0},
    {kAmd, 0x75a0, "AMD Instinct MI350X", 0},
    {kAmd, 0x75a3, "AMD Instinct MI355X", 0},
};

}  // namespace

std::optional<KnownGpu> known_gpu(const PciId& id) {
  for (const Row& row : kRows) {
    if (row.vendor == id.vendor && row.device == id.device) return KnownGpu{row.model, row.sm};
  }
  return std::nullopt;
}

std::optional<std::string> gpu_model_of(std::uint32_t vendor, std::uint32_t device) {
  const std::optional<KnownGpu> gpu = known_gpu({vendor, device});
  return gpu ? std::optional(gpu->model) : std::nullopt;
}

std::optional<PciId> pci_id_of_gpu(const std::string& model) {
  for (const Row& row : kRows) {
    if (model == row.model) return PciId{row.vendor, row.device};
  }
  return std::nullopt;
}

}  // namespace lanecast
