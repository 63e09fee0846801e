#include "hw/rendezvous/watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "model/predict/call.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPatient{10'000};

std::string path(int from, int to) { return "path " + std::to_string(from) + ">" + std::to_string(to); }

CallEntry all_reduce_of(std::uint64_t count) {
  CallEntry call;
  call.count = count;
  return call;
}

/// Waits until there is a problem.
std::string problem_of(const Watch& watch) {
  const auto end = Clock::now() + kPatient;
  while (Clock::now() < end) {
    if (const auto problem = watch.problem()) return *problem;
    std::this_thread::yield();
  }
  return "none";
}

/// A communicator of ranks that are threads, each with its watch.
class WatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < exchanges_.size(); ++rank) {
      threads.emplace_back(
          [this, rank] { boards_[rank] = std::make_unique<StatusBoard>(*exchanges_[rank]); });
    }
    for (std::thread& each : threads) each.join();
    for (std::size_t rank = 0; rank < exchanges_.size(); ++rank) {
      watches_[rank] = std::make_unique<Watch>(*exchanges_[rank], *boards_[rank], path, kPatient);
    }
  }

  void all_enter(std::uint64_t count) {
    for (auto& board : boards_) board->enter(all_reduce_of(count));
  }

  /// As a device writes it.
  void write_fault(std::size_t rank, const KernelFault& fault) {
    KernelFault& place = boards_[rank]->own().fault;
    place.peer = fault.peer;
    place.channel = fault.channel;
    place.step = fault.step;
    place.aborted = fault.aborted;
    place.call = fault.call;
    std::atomic_ref<std::uint32_t>(place.what).store(fault.what, std::memory_order_release);
  }

  void expect_all_aborted() {
    for (auto& board : boards_) EXPECT_EQ(board->own().abort.load(), 1U);
  }

  std::vector<std::unique_ptr<Exchange>> exchanges_ = thread_exchanges(3, kPatient);
  std::vector<std::unique_ptr<StatusBoard>> boards_{3};
  std::vector<std::unique_ptr<Watch>> watches_{3};
};

TEST_F(WatchTest, SeesNoProblemInOrdinaryCalls) {
  for (std::uint64_t i = 0; i < 100; ++i) all_enter(i);
  for (auto& watch : watches_) {
    watch->look();
    EXPECT_FALSE(watch->problem());
  }
  EXPECT_EQ(boards_[0]->own().abort.load(), 0U);
}

TEST_F(WatchTest, NamesRankStepAndPathOfAKernelThatWaitedInVainToAllRanks) {
  for (int i = 0; i < 6; ++i) all_enter(1024);
  boards_[1]->enter(all_reduce_of(1024));
  KernelFault fault;
  fault.what = KernelFault::data;
  fault.peer = 0;
  fault.channel = 2;
  fault.step = 3;
  fault.call = 7;
  write_fault(1, fault);
  const std::string what =
      "rank 1 waited 10 s for data of rank 0 at step 3 of loop 0 (channel 2, slice 0; call 7) over path 0>1; "
      "rank 0 "
      "has entered 6 calls\n";
  const std::string call = "in call 7: all_reduce of 1024 float (sum, ring, simple)\n";
  const std::string mend =
      "  mend: see what rank 0 does and whether the path works; if it is only slow, take a longer time-out";
  EXPECT_EQ(problem_of(*watches_[1]), what + "  at rank 1 of 3, " + call + mend);
  EXPECT_EQ(problem_of(*watches_[0]), "rank 1 reports: " + what + "  at rank 0 of 3, " + call + mend);
  EXPECT_EQ(problem_of(*watches_[2]), "rank 1 reports: " + what + "  at rank 2 of 3, " + call + mend);
  expect_all_aborted();
}

TEST_F(WatchTest, SaysWhatAKernelWaitedFor) {
  all_enter(8);
  KernelFault fault;
  fault.peer = 2;
  fault.call = 1;
  fault.what = KernelFault::credit;
  write_fault(1, fault);
  EXPECT_EQ(problem_of(*watches_[1]).substr(0, 65),
            "rank 1 waited 10 s for rank 2 to free a place in its buffer at st");
  EXPECT_NE(problem_of(*watches_[1]).find("over path 1>2\n"), std::string::npos);
}

TEST_F(WatchTest, DoesNotTakeAnAbortedKernelForACause) {
  KernelFault fault;
  fault.what = KernelFault::data;
  fault.aborted = 1;
  fault.peer = 0;
  write_fault(1, fault);
  watches_[1]->look();
  EXPECT_FALSE(watches_[1]->problem());
}

