#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/implementation/communicator.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// Channels of NCCL's search: connecting doubles them, and 64 is the most.
inline constexpr std::size_t kMostSearchChannels = 32;

/// One row of the CSV that NCCL's example tuner plugin reads: what to take for calls of a range of sizes.
struct NcclTunerRow {
  Collective collective = Collective::all_reduce;
  Bytes from{0};  // sizes as in `Call`: the larger buffer, which is what NCCL asks the tuner with
  Bytes to{0};    // inclusive
  Algorithm algorithm = Algorithm::ring;  // one of NCCL's
  Protocol protocol = Protocol::simple;
  int channels = 1;  // 1 or more: "-1" would mean one channel (facts.md A11)
  int nodes = -1;    // computers of the communicator; -1: any
  int ranks = -1;    // -1: any
};

/// The file for NCCL_TUNER_CONFIG_FILE. Rows in the order given (the first that fits wins); comments first.
///
/// NCCL itself reads no such file, its example plugin does. The plugin passes over a row whose algorithm and
/// protocol NCCL has ruled out (LL128 on PCIe), and gives calls that no row fits one channel, of any
/// collective and communicator: let the last row of each collective fit all sizes, nodes and ranks. Comments
/// are wrapped: the plugin takes what stands behind the 255th byte of a line for a row.
/// @throws Error  kind usage: an algorithm that is not NCCL's, no channels, a range that ends before it
/// begins, ranks or nodes that fit nothing. Source: facts.md A11; NVIDIA/nccl plugins/tuner/example/plugin.c
/// (`loadConfig`).
std::string nccl_tuner_csv(const std::vector<NcclTunerRow>& rows, const std::vector<std::string>& comments);

/// The file for NCCL_GRAPH_FILE: NCCL then takes these orders and channels without a search.
///
/// Graph 0 (ring) and graph 1 (tree: the same orders, as chains). For an id that the file lacks NCCL searches
/// as ever (collnet, NVLS), and the number of channels that its log names as loaded means nothing then; a
/// tree searched beside a ring that was given would have to have its number of channels, and ends in one
/// channel at 0.1 GB/s where it cannot: thus both. More channels than the search found share its bandwidth.
///
/// The file is for communicators of exactly these GPUs on one computer: NCCL stops with a system error where
/// one of them is missing, and takes rubbish for the ranks that the file lacks. GPUs are written in
/// hexadecimal, since newer releases read nothing else.
/// @param setup   what NCCL's search finds by itself: speeds and classes of path are taken from it
/// @param orders  GPU indices around the ring, one order a search channel (NCCL runs each twice)
/// @param present GPU indices that are present, ascending: NCCL's number of a GPU is its place here
/// @throws Error  kind usage: an order that is not of these GPUs or not of those of the first one, none at
/// all, more than 32 or than 4096 elements, a setup without a speed Source: facts.md A9; NVIDIA/nccl
/// src/graph/search.cc (`ncclTopoCompute`, `ncclTopoGetGraphFromXmlSub`), src/graph/xml.cc (what its parser
/// takes).
std::string nccl_graph_xml(const NcclSetup& setup, const std::vector<std::vector<int>>& orders,
                           const std::vector<int>& present);

/// One variable and why, in one sentence.
struct NcclEnvironmentLine {
  std::string name;
  std::string value;
  std::string reason;   // empty: none is written
  bool advised = true;  // false: the line stands there commented out
};

/// A file that a POSIX shell sources: `export NAME=VALUE`, each below its reason; values quoted where needed.
///
/// @throws Error  kind usage: a name that no shell takes (capitals, digits and _ are)
std::string nccl_environment_text(const std::vector<NcclEnvironmentLine>& lines,
                                  const std::vector<std::string>& comments);

}  // namespace lanecast
