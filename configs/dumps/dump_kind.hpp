#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanecast {

/// What a file of a machine may hold. One text file may hold several of the line-wise ones, one after another
/// or with a shell's prompts between.
enum class DumpKind {
  lspci_tree,        // lspci -t, -tv
  lspci_verbose,     // lspci, -v, -vv, -vvv, -nn, -D
  nvidia_smi_topo,   // nvidia-smi topo -m
  nvidia_smi_p2p,    // nvidia-smi topo -p2p r|w|n|a|p
  nvidia_smi_query,  // nvidia-smi -q
  nvidia_smi_xml,    // nvidia-smi -q -x
  nvidia_smi_csv,    // nvidia-smi --query-gpu=... --format=csv
  nvidia_smi_table,  // nvidia-smi, nvidia-smi -L
  nccl_topology,     // NCCL_TOPO_DUMP_FILE, RCCL's models
  nccl_graph,        // NCCL_GRAPH_DUMP_FILE
  nccl_log,          // NCCL_DEBUG=INFO, also within nccl-tests' output
  hwloc_xml,         // lstopo box.xml
  collected,         // what the script of `topo collect` writes
  machine_file,      // lanecast's own YAML
};

/// "lspci-tree", "nvidia-smi-topo", ...: as `--as` takes it.
const char* to_string(DumpKind kind);
std::optional<DumpKind> dump_kind_from_string(const std::string& text);

/// All kinds, in the order of the enumeration.
const std::vector<DumpKind>& dump_kinds();

/// The command that writes such a file: "lspci -vvv", "nvidia-smi topo -m".
const char* made_by(DumpKind kind);

}  // namespace lanecast
