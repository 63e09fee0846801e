#pragma once
#include <string>
#include <vector>

#include "configs/dumps/sysfs_tree.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// How the running system differs from a machine that was read from it earlier: GPUs that are gone, back or
/// new, cards below another port, links narrower, wider, slower or faster. One clause each, in the machine's
/// order; e.g. "link `gpu2` is x8 now, x16 in the file".
///
/// Nothing where the machine names no host, or another one than the running system. A card that idles runs
/// its link slowly: a GPU's lower rate is a difference only where its card or port cannot do better. Values
/// that were assumed are not compared.
///
/// Reads only the folders of the machine's own cards, and the classes of all PCI functions: a few
/// milliseconds.
std::vector<std::string> differences_from_live(const Machine& machine, const SystemFiles& live);

}  // namespace lanecast
