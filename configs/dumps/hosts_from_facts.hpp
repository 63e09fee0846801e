#pragma once
#include <vector>

#include "configs/dumps/assumed_values.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/origin_book.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Adds the NUMA nodes, the root complexes and the links between NUMA nodes to a machine.
///
/// Links: within a socket every two NUMA nodes have one, wide and short; of different sockets the first nodes
/// have one. Where there are more than eight, all of them lead to the first.
///
/// @return  what the processor of each NUMA node is assumed to do
std::vector<HostRates> add_hosts(const MachineFacts& facts, const Layout& layout, Machine& machine,
                                 OriginBook& book);

/// The links between NUMA nodes, which come last.
void add_socket_links(const std::vector<HostRates>& rates, Machine& machine, OriginBook& book);

}  // namespace lanecast
