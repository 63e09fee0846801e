#pragma once
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/origin_book.hpp"

namespace lanecast {

/// Where a piece of the tree ends at its top, as far as dumps tell.
struct TreeTop {
  std::string root_bus;  // "0000:20"; "" unknown
  std::string group;     // pieces of the same group hang below the same root
  std::string from;      // the place that tells the root bus; "" where a rule does
};

/// A PCIe switch: its upstream port with the downstream ports below it.
struct TreeSwitch {
  std::string bdf;                 // of the upstream port; "" where an excerpt lacks it
  int above = -1;                  // the switch above; -1: it is the top of a piece
  std::string port;                // the port above, a root port or a downstream port; "" unknown
  std::vector<std::string> ports;  // its downstream ports with something below, in order
  std::string from;                // the place that tells what is above
  TreeTop top;                     // where `above` is -1
};

/// A GPU or an adapter.
struct TreeLeaf {
  int above = -1;
  std::string port;
  std::string from;
  bool placed = false;  // false: no dump tells what is above it
  TreeTop top;
};

/// The PCIe tree above some devices, without the bridges that are no nodes of a machine: root ports and
/// downstream ports are ends of links.
struct PciTree {
  std::vector<TreeSwitch> switches;  // each behind the one above it
  std::vector<TreeLeaf> leaves;      // one a device, in the order given
};

/// Finds the tree above devices: by the bridge that dumps state, by the bus numbers below bridges
/// (secondary_bus), and by NCCL's files, which skip downstream ports. Which bridges are ports and which are
/// switches: as their capabilities say, else by structure: on a root bus are root ports, below a port is a
/// switch, below a switch are ports.
///
/// A bridge that nobody names above, and circles, end a piece: a contradiction or a note says so.
/// @param devices  addresses; "" for one that has none
PciTree pci_tree(const MachineFacts& facts, const std::vector<std::string>& devices, OriginBook& book);

}  // namespace lanecast
