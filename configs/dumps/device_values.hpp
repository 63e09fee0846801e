#pragma once
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/origin_book.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// The values of a GPU itself. Model: as nvidia-smi prints it; else what `lspci` has in brackets, else by the
/// ids, else "unknown (10de:2bb5)". Compute capability and last-level cache: as stated, else by the model.
Gpu gpu_values(const GpuItem& item, const std::string& name, OriginBook& book);

/// The values of a network adapter itself.
Nic adapter_values(const MachineFacts& facts, const AdapterItem& item, const std::string& name,
                   OriginBook& book);

/// The values of a switch itself. ACS: on where any of its downstream ports redirects requests.
PcieSwitch switch_values(const MachineFacts& facts, const LayoutSwitch& place, const std::string& name,
                         OriginBook& book);

}  // namespace lanecast
