#pragma once
#include <optional>
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// May one GPU store into another's memory, and why (not).
struct PeerVerdict {
  bool allowed = false;
  std::string reason;     // one clause: "PIX within level PXB", "GeForce RTX 4090 has no peer access with
                          // NVIDIA's driver"
  bool by_level = false;  // the level decided; else something that no level changes
};

/// Whether a GPU model takes part in PCIe peer access with the vendor's own driver.
/// Source: facts.md C7, E7 and the machines of shared/cases: GeForce cards since Turing do not, data-centre
/// and workstation cards do. Unknown models are taken as able.
bool model_has_peer_access(const std::string& gpu_model);

/// Decides by `p2p.enabled`, the GPUs' own ability, NVLink, and the level.
///
/// @param default_level  farthest distance where the machine's file sets none: the implementation's rule
PeerVerdict peer_access(const Machine& machine, int from_gpu, int to_gpu, Distance default_level);

/// The same with a level that goes before the file's `p2p.level`.
PeerVerdict peer_access_within(const Machine& machine, int from_gpu, int to_gpu, Distance level);

}  // namespace lanecast
