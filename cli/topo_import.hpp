#pragma once
#include <CLI/CLI.hpp>

#include "cli/session.hpp"

namespace lanecast {

/// The part of `lanecast topo` that reads what machines print. `session` must outlive the parse.
void add_topo_import(CLI::App& topo, Session& session);

}  // namespace lanecast
