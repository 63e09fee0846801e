#pragma once
#include <cstdint>

#include "model/topology/machine.hpp"

namespace lanecast::support {

struct PlausibleOptions {
  bool degraded = false;  // some links run narrower or slower than they could, some GPUs are gone
  int most_gpus = 16;
};

/// A machine as one is read from a real box: PCI addresses everywhere, one root complex a NUMA node, GPUs of
/// one model in the order of their addresses, names as an importer gives them (cpu0, root0, sw0 with its link
/// uplink0, gpu0, nic0, nvswitch0, nv0, socket0), NUMA nodes with cores and processors that their CPUID gives
/// away. check_machine accepts it. The same on every platform.
Machine plausible_machine(std::uint64_t seed, const PlausibleOptions& options = {});

}  // namespace lanecast::support
