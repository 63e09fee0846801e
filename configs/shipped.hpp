#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "configs/machine_reader.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// The folder that holds `machines/`, `profiles/`, `schema/`.
///
/// The first of: the environment's LANECAST_DATA; `../share/lanecast` beside the running program's folder;
/// the source tree that the program was built from.
/// @throws Error kind usage, where LANECAST_DATA has no folder `machines`; kind runtime, where there is none
/// at all
std::filesystem::path data_directory();

/// Whether a text can only be a file's path: it ends in .yaml or .yml, or is `-`.
bool is_yaml_path(const std::string& text);

/// Names of the machines in data_directory(), sorted.
std::vector<std::string> shipped_machines();

/// A machine by the name of a shipped one, by a file's path ("-": standard input), or from one line
/// (synthetic.hpp).
///
/// A text that ends in .yaml or .yml is a path. What is neither a file nor a shipped name, but looks like a
/// one-line machine, is one; any other text with a `/` is a path.
/// @throws Error kind usage: an unknown name, with the nearest ones; a faulty line; a faulty file
Machine load_machine(const std::string& name_or_path);

/// The same with the places of all values. Those of a one-line machine are places in the YAML file that it
/// would be, "one-line.yaml".
MachineDocument load_machine_document(const std::string& name_or_path);

/// The file that `load_machine` reads. @throws Error  kind usage, also for a one-line machine, which has none
std::string machine_path(const std::string& name_or_path);

}  // namespace lanecast
