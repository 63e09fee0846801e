// The simulator and the threads are executors of one schedule: they are asked for the same slices.
#include <gtest/gtest.h>

#include "model/error.hpp"
#include "tests/support/collective_case.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/thread_collective.hpp"

namespace lanecast::support {
namespace {

/// The same ChannelWork values for the threads, by rank: the simulator has them by channel and ring position.
ChannelWorks works_by_rank(const SchedulePlan& plan) {
  ChannelWorks works;
  works.works.resize(plan.positions().size());
  for (const auto& channel : plan.resolved.work) {
    for (const ChannelWork& work : channel)
      works.works[static_cast<std::size_t>(work.position)].push_back(work);
  }
  return works;
}

std::vector<std::vector<std::vector<RecordedStep>>> issued_by_threads(const SchedulePlan& plan) {
  const ResolvedCall& resolved = plan.resolved;
  const auto ranks = static_cast<int>(plan.positions().size());
  ThreadCall call;
  call.protocol = resolved.protocol;
  call.plan = works_by_rank(plan);
  call.count = 0;
  for (const auto& channel : resolved.work) call.count += channel.front().count;
  call.root = resolved.work.front().front().root;
  call.fifo_depth = resolved.fifo_slices;
  call.record = true;
  const std::uint64_t elements = input_count(resolved.call.collective, call.count, ranks);
  call.inputs.assign(static_cast<std::size_t>(ranks), std::vector<std::byte>(elements * 4));
  return run_on_threads(call).steps;
}

TEST(SameSteps, AreIssuedBySimulatorAndThreads) {
  int compared = 0;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
      for (const int ranks : {2, 3, 5}) {
        Call call = ring_call(Bytes(static_cast<std::uint64_t>(ranks) * 40'004), protocol);
        call.collective = collective;
        call.channels = 2;
        call.chunk = Bytes(7680);  // several loops, a short last one
        call.root = ranks - 1;
        const SchedulePlan plan = plan_of(one_switch(ranks), call);
        const auto simulated = issued_by_simulator(plan);  // [channel][position]
        const auto threads = issued_by_threads(plan);      // [rank][channel]; here the rank is the position
        for (std::size_t c = 0; c < simulated.size(); ++c) {
          for (std::size_t p = 0; p < simulated[c].size(); ++p) {
            ASSERT_FALSE(simulated[c][p].empty());
            EXPECT_EQ(simulated[c][p], threads[p][c]) << to_string(collective) << " " << to_string(protocol);
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(SameSteps, AreIssuedForEveryAlgorithm) {
  int compared = 0;
  for (const Algorithm algorithm :
       {Algorithm::tree, Algorithm::star, Algorithm::one_shot, Algorithm::two_shot, Algorithm::two_shot_pull,
        Algorithm::halving_doubling, Algorithm::hierarchical_ring, Algorithm::hierarchical_tree}) {
    for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
      if (pulls(algorithm) && protocol != Protocol::simple) continue;
      for (const int each : {1, 2, 3}) {
        Call call = ring_call(Bytes(static_cast<std::uint64_t>(each) * 80'004), protocol);
        call.algorithm = algorithm;
        call.channels = 2;
        call.chunk = Bytes(7680);
        const SchedulePlan plan = engine_plan_of(two_switches(each), call);
        const auto simulated = issued_by_simulator(plan);
        const auto threads = issued_by_threads(plan);
        for (std::size_t c = 0; c < simulated.size(); ++c) {
          for (std::size_t p = 0; p < simulated[c].size(); ++p) {
            ASSERT_FALSE(simulated[c][p].empty());
            EXPECT_EQ(simulated[c][p], threads[p][c])
                << to_string(algorithm) << " " << to_string(protocol) << ", " << 2 * each << " ranks";
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace lanecast::support
