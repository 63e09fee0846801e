#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/data_options.hpp"

namespace lanecast {

/// The flags of `calibrate`, as typed. Empty: not given.
struct CalibrateOptions {
  std::vector<std::string> files;
  std::string machine;
  std::vector<std::string> sets;
  DataOptions data;
  std::string implementation;
  std::string start = "generic";
  std::string profile_file;
  std::string name;
  std::string description;
  bool force = false;
  std::string holdout;
  std::string folds = "0";
  std::string bootstrap = "0";
  std::string learning = "0";
  std::string starts = "1";
  std::vector<std::string> hold;
  std::string min_size = "1K";
  std::string seed = "1";
  std::string jobs = "0";
  std::string format = "table";
};

void add_calibrate_options(CLI::App& command, CalibrateOptions& options);

}  // namespace lanecast
