#pragma once
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The machine in Graphviz's DOT language, for `dot -Tsvg`: a cluster a NUMA node, PCIe from top to bottom,
/// NVLinks and socket links besides.
///
/// PCIe links are labelled with generation and width. Those that run below what both ends could do are red,
/// dashed and labelled with what they could do, so that colour is not the only mark; cards that are gone are
/// dashed. NVLinks are bold and green, with their count. Names are quoted and made harmless (safe_text).
std::string topology_dot(const Machine& machine);

}  // namespace lanecast
