#pragma once
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/sysfs_device.hpp"

namespace lanecast {

/// Adds what a Linux system says about itself rather than about one PCI function: NUMA nodes with their
/// processors and sockets, processor model, whether a hypervisor runs it, IOMMU, host name, NVIDIA's driver
/// and its names of the GPUs.
///
/// @param accelerators  folders of the GPUs among /sys/bus/pci/devices, whose IOMMU groups count
void add_host_facts(const SystemText& system, const std::vector<std::string>& accelerators,
                    MachineFacts& facts);

}  // namespace lanecast
