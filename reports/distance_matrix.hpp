#pragma once
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The matrix of `nvidia-smi topo -m` (facts.md F4): cells separated by tabs, then a blank line and the
/// legend. GPUs are numbered as in the machine; those that are gone have neither row nor column and are named
/// below the legend, network adapters are listed there by name.
///
/// "CPU Affinity" are the cores of the NUMA node, "NUMA Affinity" is its number; where the machine knows no
/// numbers at all, the position among its CPUs. What is not known is "N/A", as nvidia-smi prints it.
std::string topology_matrix_text(const Machine& machine);

/// Who may store into whose memory, laid out as `nvidia-smi topo -p2p w`: two tables, by the hardware and the
/// driver alone, then by what the machine's level or else `default_level` allows; each with the legend of
/// what occurs. Row: the GPU that stores. Above 512 GPUs a line says that the tables are left out.
///
/// @param default_level  the implementation's, such as NCCL's (default_p2p_level), where the machine sets
/// none
std::string peer_access_text(const Machine& machine, Distance default_level);

}  // namespace lanecast
