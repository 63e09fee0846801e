#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "configs/nccl_log.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/implementation.hpp"
#include "model/implementation/nccl/environment.hpp"

namespace lanecast {

/// `--nccl-env` and `--nccl-log`, as typed. Empty: not given.
struct NcclOptions {
  std::vector<std::string> settings;
  std::string log;
};

void add_nccl_options(CLI::App& command, NcclOptions& options);

/// What the two options say about a run of NCCL.
struct NcclInput {
  std::vector<std::string> typed;  // NAME=VALUE
  std::optional<NcclLog> log;
};

/// Reads the log, where there is one.
/// @param machine  the command's MACHINE: it and the log cannot both be standard input
/// @throws Error   kind usage, as `read_nccl_log`
NcclInput read_nccl_input(const NcclOptions& options, const std::string& machine);

/// The `--implementation` to take: as asked, but the release that wrote the log where `nccl` is asked. Notes
/// that a log is followed, or that it is of another release than the one that is asked.
/// @throws Error  kind usage: the log is of a release that is not known here, or of two
std::string implementation_name(const std::string& asked, const NcclInput& input, const Session& session);

/// The environment that NCCL would see: the log's, then what was typed, which wins.
///
/// @param warnings  gains LC-ENV-01 and LC-ENV-02
/// @throws Error    kind usage, with all problems of both: no NAME=VALUE, unknown names, bad values, and
///                  ranks of the log that disagree on a variable that counts
NcclEnvironment read_environment(const NcclInput& input, const Implementation& implementation,
                                 const Session& session, std::vector<Warning>& warnings);

/// Notes each variable that a flag of the call goes before.
void note_what_flags_override(const Call& call, const NcclEnvironment& environment, const Session& session);

/// Notes where the log shows other channels or transports than were decided: the machine file, or a variable
/// that the log does not name, is then not that run's.
void note_log_differs(const NcclInput& input, const CommunicatorSetup& communicator, const Session& session);

/// Notes a log of another number of ranks, or of several communicators, of which the first counts.
void note_other_ranks(const NcclInput& input, std::size_t ranks, const Session& session);

}  // namespace lanecast
