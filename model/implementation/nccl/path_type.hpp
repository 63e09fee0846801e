#pragma once
#include <optional>
#include <string>

namespace lanecast {

/// NCCL's classes of path, nearest first, with NCCL's ranks.
///
/// They overlap with `Distance` (nvidia-smi's names) but differ: NCCL has no NODE, its PHB covers all host
/// bridges of one NUMA node. Source: facts.md A7 (NVIDIA/nccl src/graph/topo.h).
enum class PathType {
  loc = 0,
  nvl = 1,
  nvb = 2,  // NVLink through another GPU
  c2c = 3,
  pix = 4,
  pxb = 5,
  p2c = 6,
  pxn = 7,
  phb = 8,
  sys = 9,
  net = 10,
  dis = 11
};

const char* to_string(PathType type);  // "LOC", "NVL", ...
std::optional<PathType> path_type_from_string(const std::string& text);

}  // namespace lanecast
