#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hw/engine/communicator.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "model/error.hpp"
#include "tests/support/collective_case.hpp"
#include "tests/support/pretended_device.hpp"

namespace lanecast {

/// Ranks on pretended GPUs.
struct EngineJob {
  int ranks = 2;
  EngineOptions options;
  std::chrono::milliseconds meeting_timeout{20'000};
  std::function<support::PretendedGpu(int rank)> gpu;  // empty: rank r has GPU r, and nothing is wrong
  std::vector<int> nvlink_groups;                      // by GPU
};

/// Two channels, and waits so long that a busy machine does not end them.
EngineOptions patient_options();

/// GPU `index`, with nothing wrong.
support::PretendedGpu good_gpu(int index);

/// One rank, as its thread or process sees it.
struct EngineRank {
  int rank = 0;
  Communicator& communicator;
  support::PretendedDevice& device;
  Stream stream = nullptr;
};
using RankBody = std::function<void(EngineRank&)>;

/// How it went on a rank.
struct Outcome {
  bool failed = false;
  ErrorKind kind = ErrorKind::runtime;
  std::string message;          // of the Error; empty: none
  std::size_t left_behind = 0;  // blocks, openings and mappings that the communicator did not give back
  std::chrono::milliseconds took{0};
};

/// One rank's life: opens a communicator, does `body`, destroys it.
Outcome live(const EngineJob& job, std::unique_ptr<Exchange> exchange, const RankBody& body);

/// All ranks as threads of this process.
std::vector<Outcome> run_ranks(const EngineJob& job, const RankBody& body);

/// A call with data, to be checked; its shape and channels are the engine's business.
struct EngineCase {
  support::CollectiveCase data;
  CallChoice choice;
  std::size_t shift = 0;  // elements by which the buffers are moved from where they would be aligned
};
std::string describe(const EngineCase& test);

/// As the communicator takes it.
Call call_of(const support::CollectiveCase& data);

/// Runs the cases one after the other in one stream, without waiting in between, and looks at every element.
/// @return  the first thing that is wrong, empty: nothing; errors and what was left behind are wrong too
std::string problem_of(const EngineJob& job, const std::vector<EngineCase>& cases);

/// Looks for an error of the others, for 20 s at most. @throws Error  when there is one
void check_until_error(const Communicator& communicator);

/// A small call that is right on all ranks of a job, in `body`s: all_reduce of ones. @return  what is wrong
std::string sum_of_ones(EngineRank& rank, std::uint64_t count = 1000, const CallChoice& choice = {});

}  // namespace lanecast
