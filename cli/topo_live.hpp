#pragma once
#include <CLI/CLI.hpp>

#include "cli/session.hpp"

namespace lanecast {

/// The parts of `lanecast topo` that read a running machine: here, or by a script elsewhere. `session` must
/// outlive the parse.
void add_topo_discover(CLI::App& topo, Session& session);
void add_topo_collect(CLI::App& topo);

}  // namespace lanecast
