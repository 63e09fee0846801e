#pragma once
#include <optional>
#include <string>

#include "model/topology/machine.hpp"

namespace lanecast {

/// A machine from one line, such as "2x(sw:4xgpu)@gen4x16": two switches with four GPUs each, all links Gen4
/// x16. docs/synthetic.md has the grammar and the rules for what a line leaves out; those that were used
/// stand in the machine's assumptions.
///
/// Nodes and links are named as in the machines that ship (gpu0, sw0 with its link uplink0, root0, cpu0,
/// nic0), numbered in the order of the line; the machine's name is the line with `-` for what no name may
/// hold.
/// @throws Error  kind usage, with a caret below the place: what is no part of the grammar, no GPU, more than
/// 4096 nodes of a kind or 16384 links
Machine machine_from_line(const std::string& line);

/// The line that gives this machine, but for its name, texts and sources; nothing where the grammar cannot
/// express it, for example because a node has another name, an address or a latency.
///
/// @param machine  one that check_machine accepts
std::optional<std::string> line_of_machine(const Machine& machine);

/// Whether a text that is no machine's name and no file is meant as such a line, be it faulty.
bool looks_like_machine_line(const std::string& text);

}  // namespace lanecast
