#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli/session.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// The flags that describe one collective call, as typed. Empty: not given, or left to the implementation.
struct CallOptions {
  std::string collective = "all_reduce";
  std::string datatype = "float";
  std::string op;
  std::string root;
  bool in_place = false;
  std::string algorithm;
  std::string protocol;
  std::string transport = "auto";
  std::string channels = "auto";
  std::string threads = "auto";
  std::string buffsize;
  std::string chunk = "auto";
  std::string ranks;
  std::string order = "auto";
  std::string implementation;
  std::string launch = "graph";
  std::string iterations = "20";
  std::string registration = "auto";
};

void add_call_options(CLI::App& command, CallOptions& options);

/// The call without its size. A flag that the collective has no use for is noted in the session.
/// @throws Error  kind usage: a value that is none
Call read_call(const CallOptions& options, const Session& session);

/// The implementation as asked for; where nothing is, `nccl`, or `lanecast` with a note where the algorithm
/// is one that NCCL lacks.
/// @throws Error  kind usage: an algorithm that is none
std::string asked_implementation(const CallOptions& options, const Session& session);

}  // namespace lanecast
