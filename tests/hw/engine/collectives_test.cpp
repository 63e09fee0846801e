#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "model/predict/algorithm.hpp"
#include "tests/hw/engine/engine_ranks.hpp"
#include "tests/support/element.hpp"

namespace lanecast {
namespace {

using support::CollectiveCase;

constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather, Collective::broadcast, Collective::reduce};
constexpr Protocol kProtocols[] = {Protocol::simple, Protocol::ll, Protocol::ll128};

EngineJob job_of(int ranks) {
  EngineJob job;
  job.ranks = ranks;
  job.options = patient_options();
  return job;
}

/// Algorithms that the engine's kernels run.
std::vector<Algorithm> pushing_algorithms() {
  std::vector<Algorithm> algorithms;
  for (const Algorithm algorithm : simulated_algorithms()) {
    if (!pulls(algorithm)) algorithms.push_back(algorithm);
  }
  return algorithms;
}

bool reduces_data(Collective collective) {
  return collective != Collective::all_gather && collective != Collective::broadcast;
}

EngineCase case_of(Collective collective, int ranks, std::uint64_t count) {
  EngineCase test;
  test.data.collective = collective;
  test.data.ranks = ranks;
  test.data.count = count;
  test.data.seed = count + static_cast<std::uint64_t>(ranks);
  return test;
}

/// One after the other, what differs from rank to rank and from call to call taken from the number.
std::vector<EngineCase> numbered(std::vector<EngineCase> cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CollectiveCase& data = cases[i].data;
    data.seed = i + 1;
    data.in_place = i % 2 == 1;
    data.root = static_cast<int>(i) % data.ranks;
    cases[i].shift = i % 5;
  }
  return cases;
}

std::vector<EngineCase> all_types_and_ops(Collective collective, int ranks, const CallChoice& choice) {
  std::vector<EngineCase> cases;
  for (const Datatype type : support::all_datatypes) {
    for (const ReduceOp op : support::all_reduce_ops) {
      if (op != ReduceOp::sum && !reduces_data(collective)) continue;
      EngineCase test = case_of(collective, ranks, 517);
      test.data.type = type;
      test.data.op = op;
      test.choice = choice;
      cases.push_back(test);
    }
  }
  return numbered(cases);
}

TEST(EngineCollectives, AreRightForEveryTypeAndOperationOfEveryAlgorithm) {
  for (const Algorithm algorithm : pushing_algorithms()) {
    for (const Collective collective : kCollectives) {
      if (!has_form(algorithm, collective, 4)) continue;
      CallChoice choice;
      choice.algorithm = algorithm;
      EXPECT_EQ(problem_of(job_of(4), all_types_and_ops(collective, 4, choice)), "");
    }
  }
}

TEST(EngineCollectives, AreRightForEveryProtocolAndNumberOfRanks) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    std::vector<EngineCase> cases;
    for (const Algorithm algorithm : pushing_algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!has_form(algorithm, collective, ranks)) continue;
        for (const Protocol protocol : kProtocols) {
          cases.push_back(case_of(collective, ranks, 1001));
          cases.back().choice.algorithm = algorithm;
          cases.back().choice.protocol = protocol;
        }
      }
    }
    EXPECT_EQ(problem_of(job_of(ranks), numbered(cases)), "") << ranks << " ranks";
  }
}

TEST(EngineCollectives, AreRightForEveryCountFromNothingToManyLoops) {
  std::vector<EngineCase> cases;
  for (const std::uint64_t count : {0u, 1u, 2u, 3u, 5u, 31u, 127u, 128u, 4097u, 100'003u, 0u, 600'001u}) {
    for (const Collective collective : kCollectives) cases.push_back(case_of(collective, 3, count));
  }
  EXPECT_EQ(problem_of(job_of(3), numbered(cases)), "");
}

