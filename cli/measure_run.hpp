#pragma once
#include "cli/measure_request.hpp"
#include "cli/session.hpp"

namespace lanecast {

/// How many ranks there are: as a launcher says, as `-g` asks for, or as many as there are GPUs.
/// @throws Error  kind usage: the two differ; kind no_hardware: CUDA is not built in, or shows no GPU
int number_of_ranks(std::optional<int> asked);

/// What doesn't fit the launcher that started this process, if one did: needs no GPU.
/// @throws Error  kind usage: another number of ranks, more than the engine takes, ranks as threads
void check_launcher(std::optional<int> asked, RanksAs ranks_as);

/// Measures, prints and writes the results; on ranks other than 0 it only takes part.
/// @throws Error  kind check_failed: wrong elements; kind runtime: it ended before its end (what was measured
///                is written); kind no_hardware: CUDA is not built in, or shows no GPU
void run_measurement(const MeasureRequest& request, const MeasureOptions& options, const Session& session);

/// What a suite would run, a line a point.
std::vector<std::string> planned_micro(const std::string& suite, int gpus);

}  // namespace lanecast
