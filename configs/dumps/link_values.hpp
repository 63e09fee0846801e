#pragma once
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/origin_book.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// The two ends of a PCIe link.
struct LinkEnds {
  std::string name;  // of the link
  NodeKind lower_kind = NodeKind::gpu;
  std::string upper;               // address of the port above; "" unknown
  std::vector<std::string> lower;  // addresses of the device's functions, or of the switch's upstream port
  std::string model;               // of the GPU, or of the first GPU below a switch; of an adapter its name
  int sm = 0;                      // of the same GPU
};

/// What a PCIe link can do and does, but for its nodes.
///
/// Capability: the smaller one of both ends; where only one is known, that one, which is assumed unless the
/// link runs at it. Status: as either end says. What is missing follows from the other, and both from the
/// model of the GPU. A sleeping GPU's link is taken to run at its capability (`idle`); a switch's link does
/// not sleep. Payload: the smaller one of both ends, else 256 B. ASPM is on only where both ends have it on.
/// Error counters: both ends together, of several dumps the highest.
Link pcie_link_values(const MachineFacts& facts, const LinkEnds& ends, OriginBook& book);

}  // namespace lanecast
