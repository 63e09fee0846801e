#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/session.hpp"

namespace lanecast {

/// Each adds one subcommand whose callback does the work, prints the result to stdout, and throws Error.
/// `session` must outlive the parse.
void add_predict_command(CLI::App& app, Session& session);
void add_whatif_command(CLI::App& app, Session& session);
void add_tune_command(CLI::App& app, Session& session);
void add_matrix_command(CLI::App& app, Session& session);
void add_calibrate_command(CLI::App& app, Session& session);
void add_compare_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);
void add_measure_command(CLI::App& app, Session& session);
void add_config_command(CLI::App& app, Session& session);
void add_topo_command(CLI::App& app, Session& session);
void add_help_command(CLI::App& app, Session& session);

/// Names that later versions bring. They are refused by name, so that nobody takes them for typing errors.
const std::vector<std::string>& later_commands();
void add_later_commands(CLI::App& app);

}  // namespace lanecast
