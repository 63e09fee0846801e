#pragma once
#include <string>
#include <vector>

#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/matrix_cells.hpp"
#include "configs/dumps/origin_book.hpp"
#include "configs/dumps/pci_tree.hpp"

namespace lanecast {

/// Where something stands, and why: the place that says so, or the rule that chose it.
struct Placement {
  int above = -1;    // switch; -1: directly on a port of `root`
  int root = 0;      // root complex, also below switches
  std::string port;  // address of the port above; "" unknown
  std::string from;  // "" where `rule` decided
  std::string rule;
};

struct LayoutSwitch {
  Placement place;
  std::string bdf;
  std::vector<std::string> ports;
};

struct LayoutRoot {
  std::string bus;  // "0000:20"; "" unknown
  std::string bus_from;
  int cpu = 0;
  std::string cpu_from;
  std::string cpu_rule;
  bool cpu_known = true;  // false: neither a dump nor a distance tells
};

struct LayoutCpu {
  std::optional<int> numa;
  std::string numa_from;
  std::string numa_rule;
  std::string cores;  // of a matrix's column; "" where none shows them
  std::string cores_from;
};

/// The nodes of a machine and where they hang, before they have values.
struct Layout {
  std::vector<LayoutCpu> cpus;
  std::vector<LayoutRoot> roots;       // in the order of the first item below
  std::vector<LayoutSwitch> switches;  // the same; each behind the one above it
  std::vector<Placement> leaves;       // one an item
};

/// Puts the pieces of the PCI tree together, and what no dump places: by the matrices, which the result
/// reproduces wherever they are those of a tree; else by NUMA nodes; else each on a root of its own.
///
/// From a matrix alone: NUMA nodes are the classes of "nearer than SYS", roots those of "PHB or nearer",
/// hierarchies of switches those of "PXB or nearer", switches those of PIX. A hierarchy with several of
/// these has a switch above them. Where NVLink hides a distance, and in gaps, the farthest one holds that
/// keeps all others; of two GPUs of one NUMA node NODE.
Layout machine_layout(const MachineFacts& facts, const Items& items, const MatrixCells& cells,
                      const PciTree& tree, OriginBook& book);

}  // namespace lanecast
