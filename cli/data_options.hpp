#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli/session.hpp"
#include "configs/measured/read_measured.hpp"

namespace lanecast {

/// What a command line says of measured calls that their files leave open, as typed. Empty: nothing.
struct DataOptions {
  std::string collective;
  std::string datatype;
  std::string algorithm;
  std::string protocol;
  std::string transport;
  std::string channels;
  std::string threads;
  std::string buffsize;
  std::string launch;
  std::string iterations;
  std::string registration;
  std::string ranks;
};

void add_data_options(CLI::App& command, DataOptions& options);

/// @throws Error  kind usage: a value that is none
MeasuredDefaults read_data_options(const DataOptions& options, const Session& session);

}  // namespace lanecast
