#pragma once
#include <cstdint>
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast::support {

/// What a PCIe link of a built machine does; capability and status are the same.
struct PcieSpec {
  PcieRate rate = PcieRate::gen4;
  int width = 16;
  Bytes mps{256};
};

/// Single steps, for machines that no builder below makes. Nodes and links are named as in the shipped
/// machines: `cpu0`, `root0`, `sw0` with its link `uplink0`, `gpu0` with its link `gpu0`, `nv0`, `upi0`. Each
/// returns the new node.
NodeId add_cpu(Machine& machine, const std::string& vendor = "amd");
NodeId add_root(Machine& machine, NodeId cpu);
NodeId add_switch(Machine& machine, NodeId above, const PcieSpec& spec = {});
NodeId add_gpu(Machine& machine, NodeId above, const PcieSpec& spec = {});  // an A100: sm 80, 40 MiB of L2
NodeId add_nvswitch(Machine& machine);
void add_nvlink(Machine& machine, NodeId from, NodeId to, int count = 4);               // 25 GB/s a link
void add_socket_link(Machine& machine, NodeId from, NodeId to, double rate_GBps = 20);  // per direction

/// The link of this name, which must exist.
Link& link_named(Machine& machine, const std::string& name);

/// All GPUs below `sw0` below `root0` of one AMD CPU.
Machine one_switch(int gpus, const PcieSpec& spec = {});

/// `gpus_each` GPUs below each of `sw0` and `sw1`, on `root0` and `root1` of one AMD CPU.
Machine two_switches(int gpus_each, const PcieSpec& spec = {});

/// `sw0` below the root, `leaves` switches below it, `gpus_each` GPUs below each of these.
Machine nested_switches(int leaves, int gpus_each, const PcieSpec& spec = {});

/// Each GPU on a port of one root complex.
Machine one_root(int gpus, const PcieSpec& spec = {});

/// Each GPU on a root complex of its own, all of one AMD CPU.
Machine own_roots(int gpus, const PcieSpec& spec = {});

/// `gpus_each` GPUs on root ports of each of two CPUs, joined by `upi0`.
Machine two_sockets(int gpus_each = 1, const PcieSpec& spec = {});

/// Two GPUs on roots of their own, joined by four NVLinks `nv0`.
Machine nvlink_pair(const PcieSpec& spec = {});

/// GPUs on roots of their own, each with NVLinks to one NVSwitch.
Machine with_nvswitch(int gpus, const PcieSpec& spec = {});

/// Eight V100 on two Intel sockets, joined by six NVLinks each as in a DGX-1: pairs with one link or two.
Machine cube_mesh();

/// A machine that check_machine accepts: 1 or 2 sockets, roots with 0 to 2 levels of switches, 2 to 16 GPUs
/// (2 at least present), links of any generation, width and payload, some of them degraded, sleepy or with
/// errors, now and then NVLink pairs, ACS, GPUs without peer access, limits of a root. The same on every
/// platform.
Machine random_machine(std::uint64_t seed);

}  // namespace lanecast::support
