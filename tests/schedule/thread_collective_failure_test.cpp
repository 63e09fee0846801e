// What the executor does when a rank dies or a call is wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "model/error.hpp"
#include "tests/schedule/expect_right.hpp"

namespace lanecast::support {
namespace {

constexpr int ranks = 6;
constexpr std::array some_shapes = {ScheduleShape{Schedule::ring},
                                    ScheduleShape{Schedule::tree, TreeShape::chain},
                                    ScheduleShape{Schedule::tree, TreeShape::binary},
                                    ScheduleShape{Schedule::tree, TreeShape::star},
                                    ScheduleShape{Schedule::tree, TreeShape::nodes, 3},
                                    ScheduleShape{Schedule::one_shot},
                                    ScheduleShape{Schedule::two_shot},
                                    ScheduleShape{Schedule::halving_doubling},
                                    ScheduleShape{Schedule::hierarchical, TreeShape::chain, 2, false},
                                    ScheduleShape{Schedule::hierarchical, TreeShape::chain, 3, true}};

/// Rank 2 dies in the middle of a call that is far longer than its FIFOs are deep.
ThreadCall call_with_a_death(const ScheduleShape& shape, Protocol protocol) {
  CollectiveCase c;
  c.shape = shape;
  c.protocol = protocol;
  c.ranks = ranks;
  c.count = 50'000;
  c.channels = 2;
  ThreadCall call = make_call(c);
  call.before_slice = [](int rank, const ChannelWork& work, const Slice& slice) {
    if (rank == 2 && work.channel == 0 && slice.loop == 3 && slice.step == step_count(work) - 1)
      throw std::runtime_error("rank 2 dies");
  };
  return call;
}

std::string runtime_error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& caught) {
    EXPECT_EQ(caught.kind(), ErrorKind::runtime);
    return caught.what();
  } catch (const std::exception& caught) {
    return std::string("not an Error: ") + caught.what();
  }
}

void expect_errors_on_channel_0(const ThreadResult& result, const std::string& why) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    ASSERT_NE(result.errors[rank][0], nullptr) << "rank " << rank << " noticed nothing";
    if (rank == 2) continue;
    const std::string text = runtime_error_text(result.errors[rank][0]);
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(rank) + ", channel 0, strand "), std::string::npos) << text;
    EXPECT_NE(text.find(", step "), std::string::npos) << text;
  }
}

TEST(ThreadCollectiveFailure, ARankThatDiesAbortsEveryOtherRankLongBeforeTheDeadline) {
  for (const ScheduleShape& shape : some_shapes) {
    for (const Protocol protocol : all_protocols) {
      SCOPED_TRACE(describe(shape));
      ThreadCall call = call_with_a_death(shape, protocol);
      call.deadline = std::chrono::hours(1);
      expect_errors_on_channel_0(try_threads(call), "aborted while waiting for ");
    }
  }
}

TEST(ThreadCollectiveFailure, ARankThatVanishesGivesEveryOtherRankAnErrorAtTheDeadline) {
  std::uint64_t i = 0;
  for (const ScheduleShape& shape : some_shapes) {
    SCOPED_TRACE(describe(shape));
    ThreadCall call = call_with_a_death(shape, pick(all_protocols, i++));
    call.raise_abort = false;
    call.deadline = std::chrono::milliseconds(100);
    expect_errors_on_channel_0(try_threads(call), "the deadline passed while waiting for ");
  }
}

TEST(ThreadCollectiveFailure, TheErrorThatCameFirstIsThrown) {
  for (const ScheduleShape& shape : some_shapes) {
    try {
      run_on_threads(call_with_a_death(shape, Protocol::simple));
      FAIL() << "no error in " << describe(shape);
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "rank 2 dies");
    }
  }
}

void expect_usage_error(const ThreadCall& call, const std::string& part) {
  try {
    run_on_threads(call);
    FAIL() << "no error about: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ThreadCollectiveFailure, AFifoThatWouldLockTheRingUpIsRefused) {
  CollectiveCase c;
  c.geometry.slices_per_chunk = 2;
  c.fifo_depth = 2;
  ThreadCall call = make_call(c);
  expect_usage_error(call, "a FIFO of 2 slots would lock up");
  call.credit_return = CreditReturn::after_read;
  EXPECT_NO_THROW(run_on_threads(call));
  call.fifo_depth = 1;
  expect_usage_error(call, "a FIFO of 1 slots would lock up");
}

TEST(ThreadCollectiveFailure, PlansAndBuffersThatDoNotFitAreRefused) {
  const ThreadCall good = make_call(CollectiveCase{});
  ThreadCall call = good;
  call.inputs[1].pop_back();
  expect_usage_error(call, "an input has 4091 bytes");
  call = good;
  call.type = Datatype::float64;
  expect_usage_error(call, "element_bytes is 4, not that of double");
  call = good;
  call.root = 4;
  expect_usage_error(call, "root 4 is not a rank");
  call = good;
  call.plan.works[2][0].count -= 1;
  expect_usage_error(call, "ranks disagree about channel 0");
  call = good;
  call.plan.works[2][0].position = 1;
  expect_usage_error(call, "two ranks share a position in channel 0");
  call = good;
  call.plan.works[2][0].schedule = Schedule::one_shot;
  expect_usage_error(call, "ranks disagree about channel 0");
}

TEST(ThreadCollectiveFailure, PeersThatDoNotExpectEachOtherAreRefused) {
  CollectiveCase c;
  c.shape = {Schedule::tree, TreeShape::chain};
  ThreadCall call = make_call(c);
  call.plan.works[3][0].tree.up = 1;  // it is below 2
  expect_usage_error(call, "position 1 sends to position 3 in 0 turns of a loop, which takes in 1");
  c.shape = {Schedule::halving_doubling};
  c.collective = Collective::all_gather;
  c.ranks = 6;  // no power of two
  expect_usage_error(make_call(c), "check the trees, and that the schedule can do this collective");
  c.shape = {Schedule::hierarchical, TreeShape::chain, 4};  // groups of 4 of 6
  c.collective = Collective::all_reduce;
  expect_usage_error(make_call(c), "check the trees, and that the schedule can do this collective");
}

TEST(ThreadCollectiveFailure, AWriteOutsideOfTheOutputIsFound) {
  CollectiveCase c;
  c.type = Datatype::uint8;
  c.in_place = true;  // input and output between the same guard bytes
  ThreadCall call = make_call(c);
  call.count -= 3;  // the plan is still for three elements more
  for (std::vector<std::byte>& input : call.inputs) input.resize(input.size() - 3);
  try {
    run_on_threads(call);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::check_failed);
  }
}

}  // namespace
}  // namespace lanecast::support
