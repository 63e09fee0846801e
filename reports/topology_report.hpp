#pragma once
#include <string>

#include "model/topology/machine.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// A machine to show, and which of its sides.
struct TopologyReport {
  RunInfo run;
  Machine machine;
  bool tree = true;
  bool matrix = true;
  bool p2p = true;
  Distance level = Distance::pxb;  // farthest peer access where the machine sets none
};

/// The tree, the matrix of `nvidia-smi topo -m` and the peer access of a machine, as text or markdown.
///
/// JSON: `{"machine", "gpus": [...], "nics": [...], "links": [{"name", "kind", "from", "to", ...}], "pairs":
/// [...]}`; CSV has a line a pair: `from,to,distance,nvlinks,p2p,reason`. Both leave out what is not asked
/// for, and peer access where the machine has more than 512 GPUs and adapters.
std::string topology_text(const TopologyReport& report, Format format);

}  // namespace lanecast
