#pragma once
#include <map>
#include <string>

#include "model/topology/change_list.hpp"
#include "model/topology/machine_pairs.hpp"

namespace lanecast {

/// Two dumps of one box while they are compared. `a` is before, `b` after.
struct Comparison {
  const Machine& a;
  const Machine& b;
  MachinePairs pairs;
  std::map<NodeId, const Link*> above_a;  // the PCIe link above each node that has one
  std::map<NodeId, const Link*> above_b;
  ChangeList list;

  Comparison(const Machine& before, const Machine& after);
};

/// PCI address of a node, bus of a root; empty where unknown.
std::string address_of(const Machine& machine, NodeId id);

/// "gpu3 (0000:3b:00.0)"
std::string label(const Machine& machine, NodeId id);

/// The same of a node in both machines: "gpu3 (0000:3b:00.0), gpu2 in B".
std::string label(const Comparison& of, NodeId in_a, NodeId in_b);

/// "below sw1 (0000:41:00.0), port 0000:42:01.0, slot 5"
std::string seat(const Machine& machine, const std::map<NodeId, const Link*>& above, NodeId id);

/// PCIe links of the parts in both machines, NVLinks between GPUs in both, socket links.
void compare_links(Comparison& of);

}  // namespace lanecast