/// Calls that change chunk, buffer, protocol and algorithm leave their slots to others of another size.
std::vector<EngineCase> changing_calls(int ranks) {
  std::vector<EngineCase> cases;
  for (const std::uint64_t chunk : {1024u, 8192u, 4096u}) {
    for (const std::uint64_t buffsize : {65'536u, 32'768u, 131'072u}) {
      for (const Protocol protocol : kProtocols) {
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::two_shot}) {
          cases.push_back(case_of(Collective::all_reduce, ranks, 30'011));
          CallChoice& choice = cases.back().choice;
          choice.algorithm = algorithm;
          choice.protocol = protocol;
          choice.chunk = Bytes(chunk);
          choice.buffsize = Bytes(buffsize);
          choice.channels = 1 + static_cast<int>(cases.size() % 2);
        }
      }
    }
  }
  return numbered(cases);
}

TEST(EngineCollectives, AreRightAfterCallsOfAnotherShape) {
  EXPECT_EQ(problem_of(job_of(3), changing_calls(3)), "");
}

EngineCase broadcast_of(std::uint64_t bytes, std::uint64_t buffsize) {
  EngineCase test = case_of(Collective::broadcast, 2, bytes / 4);
  test.choice.algorithm = Algorithm::ring;
  test.choice.protocol = Protocol::simple;
  test.choice.channels = 1;
  test.choice.chunk = Bytes(16 << 10);
  test.choice.buffsize = Bytes(buffsize);
  return test;
}

/// The root runs ahead of a receiver that starts late: steps 2 to 5 still lie in slots 2, 3, 0 and 1 of four
/// when it comes to step 8, which has slot 0 of eight.
TEST(EngineCollectives, AreRightWhereConnectionsGetMoreSlotsOfTheSameSize) {
  EngineJob job = job_of(2);
  job.gpu = [](int rank) {
    support::PretendedGpu gpu = good_gpu(rank);
    if (rank == 1) gpu.kernels.starts = std::chrono::milliseconds(30);
    return gpu;
  };
  EXPECT_EQ(problem_of(job, {broadcast_of(16 << 10, 32 << 10), broadcast_of(32 << 10, 32 << 10),
                             broadcast_of(64 << 10, 64 << 10)}),
            "");
}

TEST(EngineCollectives, AreRightWhereCountersWrap) {
  for (const std::uint64_t wrap : {std::uint64_t{1} << 31, std::uint64_t{1} << 32}) {
    EngineJob job = job_of(3);
    job.options.first_step = wrap - 5;
    EXPECT_EQ(problem_of(job, changing_calls(3)), "");
  }
}

TEST(EngineCollectives, AreRightThroughHostMemory) {
  EngineJob job = job_of(3);
  job.options.transport = Transport::shm;
  std::vector<EngineCase> cases;
  for (const Collective collective : kCollectives) {
    for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
      cases.push_back(case_of(collective, 3, 20'003));
      cases.back().choice.protocol = protocol;
      cases.back().choice.staging = Staging::kernels;
    }
  }
  EXPECT_EQ(problem_of(job, numbered(cases)), "");
}

/// Ranks of one process map each other's host memory at addresses of their own: to the thread sanitizer a
/// counter there is several, and what it orders is a race.
constexpr bool kSeesHostMemoryTwice =
#if defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

TEST(EngineCollectives, AreRightWithCopyEngines) {
  if (kSeesHostMemoryTwice)
    GTEST_SKIP() << "the thread sanitizer does not see that mappings are the same memory";
  EngineJob job = job_of(3);
  job.options.transport = Transport::shm;
  std::vector<EngineCase> cases;
  for (const Collective collective : kCollectives) {
    for (const std::uint64_t count : {1u, 1003u, 700'001u}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::min}) {
        if (op != ReduceOp::sum && !reduces_data(collective)) continue;
        cases.push_back(case_of(collective, 3, count));
        cases.back().data.op = op;
        cases.back().choice.staging = Staging::copy_engines;
        if (count == 1003u) cases.back().choice.channels = 1;
      }
    }
  }
  EXPECT_EQ(problem_of(job, numbered(cases)), "");
  job.options.first_step = (std::uint64_t{1} << 32) - 3;
  EXPECT_EQ(problem_of(job, numbered(cases)), "");
}

TEST(EngineCollectives, AreRightWhereSomePairsOnlyMeetInHostMemory) {
  if (kSeesHostMemoryTwice)
    GTEST_SKIP() << "the thread sanitizer does not see that mappings are the same memory";
  EngineJob job = job_of(4);
  job.gpu = [](int rank) {
    support::PretendedGpu gpu = good_gpu(rank);
    if (rank == 1) gpu.refused_peers = {2, 3};
    return gpu;
  };
  std::vector<EngineCase> cases;
  for (const Algorithm algorithm : pushing_algorithms()) {
    for (const Collective collective : kCollectives) {
      if (!has_form(algorithm, collective, 4)) continue;
      cases.push_back(case_of(collective, 4, 5003));
      cases.back().choice.algorithm = algorithm;
    }
  }
  EXPECT_EQ(problem_of(job, numbered(cases)), "");
}

TEST(EngineCollectives, AreRightWithGroupsOfRanksThatNvlinkJoins) {
  // Neighbouring ranks, and ranks that lie apart
  for (const std::vector<int>& groups :
       {std::vector{0, 0, 1, 1, 2, 2, 3, 3}, std::vector{0, 1, 0, 1, 0, 1, 0, 1}}) {
    EngineJob job = job_of(8);
    job.nvlink_groups = groups;
    std::vector<EngineCase> cases;
    for (const Algorithm algorithm : {Algorithm::hierarchical_ring, Algorithm::hierarchical_tree,
                                      Algorithm::hierarchical, Algorithm::tree}) {
      for (const Protocol protocol : kProtocols) {
        cases.push_back(case_of(Collective::all_reduce, 8, 10'007));
        cases.back().choice.algorithm = algorithm;
        cases.back().choice.protocol = protocol;
      }
    }
    EXPECT_EQ(problem_of(job, numbered(cases)), "");
  }
}

TEST(EngineCollectives, AreRightWhenRanksShareAGpu) {
  EngineJob job = job_of(4);
  job.gpu = [](int rank) { return good_gpu(rank / 2); };
  EXPECT_EQ(problem_of(job, numbered({case_of(Collective::all_reduce, 4, 9001)})), "");
}

TEST(EngineCollectives, OfOneRankCopyItsData) {
  const auto outcomes = run_ranks(job_of(1), [](EngineRank& rank) {
    const std::vector<float> input = {1, 2, 3, 4, 5};
    for (const Collective collective : kCollectives) {
      std::vector<float> output(input.size(), 0);
      EngineCase test = case_of(collective, 1, input.size());
      rank.communicator.run(call_of(test.data), {}, input.data(), output.data(), rank.stream);
      rank.communicator.synchronize(rank.stream);
      EXPECT_EQ(output, input) << to_string(collective);
    }
  });
  EXPECT_EQ(outcomes[0].message, "");
}

TEST(EngineCollectives, HaveAFunctionEach) {
  const auto outcomes = run_ranks(job_of(2), [](EngineRank& rank) {
    const std::vector<std::int32_t> input = {1, 2, 3, 4};
    const auto run = [&](std::size_t count, const auto& call) {
      std::vector<std::int32_t> output(count, -1);
      call(output.data());
      rank.communicator.synchronize(rank.stream);
      return output;
    };
    using Ints = std::vector<std::int32_t>;
    Communicator& all = rank.communicator;
    const auto type = Datatype::int32;
    EXPECT_EQ(
        run(4, [&](void* to) { all.all_reduce(input.data(), to, 4, type, ReduceOp::sum, rank.stream); }),
        (Ints{2, 4, 6, 8}));
    EXPECT_EQ(
        run(2, [&](void* to) { all.reduce_scatter(input.data(), to, 2, type, ReduceOp::sum, rank.stream); }),
        rank.rank == 0 ? (Ints{2, 4}) : (Ints{6, 8}));
    EXPECT_EQ(run(4, [&](void* to) { all.all_gather(input.data() + rank.rank, to, 2, type, rank.stream); }),
              (Ints{1, 2, 2, 3}));
    EXPECT_EQ(run(1, [&](void* to) { all.broadcast(input.data() + rank.rank, to, 1, type, 1, rank.stream); }),
              (Ints{2}));
    EXPECT_EQ(run(1, [&](void* to) { all.reduce(input.data(), to, 1, type, ReduceOp::max, 1, rank.stream); }),
              rank.rank == 1 ? (Ints{1}) : (Ints{-1}));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

/// A rank that only sends in a call is done with it at once, and may close while others come to that call.
TEST(EngineCollectives, ARankThatHasDoneItsPartMayCloseBeforeTheOthersCall) {
  const auto outcomes = run_ranks(job_of(3), [](EngineRank& rank) {
    const std::int32_t input = rank.rank + 1;
    std::int32_t output = -1;
    if (rank.rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100 * rank.rank));
    rank.communicator.broadcast(&input, &output, 1, Datatype::int32, 0, rank.stream);
    rank.communicator.synchronize(rank.stream);
    EXPECT_EQ(output, 1);
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

}  // namespace
}  // namespace lanecast
