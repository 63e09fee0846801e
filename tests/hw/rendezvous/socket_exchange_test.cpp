#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/shared_memory.hpp"
#include "model/error.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;
using testing::AssertionResult;
using Clock = std::chrono::steady_clock;
using Task = std::function<std::string(Exchange& exchange, const RankProcess::Say& say)>;

constexpr milliseconds kPatient{10'000};

AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

RankProcess started(int rank, int ranks, milliseconds timeout, const Task& task) {
  return RankProcess([=](const RankProcess::Say& say) {
    const std::unique_ptr<Exchange> exchange = meet({"job", rank, ranks, timeout});
    return task(*exchange, say);
  });
}

std::vector<RankProcess> all_started(int ranks, milliseconds timeout, const Task& task) {
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < ranks; ++rank) processes.push_back(started(rank, ranks, timeout, task));
  return processes;
}

/// "rank 2: its process 4711 ended", once `lost` says so.
std::string wait_for_loss(Exchange& exchange) {
  const auto end = Clock::now() + kPatient;
  while (Clock::now() < end) {
    if (const auto lost = exchange.lost()) return "rank " + std::to_string(lost->rank) + ": " + lost->how;
    std::this_thread::yield();
  }
  return "no rank";
}

std::string problem_of(const std::function<void()>& task) {
  try {
    task();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class SocketExchangeTest : public testing::Test {
 protected:
  OwnRuntimeFolder folder_;
};

class AKilledRank : public SocketExchangeTest, public testing::WithParamInterface<int> {};

TEST_P(AKilledRank, EndsTheOthersExchangeNamingItsProcess) {
  const int victim = GetParam();
  std::vector<RankProcess> ranks =
      all_started(4, kPatient, [=](Exchange& exchange, const RankProcess::Say& say) -> std::string {
        exchange.all_gather("", "first words");
        say("met");
        if (exchange.rank() == victim) wait_to_be_killed();
        return problem_of([&] { exchange.all_gather("", "memory handles"); });
      });
  for (RankProcess& each : ranks) ASSERT_EQ(each.hear(), "met");
  RankProcess& killed = ranks[static_cast<std::size_t>(victim)];
  const std::string process = std::to_string(killed.process());
  const auto begin = Clock::now();
  killed.kill();
  for (RankProcess& each : ranks) {
    if (&each == &killed) continue;
    const std::string word = each.hear();
    EXPECT_EQ(word.rfind("rank " + std::to_string(victim) + " is gone: its process " + process + " ended", 0),
              0U)
        << word;
    EXPECT_TRUE(has(word, "\n  at the exchange of memory handles, rank "));
  }
  EXPECT_LT(Clock::now() - begin, kPatient / 2) << "it is no time-out that ends them";
}

TEST_P(AKilledRank, IsTheFirstLostOfAllOthersEvenAsTheyEndThemselves) {
  const int victim = GetParam();
  std::vector<RankProcess> ranks =
      all_started(4, kPatient, [=](Exchange& exchange, const RankProcess::Say& say) -> std::string {
        exchange.all_gather("", "first words");
        if (exchange.lost()) return "lost too early";
        say("met");
        if (exchange.rank() == victim) wait_to_be_killed();
        return wait_for_loss(exchange);
      });
  for (RankProcess& each : ranks) ASSERT_EQ(each.hear(), "met");
  RankProcess& killed = ranks[static_cast<std::size_t>(victim)];
  const std::string expected =
      "rank " + std::to_string(victim) + ": its process " + std::to_string(killed.process()) + " ended";
  killed.kill();
  for (RankProcess& each : ranks) {
    if (&each == &killed) continue;
    EXPECT_EQ(each.hear(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(AnyRank, AKilledRank, testing::Values(0, 1, 2, 3));

TEST_F(SocketExchangeTest, LostNeverWaitsWhileAnotherThreadGathers) {
  std::vector<RankProcess> ranks =
      all_started(2, kPatient, [](Exchange& exchange, const RankProcess::Say& say) -> std::string {
        say("met");
        if (exchange.rank() == 1) wait_to_be_killed();
        std::string problem;
        std::atomic<bool> done{false};
        std::thread main([&] {
          problem = problem_of([&] { exchange.all_gather("", "words"); });
          done = true;
        });
        std::chrono::duration<double> longest{0};
        while (!done) {
          const auto begin = Clock::now();
          exchange.lost();
          longest = std::max<std::chrono::duration<double>>(longest, Clock::now() - begin);
          std::this_thread::yield();
        }
        main.join();
        return (longest.count() < 2.0 ? "short: " : "long: ") + problem;
      });
  for (RankProcess& each : ranks) ASSERT_EQ(each.hear(), "met");
  const std::string process = std::to_string(ranks[1].process());
  ranks[1].kill();
  EXPECT_TRUE(has(ranks[0].hear(), "short: rank 1 is gone: its process " + process + " ended"));
}

TEST_F(SocketExchangeTest, ARankThatSaidGoodbyeIsNotLost) {
  std::vector<RankProcess> ranks =
      all_started(3, kPatient, [](Exchange& exchange, const RankProcess::Say& say) -> std::string {
        exchange.all_gather("", "words");
        if (exchange.rank() != 0) say("met");
        if (exchange.rank() == 0) {
          exchange.leave();
          return "left";
        }
        const std::string problem = problem_of([&] { exchange.all_gather("", "more words"); });
        return problem + (exchange.lost() ? " lost" : " not lost");
      });
  EXPECT_EQ(ranks[0].hear(), "left");
  for (std::size_t i : {1U, 2U}) {
    ASSERT_EQ(ranks[i].hear(), "met");
    const std::string word = ranks[i].hear();
    EXPECT_TRUE(has(word, "rank 0 left before the exchange of more words"));
  }
}

TEST_F(SocketExchangeTest, AllLeaveInAnyOrderWithoutALoss) {
  std::vector<RankProcess> ranks =
      all_started(6, kPatient, [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        for (int i = 0; i < 20; ++i) {
          exchange.all_gather("", "words");
          if (exchange.lost()) return "lost";
        }
        exchange.leave();
        return exchange.lost() ? "lost at the end" : "well";
      });
  for (RankProcess& each : ranks) EXPECT_EQ(each.hear(), "well");
}

TEST_F(SocketExchangeTest, GivingUpEndsTheOthersRunningAndNextExchange) {
  std::vector<RankProcess> ranks =
      all_started(3, kPatient, [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        if (exchange.rank() == 1) {
          exchange.give_up("out of memory on gpu1");
          return problem_of([&] { exchange.all_gather("", "memory handles"); });
        }
        const std::string loss = exchange.rank() == 2 ? wait_for_loss(exchange) : "";
        return loss + problem_of([&] { exchange.all_gather("", "memory handles"); });
      });
  EXPECT_TRUE(has(ranks[0].hear(), "rank 1 is gone: it gave up: out of memory on gpu1"));
  EXPECT_TRUE(has(ranks[1].hear(), "this rank gave up earlier: out of memory on gpu1"));
  const std::string word = ranks[2].hear();
  EXPECT_TRUE(has(word, "rank 1: it gave up: out of memory on gpu1"));
  EXPECT_TRUE(has(word, "rank 1 is gone: it gave up: out of memory on gpu1"));
}

TEST_F(SocketExchangeTest, ALateRankIsNamedAndFindsThatTheOthersGaveUp) {
  std::vector<RankProcess> ranks =
      all_started(3, milliseconds(1000), [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        if (exchange.rank() == 2) wait_for_loss(exchange);
        return problem_of([&] { exchange.all_gather("", "memory handles"); });
      });
  for (RankProcess& each : ranks) {
    EXPECT_TRUE(has(each.hear(), "rank 2 did not come to the exchange of memory handles within 1 s"));
  }
}

TEST_F(SocketExchangeTest, RanksThatExchangeDifferentThingsAreNamed) {
  std::vector<RankProcess> ranks =
      all_started(2, kPatient, [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        return problem_of(
            [&] { exchange.all_gather("", exchange.rank() == 0 ? "memory handles" : "status pages"); });
      });
  EXPECT_TRUE(has(ranks[0].hear(), "ranks disagree about what they exchange: "));
  EXPECT_TRUE(has(ranks[1].hear(), "ranks disagree about what they exchange: "));
}

TEST_F(SocketExchangeTest, PassesOpenFilesThatAllRanksShare) {
  constexpr int kRanks = 4;
  std::vector<RankProcess> ranks =
      all_started(kRanks, kPatient, [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        const SharedMemory mine = SharedMemory::create(kRanks, "the test");
        std::vector<OwnedFile> files = exchange.all_gather_files(mine.descriptor(), "pages");
        if (files[static_cast<std::size_t>(exchange.rank())].descriptor() == mine.descriptor())
          return "not its own";
        for (OwnedFile& file : files) {  // rank r writes into byte r of everyone's
          const SharedMemory theirs = SharedMemory::open(std::move(file), kRanks, "the test");
          static_cast<char*>(theirs.data())[exchange.rank()] = static_cast<char>('a' + exchange.rank());
        }
        exchange.all_gather("", "that all have written");
        exchange.leave();
        return std::string(static_cast<const char*>(mine.data()), kRanks);
      });
  for (RankProcess& each : ranks) EXPECT_EQ(each.hear(), "abcd");
}

TEST_F(SocketExchangeTest, PassesContributionsLargerThanSocketsHold) {
  std::vector<RankProcess> ranks =
      all_started(4, kPatient, [](Exchange& exchange, const RankProcess::Say&) -> std::string {
        const std::size_t size = 3U << 20U;
        const char letter = static_cast<char>('a' + exchange.rank());
        const std::vector<std::string> all = exchange.all_gather(std::string(size, letter), "large words");
        for (std::size_t other = 0; other < all.size(); ++other) {
          if (all[other] != std::string(size, static_cast<char>('a' + other))) return "wrong";
        }
        exchange.leave();
        return "right";
      });
  for (RankProcess& each : ranks) EXPECT_EQ(each.hear(), "right");
}

}  // namespace
}  // namespace lanecast
