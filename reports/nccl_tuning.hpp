#pragma once
#include <string>
#include <vector>

#include "model/implementation/communicator.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// One row of the CSV that NCCL's example tuner plugin reads: what to take for calls of a range of sizes.
struct NcclTunerRow {
  Collective collective = Collective::all_reduce;
  Bytes from{0};
  Bytes to{0};                            // inclusive
  Algorithm algorithm = Algorithm::ring;  // ring, tree or nvls
  Protocol protocol = Protocol::simple;
  int channels = 1;  // 1 or more: "-1" would mean one channel (facts.md A11)
  int ranks = -1;    // -1: any
};

/// The file for NCCL_TUNER_CONFIG_FILE: comments, then rows in the order given (the first that fits wins).
/// @throws Error  kind usage: an algorithm that is not NCCL's, no channels, a range that ends before it
/// begins Source: facts.md A11.
std::string nccl_tuner_csv(const std::vector<NcclTunerRow>& rows, const std::vector<std::string>& comments);

/// The file for NCCL_GRAPH_FILE: NCCL then takes these orders and channels without a search.
///
/// Holds the ring (graph 0) and the tree (graph 1, chains in the same orders); for graphs that a file lacks
/// NCCL searches as usual.
/// @param setup    what NCCL's search finds by itself: speeds, patterns and classes of path are taken from it
/// @param orders   GPU indices around the ring, one order a search channel (NCCL runs each twice)
/// @param present  GPU indices that are present, ascending: NCCL's number of a GPU is its place here
/// @throws Error   kind usage: no order, or one that is not of present GPUs, each once
/// Source: facts.md A9; NVIDIA/nccl src/graph/search.cc (`ncclTopoGetGraphFromXmlSub`).
std::string nccl_graph_xml(const NcclSetup& setup, const std::vector<std::vector<int>>& orders,
                           const std::vector<int>& present);

/// One variable and why, in one sentence.
struct NcclEnvironmentLine {
  std::string name;
  std::string value;
  std::string reason;
  bool advised = true;  // false: stands there commented out
};

/// A file that a POSIX shell sources: `export NAME=VALUE`, each below its reason; values quoted where needed.
std::string nccl_environment_text(const std::vector<NcclEnvironmentLine>& lines,
                                  const std::vector<std::string>& comments);

}  // namespace lanecast
