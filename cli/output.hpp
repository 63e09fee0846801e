#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "reports/format.hpp"

namespace lanecast {

/// Where a result goes, and in which form.
struct OutputOptions {
  std::string format = "table";
  std::string path;  // empty or "-": stdout
  bool force = false;
};

void add_output_options(CLI::App& command, OutputOptions& options);

/// The form, and a look at the file, so that a long run does not end in front of a file that must stay.
/// @throws Error  kind usage: unknown format, an existing file without --force, a folder
Format checked_output(const OutputOptions& options);

/// @throws Error  kind usage: the file has come into being meanwhile; kind runtime: it can't be written
void write_output(const OutputOptions& options, const std::string& text);

}  // namespace lanecast
