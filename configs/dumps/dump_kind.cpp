#include "configs/dumps/dump_kind.hpp"

namespace lanecast {
namespace {

struct KindRow {
  DumpKind kind;
  const char* name;
  const char* made_by;
};

const std::vector<KindRow>& rows() {
  static const std::vector<KindRow> table{
      {DumpKind::lspci_tree, "lspci-tree", "lspci -tv"},
      {DumpKind::lspci_verbose, "lspci", "lspci -vvv"},
      {DumpKind::nvidia_smi_topo, "nvidia-smi-topo", "nvidia-smi topo -m"},
      {DumpKind::nvidia_smi_p2p, "nvidia-smi-p2p", "nvidia-smi topo -p2p w"},
      {DumpKind::nvidia_smi_query, "nvidia-smi-q", "nvidia-smi -q"},
      {DumpKind::nvidia_smi_xml, "nvidia-smi-xml", "nvidia-smi -q -x"},
      {DumpKind::nvidia_smi_csv, "nvidia-smi-csv", "nvidia-smi --query-gpu=... --format=csv"},
      {DumpKind::nvidia_smi_table, "nvidia-smi", "nvidia-smi"},
      {DumpKind::nccl_topology, "nccl-topology", "NCCL_TOPO_DUMP_FILE"},
      {DumpKind::nccl_graph, "nccl-graph", "NCCL_GRAPH_DUMP_FILE"},
      {DumpKind::nccl_log, "nccl-log", "NCCL_DEBUG=INFO"},
      {DumpKind::hwloc_xml, "hwloc-xml", "lstopo box.xml"},
      {DumpKind::collected, "collected", "the script of `lanecast topo collect`"},
      {DumpKind::machine_file, "machine", "lanecast's own, which begins with `lanecast: 1`"},
  };
  return table;
}

const KindRow& row_of(DumpKind kind) {
  for (const KindRow& row : rows()) {
    if (row.kind == kind) return row;
  }
  return rows().front();
}

}  // namespace

const char* to_string(DumpKind kind) { return row_of(kind).name; }

const char* made_by(DumpKind kind) { return row_of(kind).made_by; }

std::optional<DumpKind> dump_kind_from_string(const std::string& text) {
  for (const KindRow& row : rows()) {
    if (text == row.name) return row.kind;
  }
  return std::nullopt;
}

const std::vector<DumpKind>& dump_kinds() {
  static const std::vector<DumpKind> kinds = [] {
    std::vector<DumpKind> all;
    for (const KindRow& row : rows()) all.push_back(row.kind);
    return all;
  }();
  return kinds;
}

}  // namespace lanecast
