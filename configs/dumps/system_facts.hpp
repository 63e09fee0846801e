#pragma once
#include <string>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/sysfs_tree.hpp"

namespace lanecast {

/// Adds what the files of a Linux system say about it: the PCI tree with links, error counters, power states,
/// memory windows and, as far as they can be read, configuration spaces; NUMA nodes and sockets; IOMMU;
/// network ports; the GPUs' driver; host name. docs/import.md lists the files. Reads nothing else, writes
/// nothing, and takes some milliseconds on a server.
///
/// @param from  how statements name the system: "box.txt", "live"
/// @return      how many PCI functions were taken; 0: the files show no PCI bus
int add_system_facts(const SystemFiles& files, const std::string& from, MachineFacts& facts);

}  // namespace lanecast
