#pragma once
#include <CLI/CLI.hpp>

#include "cli/session.hpp"

namespace lanecast {

/// The parts of `lanecast topo` that take machines in any of their forms. `session` must outlive the parse.
void add_topo_show(CLI::App& topo, Session& session);
void add_topo_diff(CLI::App& topo, Session& session);
void add_topo_export(CLI::App& topo, Session& session);

}  // namespace lanecast
