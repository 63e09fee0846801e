// The kernels are executors of the shared schedule: what they record on a GPU is what the simulator issues
// for the same call. Skipped without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "hw/engine/engine_paths.hpp"
#include "tests/support/gpu_ranks.hpp"
#include "tests/support/recorded_step.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast {
namespace {

using support::RecordedStep;
using Steps = std::vector<std::vector<std::vector<RecordedStep>>>;  // [channel][position]

/// GPUs joined by NVLink, as the engine describes ranks that share one.
Machine machine_of(int ranks) {
  std::vector<RankDevice> devices(static_cast<std::size_t>(ranks));
  EnginePaths paths(devices.size(), std::vector<EnginePath>(devices.size()));
  for (RankDevice& device : devices) device.sm = 90;
  for (auto& row : paths) {
    for (EnginePath& path : row) path.nvlink = true;
  }
  return engine_machine(devices, paths);
}

RecordedStep step_of(const SliceRecord& record) {
  RecordedStep step;
  step.channel = record.channel;
  step.strand = record.strand;
  step.loop = record.loop;
  step.step = record.step;
  step.chunk = record.chunk;
  step.slice = record.slice;
  step.action = static_cast<TurnAction>(record.action);
  step.bytes = record.bytes;
  return step;
}

/// Sorted by strand, since strands have no order between them; a strand's own order stays.
std::vector<RecordedStep> by_strand(std::vector<RecordedStep> steps) {
  std::stable_sort(steps.begin(), steps.end(),
                   [](const RecordedStep& a, const RecordedStep& b) { return a.strand < b.strand; });
  return steps;
}

TEST(EngineSteps, OfTheKernelsEqualTheSimulators) {
  struct Case {
    support::GpuCase test;
    Steps simulated;
    std::vector<std::vector<int>> orders;  // [channel]: rank at each position
  };
  std::vector<Case> cases;
  constexpr int kRanks = 4;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::one_shot, Algorithm::two_shot,
                                      Algorithm::tree, Algorithm::halving_doubling}) {
      if (!has_form(algorithm, collective, kRanks)) continue;
      for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
        support::GpuCase test;
        test.call.collective = collective;
        test.call.size = Bytes(4 * 200'008);
        test.call.root = 1;
        test.choice.algorithm = algorithm;
        test.choice.protocol = protocol;
        test.choice.channels = 2;
        test.choice.chunk = Bytes(7680);
        Call asked = test.call;
        asked.algorithm = algorithm;
        asked.protocol = protocol;
        asked.channels = 2;
        asked.chunk = test.choice.chunk;
        const SchedulePlan plan = support::engine_plan_of(machine_of(kRanks), asked);
        Case made{test, support::issued_by_simulator(plan), {}};
        for (std::size_t channel = 0; channel < made.simulated.size(); ++channel)
          made.orders.push_back(plan.resolved.ring(channel).order);
        cases.push_back(std::move(made));
      }
    }
  }
  if (support::gpu_count() == 0) GTEST_SKIP() << "CUDA shows no GPU";
  EngineOptions options;
  options.transport = Transport::p2p;
  options.channels = 2;
  std::mutex mutex;
  int compared = 0;
  const auto errors = support::run_gpu_ranks(kRanks, options, [&](support::GpuRank& rank) {
    rank.communicator.record(4096);
    for (const auto& [test, simulated, orders] : cases) {
      EXPECT_EQ(support::wrong_elements(rank, test), 0u);
      std::map<int, std::vector<RecordedStep>> kernels;
      for (const SliceRecord& record : rank.communicator.recorded()) {
        EXPECT_LE(record.begin_ns, record.ready_ns);
        EXPECT_LE(record.ready_ns, record.end_ns);
        kernels[record.channel].push_back(step_of(record));
      }
      const std::lock_guard lock(mutex);
      for (std::size_t channel = 0; channel < simulated.size(); ++channel) {
        const auto position = static_cast<std::size_t>(
            std::find(orders[channel].begin(), orders[channel].end(), rank.rank) - orders[channel].begin());
        EXPECT_EQ(by_strand(kernels[static_cast<int>(channel)]), by_strand(simulated[channel][position]))
            << to_string(test.call.collective) << " " << to_string(*test.choice.algorithm) << " "
            << to_string(*test.choice.protocol);
        ++compared;
      }
    }
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(compared, static_cast<int>(cases.size()) * kRanks * 2);
  std::printf("  %d sequences of slices equal the simulator's\n", compared);
}

/// Where the time of a small call goes: printed, since times are no business of a test.
TEST(EngineSteps, OfASmallCallAreShownWithTheirTimes) {
  if (support::gpu_count() == 0) GTEST_SKIP() << "CUDA shows no GPU";
  EngineOptions options;
  options.transport = Transport::p2p;
  std::mutex mutex;
  const auto errors = support::run_gpu_ranks(2, options, [&](support::GpuRank& rank) {
    support::GpuCase test;
    test.call.size = Bytes(1024);
    test.choice.algorithm = Algorithm::ring;
    test.choice.protocol = Protocol::ll;
    test.replays = 10;
    test.repeats = 10;
    rank.communicator.record(16);
    EXPECT_EQ(support::wrong_elements(rank, test), 0u);
    const std::lock_guard lock(mutex);
    const std::vector<SliceRecord> slices = rank.communicator.recorded();
    ASSERT_EQ(slices.size(), 3u);  // send, reduce and send, take
    for (const SliceRecord& slice : slices) {
      std::printf("  rank %d step %d: came to it at %llu ns, had data and credit at %llu, done at %llu\n",
                  rank.rank, slice.step,
                  static_cast<unsigned long long>(slice.begin_ns - slices.front().begin_ns),
                  static_cast<unsigned long long>(slice.ready_ns - slices.front().begin_ns),
                  static_cast<unsigned long long>(slice.end_ns - slices.front().begin_ns));
    }
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace lanecast
