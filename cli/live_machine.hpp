#pragma once
#include <string>

#include "cli/session.hpp"
#include "configs/dumps/facts.hpp"
#include "configs/dumps/import.hpp"
#include "configs/dumps/sysfs_tree.hpp"

namespace lanecast {

/// What the running machine says about itself: sysfs, hwloc, and where CUDA is built in, CUDA's runtime and
/// NVIDIA's management library, while all GPUs are kept awake. What could not be asked is among the notes.
///
/// The environment's LANECAST_SYSROOT names a folder that stands for `/`; no GPU is asked then.
MachineFacts discover_machine(const Session& session);

/// The machine that those facts describe.
///
/// @param name  of the machine; empty: the host's
/// @throws Error  kind no_hardware: there is no GPU, naming what was found
ImportedMachine live_machine(const std::string& name, const Session& session);

/// The files of the running system, or of what LANECAST_SYSROOT names.
LiveFiles live_files();

}  // namespace lanecast
