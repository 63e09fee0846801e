#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// The folder that holds `machines/`, `profiles/`, `schema/`.
///
/// The first of: the environment's LANECAST_DATA; `../share/lanecast` beside the running program's folder;
/// the source tree that the program was built from.
/// @throws Error kind usage, where LANECAST_DATA has no folder `machines`; kind runtime, where there is none
/// at all
std::filesystem::path data_directory();

/// Names of the machines in data_directory(), sorted.
std::vector<std::string> shipped_machines();

/// A machine by the name of a shipped one, or by a file's path ("-": standard input).
///
/// A text with a `/`, or that ends in .yaml or .yml, is a path. Any other one is a shipped name, or else a
/// file of that name.
/// @throws Error kind usage: an unknown name, with the nearest ones; a one-line synthetic machine; a faulty
/// file
Machine load_machine(const std::string& name_or_path);

/// The file that `load_machine` reads.
std::string machine_path(const std::string& name_or_path);

}  // namespace lanecast
