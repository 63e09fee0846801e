#pragma once
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// A topology file for NCCL_TOPO_FILE.
struct NcclTopologyFile {
  std::string xml;
  std::vector<std::string> warnings;  // what NCCL will not take as it is meant, each one sentence
};

/// The machine as NCCL reads it: NUMA nodes, switches, GPUs, NVLinks and network adapters.
///
/// Links carry what they do (status), not what they could: NCCL then counts with a narrow or slow link, which
/// its own detection does not see before 2.30.7 (facts.md A8). What the file leaves out, NCCL fills in on the
/// machine: GPUDirect support, a network's port, identity and latency, classes and makers of switches, and
/// the CPU's numbers where the machine's text does not give them away. NCCL finds GPUs by PCI address: those
/// without one get an invented address (ffff:ff:01.0, ...), as switches without one do, and a warning. A GPU
/// that is not present is left out; the others are numbered in order.
///
/// Not in the format: several root complexes of one NUMA node, payload sizes, ACS, socket links, latencies.
///
/// Machines of AMD's GPUs are written in RCCL's form (version 2, <xgmi>).
/// @param machine  one that check_machine accepts
/// @throws Error   kind usage: more elements than NCCL reads (255)
/// Source: facts.md A9; NVIDIA/nccl src/graph/xml.cc (how it parses, and what it adds), topo.cc.
NcclTopologyFile nccl_topology_xml(const Machine& machine);

}  // namespace lanecast
