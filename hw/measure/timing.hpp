#pragma once
#include <functional>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "hw/measure/measure_plan.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What timing needs from the ranks, which all time the same call at once.
struct TimedRanks {
  std::function<void(int index, Stream stream)> call;  // starts the index-th call of a timing
  std::function<void(Stream stream)> wait;             // until the stream is done, within the time-out
  std::function<void()> barrier;                       // all ranks, on the host
  std::function<Seconds(Seconds)> slowest;             // of all ranks
  std::function<void()> under_load;                    // while calls that nobody times are on their way
};

/// How often a timing is taken: what is fixed, or as many as fit into the budget.
/// @param one  how long one timing takes
int samples_within(const PlannedTiming& timing, Seconds one);

/// How many timings may follow each other without the host: what takes 5 s, since the engine bounds the wait
/// for a stream.
int batch_within(Seconds one);

/// Times the call with the GPU's events: each sample is one replay of a graph of `iterations` calls (or as
/// many stream launches), divided by their number. The samples of a batch follow each other without the
/// host, behind one that is not counted: it takes up the ranks' different starts.
/// @return  one time of one call a sample; ranks agree about how many
std::vector<Seconds> time_calls(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream);

/// Runs `call` once, in a graph of one where the plan launches by graphs.
void run_once(const PlannedTiming& timing, const TimedRanks& ranks, Stream stream);

}  // namespace lanecast
