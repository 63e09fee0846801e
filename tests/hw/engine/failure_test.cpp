#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/hw/engine/engine_ranks.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;
using support::CollectiveCase;
using support::PretendedGpu;

constexpr milliseconds kTimeout{400};
constexpr milliseconds kSoon{15'000};  // of a whole job that fails after one time-out, on a busy machine

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

EngineJob hasty_job(int ranks) {
  EngineJob job;
  job.ranks = ranks;
  job.options = patient_options();
  job.options.timeout = kTimeout;
  return job;
}

/// Rank 1's kernels are changed.
EngineJob with_bad_kernels(int ranks, const support::KernelMischief& mischief) {
  EngineJob job = hasty_job(ranks);
  job.gpu = [=](int rank) {
    PretendedGpu gpu = good_gpu(rank);
    if (rank == 1) gpu.kernels = mischief;
    return gpu;
  };
  return job;
}

CallChoice ring() {
  CallChoice choice;
  choice.algorithm = Algorithm::ring;
  return choice;
}

void three_calls(EngineRank& rank) {
  for (int call = 0; call < 3; ++call) EXPECT_EQ(sum_of_ones(rank, 1000, ring()), "");
}

/// Every rank's call fails with these words, in time, and nothing is left behind.
void expect_all_say(const std::vector<Outcome>& outcomes, const std::vector<std::string>& words) {
  for (const Outcome& outcome : outcomes) {
    for (const std::string& word : words) EXPECT_TRUE(has(outcome.message, word));
    EXPECT_EQ(outcome.kind, ErrorKind::runtime);
    EXPECT_EQ(outcome.left_behind, 0u);
    EXPECT_LT(outcome.took, kSoon);
  }
}

void expect_next_run_works() {
  EngineJob job;
  job.options = patient_options();
  for (const Outcome& outcome : run_ranks(job, three_calls)) EXPECT_EQ(outcome.message, "");
}

TEST(EngineFailure, AKernelThatStopsIsNamedWithItsStepAndPathOnEveryRank) {
  support::KernelMischief mischief;
  mischief.hangs = support::CallMoment{2, 1};
  const auto outcomes = run_ranks(with_bad_kernels(3, mischief), three_calls);
  expect_all_say(outcomes, {" waited 400 ms for data of rank ", "for data of rank 1 at step ",
                            "call 2) over peer memory over PCIe", "see what rank 1 does",
                            "in call 2: all_reduce of 1000 float (sum, ring, "});
  expect_next_run_works();
}

TEST(EngineFailure, AKernelThatStopsIsNamedThroughHostMemoryToo) {
  for (const Staging staging : {Staging::kernels, Staging::copy_engines}) {
    support::KernelMischief mischief;
    mischief.starts = 4 * kTimeout;
    EngineJob job = with_bad_kernels(2, mischief);
    job.options.transport = Transport::shm;
    CallChoice choice = ring();
    choice.protocol = Protocol::simple;
    choice.staging = staging;
    const auto outcomes = run_ranks(job, [&](EngineRank& rank) {
      if (rank.rank == 0 || staging == Staging::kernels) sum_of_ones(rank, 1000, choice);
    });
    EXPECT_TRUE(has(outcomes[0].message, "rank 0 waited 400 ms for data of rank 1 at step "));
    EXPECT_TRUE(has(outcomes[0].message, "over host memory"));
  }
}

TEST(EngineFailure, ALateRankWithinTheTimeOutIsNoError) {
  support::KernelMischief mischief;
  mischief.starts = milliseconds(30);
  EngineJob job = with_bad_kernels(3, mischief);
  job.options.timeout = milliseconds(20'000);
  for (const Outcome& outcome : run_ranks(job, three_calls)) EXPECT_EQ(outcome.message, "");
}

TEST(EngineFailure, ALateRankBeyondTheTimeOutIsNamedOnEveryRank) {
  support::KernelMischief mischief;
  mischief.starts = 4 * kTimeout;
  const auto outcomes = run_ranks(with_bad_kernels(3, mischief), three_calls);
  expect_all_say(outcomes, {" waited 400 ms for data of rank ", "for data of rank 1 at step ",
                            "over peer memory over PCIe", "in call 1: all_reduce", "see what rank 1 does"});
  expect_next_run_works();
}

TEST(EngineFailure, ARankThatMakesNoCallIsNamedWithItsNumberOfCalls) {
  const auto outcomes = run_ranks(hasty_job(3), [](EngineRank& rank) {
    sum_of_ones(rank);
    if (rank.rank == 1) check_until_error(rank.communicator);
    sum_of_ones(rank, 1000, ring());
  });
  expect_all_say(outcomes,
                 {"for data of rank 1 at step ", "; rank 1 has entered 1 call", "see what rank 1 does"});
}

/// Rank 1 makes another second call than the others.
std::vector<Outcome> second_call_differs(const std::function<void(CollectiveCase&, CallChoice&)>& change) {
  std::vector<std::vector<float>> buffers(3, std::vector<float>(8000));
  return run_ranks(hasty_job(3), [&](EngineRank& rank) {
    sum_of_ones(rank, 1000, ring());
    CollectiveCase call;
    call.ranks = 3;
    call.count = 500;
    CallChoice choice = ring();
    choice.protocol = Protocol::simple;
    if (rank.rank == 1) change(call, choice);
    float* data = buffers[static_cast<std::size_t>(rank.rank)].data();
    rank.communicator.run(call_of(call), choice, data, data, rank.stream);
    rank.communicator.synchronize(rank.stream);
    rank.communicator.barrier();
  });
}

TEST(EngineFailure, RanksThatDifferAreToldSoThoughTheCallCouldEnd) {
  const std::string head = "ranks disagree about call 2";
  expect_all_say(second_call_differs([](auto& call, auto&) { call.op = ReduceOp::max; }),
                 {head, "all_reduce of 500 float (max, ring, simple)"});
  expect_all_say(second_call_differs([](auto& call, auto&) { call.type = Datatype::int32; }),
                 {head, "all_reduce of 500 int32 (sum, ring, simple)"});
  expect_all_say(second_call_differs([](auto& call, auto&) { call.count = 501; }),
                 {head, "all_reduce of 501 float (sum, ring, simple)"});
}

TEST(EngineFailure, RanksThatDifferAreToldSoWhereTheCallCouldNotEnd) {
  const std::string head = "ranks disagree about call 2";
  expect_all_say(second_call_differs([](auto& call, auto&) { call.count = 0; }),
                 {"ranks disagree about call 2"});
  expect_all_say(second_call_differs([](auto& call, auto&) { call.collective = Collective::all_gather; }),
                 {head, "all_gather of 500 float (ring, simple)"});
  expect_all_say(second_call_differs([](auto& call, auto&) { call.collective = Collective::broadcast; }),
                 {head, "broadcast of 500 float from root 0 (ring, simple)"});
  expect_all_say(second_call_differs([](auto&, auto& choice) { choice.protocol = Protocol::ll; }),
                 {head, "all_reduce of 500 float (sum, ring, ll)"});
  expect_all_say(second_call_differs([](auto&, auto& choice) { choice.algorithm = Algorithm::two_shot; }),
                 {head, "all_reduce of 500 float (sum, two_shot, simple)"});
  expect_all_say(second_call_differs([](auto&, auto& choice) { choice.threads = 160; }),
                 {"ranks disagree about call 2"});
  expect_next_run_works();
}

TEST(EngineFailure, AUsageErrorOnOneRankEndsTheCallsOfTheOthers) {
  const auto outcomes = run_ranks(hasty_job(2), [](EngineRank& rank) {
    sum_of_ones(rank, 1000, ring());
    if (rank.rank == 1)
      rank.communicator.all_reduce(nullptr, nullptr, 4, Datatype::float32, ReduceOp::sum, rank.stream);
    sum_of_ones(rank, 1000, ring());
  });
  EXPECT_TRUE(has(outcomes[1].message, "no input buffer"));
  EXPECT_EQ(outcomes[1].kind, ErrorKind::usage);
  // Rank 1 closes its communicator then: before rank 0 makes its next call, or while that waits
  const bool told = has(outcomes[0].message, "rank 1 has closed its communicator");
  EXPECT_TRUE(told || has(outcomes[0].message, "rank 0 waited 400 ms for data of rank 1"))
      << outcomes[0].message;
}

TEST(EngineFailure, AfterAnErrorAllLaterCallsThrowTheSame) {
  support::KernelMischief mischief;
  mischief.hangs = support::CallMoment{1, 0};
  const auto outcomes = run_ranks(with_bad_kernels(2, mischief), [](EngineRank& rank) {
    std::vector<std::string> messages;
    for (int call = 0; call < 3; ++call) {
      try {
        sum_of_ones(rank, 10, ring());
      } catch (const Error& error) {
        messages.push_back(error.what());
      }
    }
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_EQ(messages[0], messages[2]);
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

TEST(EngineFailure, ADestructorWaitsForTheTimeOutOfItsKernelsAtMost) {
  std::vector<float> data(1000, 1.0F);
  const auto outcomes = run_ranks(hasty_job(2), [&](EngineRank& rank) {
    if (rank.rank == 0)
      rank.communicator.all_reduce(data.data(), data.data(), data.size(), Datatype::float32, ReduceOp::sum,
                                   rank.stream);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.left_behind, 0u);
    EXPECT_LT(outcome.took, kSoon);
  }
}

/// A rank that goes through both communicators with one device.
std::string fail_then_work(std::unique_ptr<Exchange> first, std::unique_ptr<Exchange> second) {
  const int rank = first->rank();
  support::PretendedDevice device(good_gpu(rank));
  EngineOptions options = patient_options();
  const auto open = [&](std::unique_ptr<Exchange> exchange, bool calls) {
    Communicator communicator(std::move(exchange), device, options);
    EngineRank seen{rank, communicator, device, device.new_stream()};
    if (calls) return sum_of_ones(seen);
    check_until_error(communicator);
    return std::string("no error came");
  };
  options.timeout = kTimeout;
  try {
    open(std::move(first), rank == 0);
  } catch (const Error&) {
    options.timeout = milliseconds(20'000);
    return open(std::move(second), true);
  }
  return "the first communicator did not fail";
}

TEST(EngineFailure, RanksCanOpenANewCommunicatorAfterwards) {
  auto first = thread_exchanges(2, milliseconds(20'000));
  auto second = thread_exchanges(2, milliseconds(20'000));
  std::vector<std::string> words(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back(
        [&, rank] { words[rank] = fail_then_work(std::move(first[rank]), std::move(second[rank])); });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(words, std::vector<std::string>(2));
}

}  // namespace
}  // namespace lanecast
