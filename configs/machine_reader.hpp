#pragma once
#include <string>
#include <unordered_map>

#include "configs/problem_list.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// A machine together with where each of its values stands in the file.
struct MachineDocument {
  Machine machine;
  std::string file;                                     // as messages name it
  std::unordered_map<std::string, Position> positions;  // "links[2].width", "gpus[0]", "p2p.level", "profile"
};

/// Reads and checks a machine file (docs/machine-file.md); "-" is standard input.
///
/// @throws Error kind usage, with all problems of the file sorted by line
Machine read_machine_file(const std::string& path);

/// The same from text. @param name  how messages name it
Machine read_machine_text(const std::string& text, const std::string& name);

/// The same with the places of all values, for `config explain`.
MachineDocument read_machine_document(const std::string& path);
MachineDocument read_machine_document_text(const std::string& text, const std::string& name);

}  // namespace lanecast
