#include "hw/measure/rank_link.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "model/error.hpp"

namespace lanecast {
namespace {

/// Runs `work` on every rank, each a thread.
void on_ranks(int ranks, const std::function<void(RankLink&)>& work) {
  auto exchanges = thread_exchanges(ranks, std::chrono::seconds(10));
  std::vector<std::thread> threads;
  for (const auto& exchange : exchanges) {
    threads.emplace_back([&] {
      RankLink link(*exchange);
      work(link);
      exchange->leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PackedTimes, UnpackToTheSameNumbers) {
  const std::vector<Seconds> times{Seconds(1e-6), Seconds(0), Seconds(123.456)};
  EXPECT_EQ(unpacked_times(packed_times(times)), times);
  EXPECT_TRUE(unpacked_times("").empty());
}

TEST(RankLink, AgreesAboutStoppingAndTheSlowestRank) {
  on_ranks(3, [](RankLink& link) {
    EXPECT_TRUE(link.any(link.rank() == 1, "whether to stop"));
    EXPECT_FALSE(link.any(false, "whether to stop"));
    EXPECT_EQ(link.slowest(Seconds(link.rank())), Seconds(2));
  });
}

TEST(RankLink, GivesEveryoneAllTimesByRank) {
  on_ranks(2, [](RankLink& link) {
    const auto all = link.all_times({Seconds(link.rank()), Seconds(7)});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1], (std::vector<Seconds>{Seconds(1), Seconds(7)}));
  });
}

TEST(RankLink, NamesTheRankThatTookAnotherNumberOfTimings) {
  on_ranks(2, [](RankLink& link) {
    try {
      link.all_times(std::vector<Seconds>(link.rank() == 1 ? 2 : 3));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::runtime);
      EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(1 - link.rank())), std::string::npos);
    }
  });
}

TEST(RankLink, TellsTheOthersWhyARankGivesUp) {
  on_ranks(2, [](RankLink& link) {
    if (link.rank() == 1) return link.give_up("out of memory on GPU 3");
    try {
      for (int i = 0; i < 2; ++i) link.barrier();
      ADD_FAILURE() << "waited for a rank that gave up";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("out of memory on GPU 3"), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace lanecast
