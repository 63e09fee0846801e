#include "hw/rendezvous/status_board.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hw/rendezvous/call_text.hpp"
#include "model/predict/algorithm.hpp"
#include "model/predict/call.hpp"
#include "model/protocol/protocol.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

/// Boards of ranks that are threads; making one is collective.
struct Boards {
  explicit Boards(int ranks)
      : exchanges(thread_exchanges(ranks, milliseconds(10'000))), of(exchanges.size()) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < of.size(); ++rank) {
      threads.emplace_back([this, rank] { of[rank] = std::make_unique<StatusBoard>(*exchanges[rank]); });
    }
    for (std::thread& each : threads) each.join();
  }

  std::vector<std::unique_ptr<Exchange>> exchanges;
  std::vector<std::unique_ptr<StatusBoard>> of;
};

CallEntry all_reduce_of(std::uint64_t count) {
  CallEntry call;
  call.count = count;
  call.collective = static_cast<std::int32_t>(Collective::all_reduce);
  call.datatype = static_cast<std::int32_t>(Datatype::float32);
  call.op = static_cast<std::int32_t>(ReduceOp::sum);
  call.algorithm = static_cast<std::int32_t>(Algorithm::ring);
  call.protocol = static_cast<std::int32_t>(Protocol::simple);
  return call;
}

TEST(StatusBoard, NumbersTheCallsOfARankFromOne) {
  Boards boards(2);
  EXPECT_EQ(boards.of[0]->enter(all_reduce_of(1)), 1U);
  EXPECT_EQ(boards.of[0]->enter(all_reduce_of(2)), 2U);
  EXPECT_EQ(boards.of[1]->page(0).calls.load(), 2U);
  EXPECT_EQ(boards.of[1]->page(1).calls.load(), 0U);
  EXPECT_EQ(entered_call(boards.of[1]->page(0), 2)->count, 2U);
  EXPECT_FALSE(entered_call(boards.of[1]->page(0), 3));
}

TEST(StatusBoard, RaisesTheAbortFlagOfEveryRank) {
  Boards boards(3);
  for (auto& board : boards.of) EXPECT_EQ(board->own().abort.load(), 0U);
  boards.of[1]->abort_all();
  for (auto& board : boards.of) EXPECT_EQ(board->own().abort.load(), 1U);
}

TEST(StatusBoard, BeginsWithoutAFault) {
  Boards boards(2);
  EXPECT_EQ(boards.of[1]->page(0).fault.what, KernelFault::nothing);
  EXPECT_EQ(boards.of[1]->page(0).fault.peer, -1);
}

TEST(StatusBoard, IsSharedByProcesses) {
  OwnRuntimeFolder folder;
  std::vector<RankProcess> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([=](const RankProcess::Say&) -> std::string {
      const std::unique_ptr<Exchange> exchange = meet({"board", rank, 3, milliseconds(10'000)});
      StatusBoard board(*exchange);
      board.enter(all_reduce_of(rank == 2 ? 8 : 4));
      exchange->all_gather("", "that all entered");
      exchange->leave();
      return disagreement(board).value_or("agreement");
    });
  }
  for (RankProcess& each : ranks) {
    EXPECT_EQ(
        each.hear(),
        "ranks disagree about call 1: ranks 0 and 1 call all_reduce of 4 float (sum, ring, simple), rank 2 "
        "all_reduce of 8 float (sum, ring, simple)");
  }
}

TEST(Disagreement, IsNoneWhileARankIsOnlyBehind) {
  Boards boards(2);
  for (std::uint64_t i = 1; i <= 5; ++i) boards.of[0]->enter(all_reduce_of(i));
  for (std::uint64_t i = 1; i <= 3; ++i) boards.of[1]->enter(all_reduce_of(i));
  EXPECT_FALSE(disagreement(*boards.of[0]));
}

TEST(Disagreement, NamesTheFirstCallThatDiffersAndWhatEachRankCalls) {
  Boards boards(2);
  for (int i = 0; i < 6; ++i) {
    for (auto& board : boards.of) board->enter(all_reduce_of(1024));
  }
  for (int i = 0; i < 3; ++i) {
    boards.of[0]->enter(all_reduce_of(1024));
    boards.of[1]->enter(all_reduce_of(2048));
  }
  for (auto& board : boards.of) {
    EXPECT_EQ(
        disagreement(*board),
        "ranks disagree about call 7: rank 0 calls all_reduce of 1024 float (sum, ring, simple), rank 1 "
        "all_reduce of 2048 float (sum, ring, simple)");
  }
}

TEST(Disagreement, ShowsEveryMember) {
  const auto between = [](const auto& change) {
    Boards boards(2);
    CallEntry other = all_reduce_of(8);
    change(other);
    boards.of[0]->enter(all_reduce_of(8));
    boards.of[1]->enter(other);
    const std::string words = disagreement(*boards.of[0]).value_or("");
    const std::string head =
        "ranks disagree about call 1: rank 0 calls all_reduce of 8 float (sum, ring, simple)";
    return words.rfind(head, 0) == 0 ? words.substr(head.size()) : "wrong head: " + words;
  };
  const auto value = [](auto enumerator) { return static_cast<std::int32_t>(enumerator); };
  EXPECT_EQ(between([&](CallEntry& call) { call.datatype = value(Datatype::float16); }),
            ", rank 1 all_reduce of 8 half (sum, ring, simple)");
  EXPECT_EQ(between([&](CallEntry& call) { call.op = value(ReduceOp::max); }),
            ", rank 1 all_reduce of 8 float (max, ring, simple)");
  EXPECT_EQ(between([&](CallEntry& call) { call.algorithm = value(Algorithm::two_shot); }),
            ", rank 1 all_reduce of 8 float (sum, two_shot, simple)");
  EXPECT_EQ(between([&](CallEntry& call) { call.protocol = value(Protocol::ll128); }),
            ", rank 1 all_reduce of 8 float (sum, ring, ll128)");
  EXPECT_EQ(between([&](CallEntry& call) {
              call.collective = value(Collective::broadcast);
              call.root = 1;
            }),
            ", rank 1 broadcast of 8 float from root 1 (ring, simple)");
  EXPECT_EQ(between([&](CallEntry& call) { call.staging = 1; }),
            " staged by kernels, rank 1 all_reduce of 8 float (sum, ring, simple) staged by copy engines");
  EXPECT_EQ(between([&](CallEntry& call) { call.shape = 5; }),
            ", rank 1 all_reduce of 8 float (sum, ring, simple); their channels, threads, chunks or buffers "
            "differ");
}

TEST(Disagreement, ForgetsCallsThatAreNotOnThePageAnyMore) {
  Boards boards(2);
  boards.of[0]->enter(all_reduce_of(1));
  boards.of[1]->enter(all_reduce_of(2));
  for (std::uint64_t i = 0; i < StatusPage::kEntries; ++i) {
    for (auto& board : boards.of) board->enter(all_reduce_of(3));
  }
  EXPECT_FALSE(disagreement(*boards.of[0]));
}

TEST(Disagreement, IsNeverSeenBetweenRanksThatAgreeWhileTheyEnterCalls) {
  Boards boards(3);
  std::atomic<int> busy{2};
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      for (std::uint64_t i = 0; i < 20'000; ++i) boards.of[rank]->enter(all_reduce_of(i));
      --busy;
    });
  }
  std::string seen = "none";
  while (busy > 0) {
    if (const auto words = disagreement(*boards.of[2])) seen = *words;
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(seen, "none");
}

}  // namespace
}  // namespace lanecast
