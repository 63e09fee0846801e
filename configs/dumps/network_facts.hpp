#pragma once
#include "configs/dumps/facts.hpp"
#include "configs/dumps/sysfs_device.hpp"

namespace lanecast {

/// Adds names and rates of network ports to the PCI functions that are among the facts already, from
/// /sys/class/infiniband and /sys/class/net. A function with an InfiniBand (or RoCE) port is named after it,
/// "mlx5_0", as NCCL and nvidia-smi do; else after its first interface. Ports without a link have no rate.
void add_network_facts(const SystemText& system, MachineFacts& facts);

}  // namespace lanecast
