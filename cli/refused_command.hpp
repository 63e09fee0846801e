#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace lanecast {

/// Adds a command that `--help` does not list, takes any words, and is refused (kind usage): by name, so that
/// nobody takes it for a typing error.
///
/// @param why  what follows the command in the message: "comes with a later version"
void add_refused_command(CLI::App& parent, const std::string& name, const std::string& why,
                         const std::string& mend);

}  // namespace lanecast
