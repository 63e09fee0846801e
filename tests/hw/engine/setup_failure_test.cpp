#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hw/engine/engine_ranks.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;
using support::PretendedGpu;

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

/// A job in which rank 1's GPU is changed.
EngineJob with_bad_gpu(int ranks, const std::function<void(PretendedGpu&)>& change) {
  EngineJob job = job_of(ranks);
  job.gpu = [change](int rank) {
    PretendedGpu gpu = good_gpu(rank);
    if (rank == 1) change(gpu);
    return gpu;
  };
  return job;
}

void expect_right(EngineRank& rank) { EXPECT_EQ(sum_of_ones(rank), ""); }

/// Every rank has the error, in the words given, soon; nothing is left; and the next run works.
void expect_all_fail(const EngineJob& job, ErrorKind kind, const std::string& words) {
  for (const Outcome& outcome : run_ranks(job, expect_right)) {
    EXPECT_TRUE(has(outcome.message, words));
    EXPECT_EQ(outcome.kind, kind);
    EXPECT_EQ(outcome.left_behind, 0u);
    EXPECT_LT(outcome.took, job.meeting_timeout);
  }
  for (const Outcome& outcome : run_ranks(job_of(3), expect_right)) EXPECT_EQ(outcome.message, "");
}

/// The job works, and the pairs of rank 1 take host memory, for the reason given.
void expect_host_memory(const EngineJob& job, const std::string& reason) {
  const auto outcomes = run_ranks(job, [&](EngineRank& rank) {
    for (int other = 0; other < job.ranks; ++other) {
      if (other == rank.rank) continue;
      const bool staged = rank.rank == 1 || other == 1;
      EXPECT_EQ(rank.communicator.transport(rank.rank, other), staged ? Transport::shm : Transport::p2p);
      EXPECT_EQ(rank.communicator.path(rank.rank, other), staged ? "host memory" : "peer memory over PCIe");
      EXPECT_TRUE(has(rank.communicator.path_reason(rank.rank, other), staged ? reason : ""));
    }
    expect_right(rank);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.message, "");
    EXPECT_EQ(outcome.left_behind, 0u);
  }
}

EngineJob forced_to_peer_memory(EngineJob job) {
  job.options.transport = Transport::p2p;
  return job;
}

TEST(EngineSetUp, OutOfMemoryOnOneRankIsEveryRanksError) {
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{64} << 10}) {
    const EngineJob job = with_bad_gpu(3, [=](PretendedGpu& gpu) { gpu.memory = Bytes(limit); });
    expect_all_fail(job, ErrorKind::runtime, "rank 1: can't allocate");
  }
}

TEST(EngineSetUp, RefusedPeerAccessMeansHostMemory) {
  expect_host_memory(with_bad_gpu(3,
                                  [](PretendedGpu& gpu) {
                                    gpu.refused_peers = {0, 2};
                                  }),
                     "the driver refuses peer access");
}
TEST(EngineSetUp, RefusedPeerAccessIsAnErrorWherePeerMemoryIsForced) {
  const EngineJob job = with_bad_gpu(3, [](PretendedGpu& gpu) { gpu.refused_peers = {2}; });
  expect_all_fail(forced_to_peer_memory(job), ErrorKind::runtime,
                  "no peer memory from rank 1 (0000:11:00.0) to rank 2 (0000:12:00.0): the driver refuses");
}

TEST(EngineSetUp, HandlesThatDoNotOpenMeanHostMemory) {
  expect_host_memory(with_bad_gpu(3, [](PretendedGpu& gpu) { gpu.opens_handles = false; }),
                     "can't open a memory handle");
}
TEST(EngineSetUp, AHandleThatDoesNotOpenLaterIsEveryRanksError) {
  expect_all_fail(with_bad_gpu(3, [](PretendedGpu& gpu) { gpu.opens_small_handles_only = true; }),
                  ErrorKind::runtime, "rank 1: can't open a memory handle");
}