TEST_F(WatchTest, TellsAllRanksOfADisagreement) {
  boards_[0]->enter(all_reduce_of(4));
  boards_[1]->enter(all_reduce_of(4));
  boards_[2]->enter(all_reduce_of(5));
  for (auto& watch : watches_) {
    const std::string problem = problem_of(*watch);
    EXPECT_EQ(
        problem.substr(0, problem.find('\n')),
        "ranks disagree about call 1: ranks 0 and 1 call all_reduce of 4 float (sum, ring, simple), rank 2 "
        "all_reduce of 5 float (sum, ring, simple)");
  }
  expect_all_aborted();
}

TEST_F(WatchTest, TellsWhichRankIsGoneAndInWhichCall) {
  all_enter(4);
  watches_[2].reset();
  exchanges_[2].reset();  // as when its thread ends by an exception
  EXPECT_EQ(
      problem_of(*watches_[0]),
      "rank 2 is gone: its thread ended, while this rank was in call 1: all_reduce of 4 float (sum, ring, "
      "simple)\n  at rank 0 of 3, in call 1: all_reduce of 4 float (sum, ring, simple)\n"
      "  mend: mend what ended rank 2 (see its own output), then start all ranks again");
  expect_all_aborted();
}

/// A rank that waits for rank `peer` at `step`, as its device writes it.
KernelFault waiting(int peer, int step, bool aborted) {
  KernelFault fault;
  fault.what = KernelFault::data;
  fault.peer = peer;
  fault.step = step;
  fault.aborted = aborted ? 1 : 0;
  fault.call = 1;
  return fault;
}

TEST_F(WatchTest, FollowsThoseWhoWaitToTheOneWhoDoesNot) {
  all_enter(4);
  write_fault(2, waiting(1, 2, true));
  write_fault(0, waiting(2, 3, false));
  const std::string problem = problem_of(*watches_[0]);
  EXPECT_EQ(
      problem.substr(0, problem.find('\n')),
      "rank 0 waited 10 s for data of rank 2 at step 3 of loop 0 (channel 0, slice 0; call 1) over path 2>0; "
      "rank 2 waited for data of rank 1 at step 2 of loop 0 (channel 0, slice 0; call 1) over path 1>2");
  EXPECT_NE(problem.find("mend: see what rank 1 does"), std::string::npos);
}

TEST_F(WatchTest, SaysWhereThisRankWaitedWhenAnotherIsGone) {
  all_enter(4);
  write_fault(0, waiting(2, 1, true));
  watches_[2].reset();
  exchanges_[2].reset();
  const std::string problem = problem_of(*watches_[0]);
  EXPECT_EQ(
      problem.substr(0, problem.find('\n')),
      "rank 2 is gone: its thread ended, while this rank was in call 1: all_reduce of 4 float (sum, ring, "
      "simple) and waited for data of rank 2 at step 1 of loop 0 (channel 0, slice 0; call 1) over path 2>0");
}

TEST_F(WatchTest, PassesOnWhatARankReports) {
  watches_[1]->report("out of memory on gpu1\n  at here\n  mend: that");
  EXPECT_EQ(watches_[1]->problem(), "out of memory on gpu1\n  at here\n  mend: that");
  EXPECT_EQ(problem_of(*watches_[0]).rfind("rank 1 is gone: it gave up: out of memory on gpu1, while", 0),
            0U);
  expect_all_aborted();
}

TEST_F(WatchTest, KeepsTheFirstProblem) {
  watches_[1]->report("first");
  watches_[1]->report("second");
  EXPECT_EQ(watches_[1]->problem(), "first");
}

TEST_F(WatchTest, DoesNotKeepSilentAboutAnAbortWithoutAReason) {
  boards_[0]->own().abort.store(1);
  EXPECT_EQ(problem_of(*watches_[0]).rfind("another rank ended the communicator's calls", 0), 0U);
}

TEST(WatchOfProcesses, NamesAKilledRankWithinAMomentToAllOthers) {
  OwnRuntimeFolder folder;
  std::vector<RankProcess> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([=](const RankProcess::Say& say) -> std::string {
      const std::unique_ptr<Exchange> exchange = meet({"watched", rank, 3, kPatient});
      StatusBoard board(*exchange);
      const Watch watch(*exchange, board, path, kPatient);
      board.enter(all_reduce_of(4));
      say("in a call");
      const std::string problem = problem_of(watch);
      return problem + (board.own().abort.load() == 1 ? " aborted" : " not aborted");
    });
  }
  for (RankProcess& each : ranks) ASSERT_EQ(each.hear(), "in a call");
  const std::string head =
      "rank 1 is gone: its process " + std::to_string(ranks[1].process()) +
      " ended, while this rank was in call 1: all_reduce of 4 float (sum, ring, simple)\n";
  ranks[1].kill();
  for (std::size_t rank : {0U, 2U}) {
    const std::string word = ranks[rank].hear();
    EXPECT_EQ(word.substr(0, head.size()), head);
    EXPECT_NE(word.find(" aborted"), std::string::npos);
  }
}

}  // namespace
}  // namespace lanecast
