#pragma once
#include <optional>
#include <string>
#include <utility>

#include "configs/dumps/facts.hpp"

struct hwloc_topology;  // hwloc's own name, so that readers of this header need no hwloc

namespace lanecast {

class XmlDocument;

/// Adds what a loaded hwloc topology says: PCI functions with the bridges above them, NUMA nodes, packages,
/// the system's names of GPUs and network adapters, NVLink bandwidths.
///
/// Keep all input and output objects when loading it (`hwloc_topology_set_io_types_filter`): bridges that
/// hwloc leaves out are missing in the tree.
/// @param from  how statements name their place: "hwloc"
/// @return      how many PCI functions and NUMA nodes it holds; 0 also where hwloc cannot export it
int add_hwloc_facts(struct hwloc_topology* topology, const std::string& from, MachineFacts& facts);

/// The same from hwloc's XML, read here: libhwloc 2.9 follows null pointers in files that are not its own,
/// and takes nothing of one that is cut.
///
/// @param from  as above; nothing: each statement names its line
int add_hwloc_document(const XmlDocument& document, const std::optional<std::string>& from,
                       MachineFacts& facts);

/// The link that hwloc's link speed stands for, where only one pair of rate and width makes that number:
/// hwloc multiplies the two as the link runs. Most pairs share their product (Gen3 x16, Gen4 x8, Gen5 x4).
/// @param GBps  payload in one direction as hwloc counts it, 63.02 for Gen5 x16
std::optional<std::pair<PcieRate, int>> link_of_hwloc_speed(double GBps);

}  // namespace lanecast
