#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hw/engine/engine_ranks.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

EngineJob job_of(int ranks) {
  EngineJob job;
  job.ranks = ranks;
  job.options = patient_options();
  return job;
}

/// A process for each rank; its last word is its Error's message or, where all went well, "fine".
std::vector<RankProcess> start(const std::string& name, const EngineJob& job,
                               const std::function<void(EngineRank&, const RankProcess::Say&)>& body) {
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < job.ranks; ++rank) {
    processes.emplace_back([=](const RankProcess::Say& say) -> std::string {
      const auto run = [&](EngineRank& seen) { body(seen, say); };
      const Outcome outcome = live(job, meet({name, rank, job.ranks, job.meeting_timeout}), run);
      if (outcome.left_behind != 0) return "left something behind; " + outcome.message;
      return outcome.failed ? outcome.message : "fine";
    });
  }
  return processes;
}

void many_calls(EngineRank& rank, const RankProcess::Say&) {
  CallChoice choice;
  choice.algorithm = Algorithm::ring;
  for (int call = 0; call < 4; ++call) {
    const std::string wrong = sum_of_ones(rank, 10'000, choice);
    if (!wrong.empty()) throw Error(ErrorKind::check_failed, wrong, "the test", "mend the engine");
  }
}

void expect_fine(std::vector<RankProcess> processes) {
  for (RankProcess& process : processes) EXPECT_EQ(process.hear(), "fine");
}

/// Rank 1's process kills itself in the middle of its second call: what it has received by then went through
/// all ranks, and what it has not sent is awaited by all.
EngineJob with_a_dying_rank(int ranks, std::optional<Transport> transport) {
  EngineJob job = job_of(ranks);
  job.options.transport = transport;
  job.gpu = [](int rank) {
    support::PretendedGpu gpu = good_gpu(rank);
    if (rank == 1) gpu.kernels.dies = support::CallMoment{2, 2};
    return gpu;
  };
  return job;
}

TEST(EngineProcesses, RunCollectivesTogether) {
  OwnRuntimeFolder folder;
  expect_fine(start("together", job_of(3), many_calls));
  EngineJob staged = job_of(3);
  staged.options.transport = Transport::shm;
  expect_fine(start("together", staged, many_calls));
}

TEST(EngineProcesses, AKilledRankIsNamedWithStepAndPathLongBeforeTheTimeOut) {
  for (const Transport transport : {Transport::p2p, Transport::shm}) {
    OwnRuntimeFolder folder;
    auto processes = start("killed", with_a_dying_rank(3, transport), many_calls);
    for (const std::size_t rank : {0u, 2u}) {
      const std::string word = processes[rank].hear();
      EXPECT_TRUE(
          has(word, "rank 1 is gone: its process " + std::to_string(processes[1].process()) + " ended"));
      EXPECT_TRUE(has(word, "in call 2: all_reduce of 10000 float (sum, ring, "));
      EXPECT_TRUE(has(word, " at step "));
      EXPECT_TRUE(has(word, transport == Transport::p2p ? "over peer memory over PCIe" : "over host memory"));
    }
    EXPECT_EQ(processes[1].hear(), "(nothing)");
    expect_fine(start("killed", job_of(3), many_calls));  // the next run of the same job
  }
}

TEST(EngineProcesses, AJobThatWasKilledAsAWholeLeavesNothingInTheWayOfTheNext) {
  OwnRuntimeFolder folder;
  {
    auto processes = start("crashed", job_of(3), [](EngineRank&, const RankProcess::Say& say) {
      say("open");
      wait_to_be_killed();
    });
    for (RankProcess& process : processes) EXPECT_EQ(process.hear(), "open");
  }  // SIGKILL for all
  expect_fine(start("crashed", job_of(3), many_calls));
}

TEST(EngineProcesses, TwoJobsRunSideBySide) {
  OwnRuntimeFolder folder;
  auto one = start("one", job_of(2), many_calls);
  auto other = start("other", job_of(3), many_calls);
  expect_fine(std::move(one));
  expect_fine(std::move(other));
}

TEST(EngineProcesses, OneJobsFailureIsNotTheOthers) {
  OwnRuntimeFolder folder;
  auto good = start("good", job_of(2), many_calls);
  auto bad = start("bad", with_a_dying_rank(2, std::nullopt), many_calls);
  EXPECT_TRUE(has(bad[0].hear(), "rank 1 is gone"));
  expect_fine(std::move(good));
}

TEST(EngineProcesses, ARankKilledBetweenCallsIsNamedByTheNextOne) {
  OwnRuntimeFolder folder;
  auto processes = start("between", job_of(3), [](EngineRank& rank, const RankProcess::Say& say) {
    many_calls(rank, say);
    say("done");
    if (rank.rank == 1) wait_to_be_killed();
    check_until_error(rank.communicator);
  });
  for (RankProcess& process : processes) ASSERT_EQ(process.hear(), "done");
  processes[1].kill();
  for (const std::size_t rank : {0u, 2u})
    EXPECT_TRUE(has(processes[rank].hear(), "rank 1 is gone: its process"));
}

TEST(EngineProcesses, OutOfMemoryOnOneRankIsEveryRanksError) {
  OwnRuntimeFolder folder;
  EngineJob job = job_of(3);
  job.gpu = [](int rank) {
    support::PretendedGpu gpu = good_gpu(rank);
    if (rank == 2) gpu.memory = Bytes(1 << 16);
    return gpu;
  };
  auto processes = start("memory", job, many_calls);
  for (RankProcess& process : processes) EXPECT_TRUE(has(process.hear(), "rank 2: can't allocate"));
  expect_fine(start("memory", job_of(3), many_calls));
}

TEST(EngineProcesses, RanksThatDisagreeAreToldSo) {
  OwnRuntimeFolder folder;
  auto processes = start("differ", job_of(3), [](EngineRank& rank, const RankProcess::Say&) {
    sum_of_ones(rank, rank.rank == 1 ? 1001 : 1000);
    rank.communicator.barrier();
  });
  for (RankProcess& process : processes) EXPECT_TRUE(has(process.hear(), "ranks disagree about call 1"));
}

}  // namespace
}  // namespace lanecast