TEST(EngineSetUp, APathThatCorruptsDataIsNotTaken) {
  expect_host_memory(with_bad_gpu(3,
                                  [](PretendedGpu& gpu) {
                                    gpu.corrupted_peers = {0, 2};
                                  }),
                     "the data arrive wrong");
}
TEST(EngineSetUp, APathThatCorruptsDataIsAnErrorWherePeerMemoryIsForced) {
  const EngineJob job = with_bad_gpu(3, [](PretendedGpu& gpu) { gpu.corrupted_peers = {0}; });
  expect_all_fail(forced_to_peer_memory(job), ErrorKind::runtime,
                  "from rank 0 (0000:10:00.0) to rank 1 (0000:11:00.0): peer access is granted, but the data "
                  "arrive wrong");
}

TEST(EngineSetUp, MoreRanksThanTheEngineTakesAreRefused) {
  const EngineJob job = job_of(kMostEngineRanks + 1);
  for (const Outcome& outcome : run_ranks(job, expect_right)) {
    EXPECT_TRUE(has(outcome.message, "17 ranks"));
    EXPECT_TRUE(has(outcome.message, "the engine takes at most 16"));
    EXPECT_EQ(outcome.kind, ErrorKind::usage);
  }
}

TEST(EngineSetUp, OptionsOutOfRangeAreRefused) {
  const auto refusal_of = [](const std::function<void(EngineOptions&)>& change) {
    EngineJob job = job_of(2);
    change(job.options);
    const auto outcomes = run_ranks(job, expect_right);
    EXPECT_EQ(outcomes[0].message, outcomes[1].message);
    EXPECT_EQ(outcomes[0].kind, ErrorKind::usage);
    return outcomes[0].message;
  };
  EXPECT_TRUE(has(refusal_of([](EngineOptions& o) { o.channels = 0; }), "0 channels"));
  EXPECT_TRUE(has(refusal_of([](EngineOptions& o) { o.channels = 65; }), "take 1 to 64"));
  EXPECT_TRUE(has(refusal_of([](EngineOptions& o) { o.timeout = milliseconds(0); }), "a time-out of 0 ms"));
  EXPECT_TRUE(has(refusal_of([](EngineOptions& o) { o.timeout = milliseconds(600'001); }), "10 minutes"));
  EXPECT_TRUE(
      has(refusal_of([](EngineOptions& o) { o.ring_buffsize[1] = Bytes(32'767); }), "32 KiB to 1 GiB"));
}

/// Each rank with options of its own: as `run_ranks`, but for those.
TEST(EngineSetUp, RanksMustHaveTheSameOptions) {
  auto exchanges = thread_exchanges(3, milliseconds(20'000));
  std::vector<Outcome> outcomes(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      EngineJob job = job_of(3);
      if (rank == 2) job.options.channels = 1;
      outcomes[rank] = live(job, std::move(exchanges[rank]), expect_right);
    });
  }
  for (std::thread& each : threads) each.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(has(outcome.message, "ranks disagree about the options: rank 0 has `auto channels 2"));
    EXPECT_TRUE(has(outcome.message, "rank 2 `auto channels 1"));
    EXPECT_EQ(outcome.kind, ErrorKind::usage);
  }
}

TEST(EngineSetUp, ARankThatDoesNotComeIsNamed) {
  auto exchanges = thread_exchanges(3, milliseconds(300));
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back(
        [&, rank] { outcomes[rank] = live(job_of(3), std::move(exchanges[rank]), expect_right); });
  for (std::thread& each : threads) each.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(has(outcome.message, "rank 2"));
    EXPECT_EQ(outcome.left_behind, 0u);
  }
}

TEST(EngineSetUp, SmallConnectionsGetSmallChunks) {
  EngineJob job = job_of(3);
  for (auto& buffsize : job.options.ring_buffsize) buffsize = Bytes(64 << 10);
  std::vector<EngineCase> cases;
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    cases.emplace_back();
    cases.back().data.ranks = 3;
    cases.back().data.count = 200'001;
    cases.back().choice.algorithm = Algorithm::ring;
    cases.back().choice.protocol = protocol;
  }
  EXPECT_EQ(problem_of(job, cases), "");
}

}  // namespace
}  // namespace lanecast
