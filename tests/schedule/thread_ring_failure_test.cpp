// What the executor does when a rank dies or a call is wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "model/error.hpp"
#include "tests/support/ring_case.hpp"

namespace lanecast::support {
namespace {

constexpr std::array all_protocols = {Protocol::simple, Protocol::ll, Protocol::ll128};

/// Rank 2 dies in the middle of a call that is far longer than its FIFOs are deep.
ThreadRingCall call_with_a_death(Protocol protocol) {
  RingCase c;
  c.protocol = protocol;
  c.ranks = 5;
  c.count = 50'000;
  c.channels = 2;
  ThreadRingCall call = make_call(c);
  call.before_slice = [](int rank, int channel, const Slice& slice) {
    if (rank == 2 && channel == 0 && slice.loop == 3 && slice.step == 4)
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

void expect_errors_on_channel_0(const ThreadRingResult& result, const std::string& why) {
  for (std::size_t rank = 0; rank < 5; ++rank) {
    ASSERT_NE(result.errors[rank][0], nullptr) << "rank " << rank << " noticed nothing";
    if (rank == 2) continue;
    const std::string text = runtime_error_text(result.errors[rank][0]);
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(rank) + ", channel 0, loop "), std::string::npos) << text;
    EXPECT_NE(text.find(", step "), std::string::npos) << text;
  }
}

TEST(ThreadRingFailure, ARankThatDiesAbortsEveryOtherRankLongBeforeTheDeadline) {
  for (const Protocol protocol : all_protocols) {
    ThreadRingCall call = call_with_a_death(protocol);
    call.deadline = std::chrono::hours(1);
    expect_errors_on_channel_0(try_thread_ring(call), "aborted while waiting for ");
  }
}

TEST(ThreadRingFailure, ARankThatVanishesGivesEveryOtherRankAnErrorAtTheDeadline) {
  for (const Protocol protocol : all_protocols) {
    ThreadRingCall call = call_with_a_death(protocol);
    call.raise_abort = false;
    call.deadline = std::chrono::milliseconds(300);
    expect_errors_on_channel_0(try_thread_ring(call), "the deadline passed while waiting for ");
  }
}

TEST(ThreadRingFailure, TheErrorThatCameFirstIsThrown) {
  try {
    run_thread_ring(call_with_a_death(Protocol::simple));
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "rank 2 dies");
  }
}

void expect_usage_error(const ThreadRingCall& call, const std::string& part) {
  try {
    run_thread_ring(call);
    FAIL() << "no error about: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ThreadRingFailure, AFifoThatWouldLockTheRingUpIsRefused) {
  RingCase c;
  c.geometry.slices_per_chunk = 2;
  c.fifo_depth = 2;
  ThreadRingCall call = make_call(c);
  expect_usage_error(call, "a FIFO of 2 slots would lock up");
  call.credit_return = CreditReturn::after_read;
  EXPECT_NO_THROW(run_thread_ring(call));
  call.fifo_depth = 1;
  expect_usage_error(call, "a FIFO of 1 slots would lock up");
}

TEST(ThreadRingFailure, PlansAndBuffersThatDoNotFitAreRefused) {
  const ThreadRingCall good = make_call(RingCase{});
  ThreadRingCall call = good;
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
}

TEST(ThreadRingFailure, AWriteOutsideOfTheOutputIsFound) {
  RingCase c;
  c.type = Datatype::uint8;
  c.in_place = true;  // input and output between the same guard bytes
  ThreadRingCall call = make_call(c);
  call.count -= 3;  // the plan is still for three elements more
  for (std::vector<std::byte>& input : call.inputs) input.resize(input.size() - 3);
  try {
    run_thread_ring(call);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::check_failed);
  }
}

}  // namespace
}  // namespace lanecast::support
