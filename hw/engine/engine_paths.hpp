#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hw/engine/engine_device.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "model/predict/call.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// How two ranks exchange data.
struct EnginePath {
  Transport transport = Transport::p2p;
  bool nvlink = false;  // or the same GPU
  bool same_gpu = false;
  std::string reason;  // why not by peer memory; empty where it is

  std::string name() const;  // "peer memory over NVLink", "host memory"
};

using EnginePaths = std::vector<std::vector<EnginePath>>;  // [from][to]

/// Finds out, by trying: opens a block of every other rank's device memory, writes a pattern into it, and
/// lets the owner compare. Some platforms accept peer access and then corrupt data (facts.md E3). Collective;
/// both directions of a pair have the same transport.
///
/// @param forced  shm: nothing is tried; p2p: a pair without peer memory is an error
/// @throws Error  kind runtime, on every rank: peer memory was forced, and a pair has none
EnginePaths find_paths(Exchange& exchange, EngineDevice& device, const std::vector<RankDevice>& ranks,
                       std::optional<Transport> forced);

/// The ranks' GPUs as a machine, for the planning that the model does: GPU r is rank r's. It says what the
/// engine knows, how GPUs reach each other, and nothing of links' rates.
Machine engine_machine(const std::vector<RankDevice>& ranks, const EnginePaths& paths);

}  // namespace lanecast
