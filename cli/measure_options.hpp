#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli/output.hpp"
#include "cli/sweep_sizes.hpp"

namespace lanecast {

/// The flags of `measure` as typed. Empty: not given.
struct MeasureOptions {
  SweepOptions sweep{"8", "128M", "2", ""};
  std::string collective = "all_reduce";
  std::string datatype = "float";
  std::string op = "sum";
  std::string root = "0";
  bool in_place = false;
  bool out_of_place = false;
  std::string algorithm = "auto";
  std::string protocol = "auto";
  std::string transport = "auto";
  std::string staging = "auto";
  std::string channels = "auto";
  std::string threads = "auto";
  std::string chunk = "auto";
  std::string buffsize = "auto";
  std::string ranks;
  std::string ranks_as = "processes";
  std::string devices;
  std::string timeout = "10";
  std::string iterations = "20";
  std::string warmup = "5";
  std::string checks = "1";
  std::string graph;
  std::string launch;
  std::string sessions = "1";
  std::string working_set;
  std::string offset = "0";
  std::string suite;
  std::string json;
  std::string json_lines;
  bool dry_run = false;
  OutputOptions output;
};

void add_measure_options(CLI::App& command, MeasureOptions& options);

/// The result's form, and a look at all files that will be written, so that a long run does not end in front
/// of one that must stay.
/// @throws Error  kind usage: as checked_output, or one file for two documents
Format checked_outputs(const MeasureOptions& options);

/// Where `-J` and `--json-lines` go, as outputs of their own.
OutputOptions json_output(const MeasureOptions& options);
OutputOptions json_lines_output(const MeasureOptions& options);

}  // namespace lanecast
