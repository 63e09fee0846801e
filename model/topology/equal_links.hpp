#pragma once
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// Links that a machine's symmetry maps onto each other: what happens to one is what would happen to any.
///
/// By colour refinement: nodes start with the values of their kind (names, addresses and sources do not
/// count), and are told apart by what hangs at them, again and again. `orders` are ways around rings; links
/// are equal only where the rings, too, pass them alike.
/// @param orders  GPU indices around each ring; may be empty
/// @return        classes, each ascending, in the order of their first links
std::vector<std::vector<int>> equal_links(const Machine& machine,
                                          const std::vector<std::vector<int>>& orders);

}  // namespace lanecast
