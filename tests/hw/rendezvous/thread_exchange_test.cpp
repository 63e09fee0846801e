#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/shared_memory.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatient{10'000};

/// What each rank's thread returned, or the message of the Error that it threw.
std::vector<std::string> run_ranks(int ranks, milliseconds timeout,
                                   const std::function<std::string(Exchange& exchange)>& body) {
  std::vector<std::unique_ptr<Exchange>> exchanges = thread_exchanges(ranks, timeout);
  std::vector<std::string> words(exchanges.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < exchanges.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const std::unique_ptr<Exchange> own = std::move(exchanges[rank]);
      try {
        words[rank] = body(*own);
      } catch (const Error& error) {
        words[rank] = error.what();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return words;
}

bool begins(const std::string& text, const std::string& head) { return text.rfind(head, 0) == 0; }

TEST(ThreadExchange, GivesEveryRankEveryContributionByRank) {
  constexpr int kRanks = 8;
  const auto words = run_ranks(kRanks, kPatient, [](Exchange& exchange) -> std::string {
    for (int round = 0; round < 200; ++round) {
      const auto all = exchange.all_gather(std::to_string(1000 * exchange.rank() + round), "numbers");
      for (int other = 0; other < kRanks; ++other) {
        if (all.at(static_cast<std::size_t>(other)) != std::to_string(1000 * other + round)) return "wrong";
      }
    }
    exchange.leave();
    return exchange.lost() ? "lost" : "right";
  });
  EXPECT_EQ(words, std::vector<std::string>(kRanks, "right"));
}

TEST(ThreadExchange, GivesEachRankFilesOfItsOwn) {
  const auto words = run_ranks(3, kPatient, [](Exchange& exchange) -> std::string {
    const SharedMemory mine = SharedMemory::create(3, "the test");
    for (OwnedFile& file : exchange.all_gather_files(mine.descriptor(), "pages")) {
      if (file.descriptor() == mine.descriptor()) return "not its own";
      const SharedMemory theirs = SharedMemory::open(std::move(file), 3, "the test");
      static_cast<char*>(theirs.data())[exchange.rank()] = static_cast<char>('a' + exchange.rank());
    }
    exchange.all_gather("", "that all have written");
    exchange.leave();
    return std::string(static_cast<const char*>(mine.data()), 3);
  });
  EXPECT_EQ(words, std::vector<std::string>(3, "abc"));
}

TEST(ThreadExchange, NamesARankThatDoesNotComeInTime) {
  const auto words = run_ranks(3, milliseconds(500), [](Exchange& exchange) -> std::string {
    while (exchange.rank() == 2 && !exchange.lost()) std::this_thread::yield();
    exchange.all_gather("", "memory handles");
    return "all came";
  });
  for (const std::string& word : words) {
    EXPECT_NE(word.find("rank 2 did not come to the exchange of memory handles within 500 ms"),
              std::string::npos)
        << word;
  }
}

TEST(ThreadExchange, NamesARankWhoseThreadEnded) {
  const auto words = run_ranks(3, kPatient, [](Exchange& exchange) -> std::string {
    exchange.all_gather("", "words");
    if (exchange.rank() == 1) return "ends";
    exchange.all_gather("", "more words");
    return "all came";
  });
  for (std::size_t rank : {0U, 2U})
    EXPECT_TRUE(begins(words[rank], "rank 1 is gone: its thread ended")) << words[rank];
}

TEST(ThreadExchange, NamesARankThatLeft) {
  const auto words = run_ranks(2, kPatient, [](Exchange& exchange) -> std::string {
    exchange.all_gather("", "words");
    if (exchange.rank() == 1) {
      exchange.leave();
      return "leaves";
    }
    exchange.all_gather("", "more words");
    return "all came";
  });
  EXPECT_TRUE(begins(words[0], "rank 1 left before the exchange of more words")) << words[0];
}

TEST(ThreadExchange, PassesOnWhyARankGaveUp) {
  const auto words = run_ranks(3, kPatient, [](Exchange& exchange) -> std::string {
    if (exchange.rank() == 0) {
      exchange.give_up("out of memory on gpu0");
      const std::optional<LostRank> lost = exchange.lost();  // perhaps a rank that gave up in turn
      return lost && lost->rank == 0 ? "lost itself" : "gave up";
    }
    exchange.all_gather("", "words");
    return "all came";
  });
  EXPECT_EQ(words[0], "gave up");
  for (std::size_t rank : {1U, 2U}) {
    EXPECT_TRUE(begins(words[rank], "rank 0 is gone: it gave up: out of memory on gpu0")) << words[rank];
  }
}

TEST(ThreadExchange, NamesRanksThatExchangeDifferentThings) {
  const auto words = run_ranks(2, kPatient, [](Exchange& exchange) -> std::string {
    exchange.all_gather("", exchange.rank() == 0 ? "memory handles" : "status pages");
    return "all came";
  });
  for (const std::string& word : words) {
    EXPECT_NE(word.find("ranks disagree about what they exchange: "), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace lanecast
