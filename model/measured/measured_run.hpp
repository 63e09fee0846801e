#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/predict/call.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What repeated timings of one thing say. Times of one call.
struct TimeSpread {
  Seconds median{0};
  Seconds min{0};
  Seconds p99{0};  // by nearest rank: the smallest sample that at least 99 % do not exceed
};

/// @param samples  at least one, in any order
TimeSpread spread_of(std::vector<Seconds> samples);

/// For each sample the slowest rank: the call is over when its last rank is.
/// @param by_rank  ranks x samples, all of one length
std::vector<Seconds> slowest_of(const std::vector<std::vector<Seconds>>& by_rank);

/// One collective call of one size, measured. What the call left open is resolved to what ran.
struct MeasuredRun {
  Call call;
  std::uint64_t count = 0;  // elements, as nccl-tests counts them
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  Transport transport = Transport::p2p;
  std::string staging;  // "sm", "ce"; empty where no two ranks meet in host memory
  int channels = 0;
  int threads = 0;
  Bytes chunk{0};
  Bytes buffsize{0};
  int ranks = 0;
  int graph_replays = 0;  // 0: stream launches
  int samples = 0;        // timings that `time` is about, each of call.iterations calls
  int warmup = 0;
  int session = 1;
  Bytes working_set{0};                // what a rank's calls of one timing touch, input and output
  TimeSpread time;                     // of the slowest rank
  std::optional<std::uint64_t> wrong;  // elements, over all ranks; absent: not checked
  std::string first_wrong;             // "rank 1: element 17 of the output is 3, not 2.5"; empty: none

  BytesPerSecond algbw() const { return call.size / time.median; }
  BytesPerSecond busbw() const { return algbw() * busbw_factor(call.collective, ranks); }
};

/// Elements that nccl-tests' column `count` holds: of the whole buffer, for all-gather and reduce-scatter of
/// one rank's block.
std::uint64_t counted_elements(const Call& call, int ranks);

}  // namespace lanecast
