// The wire formats and FIFO rules of the three protocols, on one thread.
#include "tests/support/thread_fifo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "model/error.hpp"

namespace lanecast::support {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> counting_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

/// A receiver that gives up at once when nothing has come.
class Receiver {
 public:
  template <Fifo F>
  std::vector<std::byte> read(F& fifo, std::uint64_t step, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    fifo.read(step, data.data(), bytes, wait_);
    return data;
  }

 private:
  std::atomic<bool> abort_{true};
  BoundedWait wait_{Waiter{}, milliseconds(0), abort_};
};

TEST(WireLines, AnLlLineHoldsDataFlagDataFlagInWordsOf4Bytes) {
  LlLine line;
  const std::vector<std::byte> data = counting_bytes(8);
  line.store(data.data(), 8, 0x11223344);
  std::array<std::uint32_t, 4> words{};
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint64_t word = line.halves[half].load();
    std::memcpy(words.data() + 2 * half, &word, 8);
  }
  std::array<std::uint32_t, 2> payload{};
  std::memcpy(payload.data(), data.data(), 8);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{payload[0], 0x11223344, payload[1], 0x11223344}));
}

TEST(WireLines, AnLlLineIsTakenOnlyWhenBothHalvesHaveArrived) {
  LlLine line;
  std::vector<std::byte> data(8);
  line.store(data.data(), 8, 5);
  const std::uint64_t second_half = line.halves[1].load();
  line.halves[1].store(4ULL << 32);
  EXPECT_FALSE(line.try_load(data.data(), 8, 5));
  line.halves[1].store(second_half);
  EXPECT_TRUE(line.try_load(data.data(), 8, 5));
}

TEST(WireLines, AnLl128LineHolds120BytesOfDataThenTheFlag) {
  Ll128Line line;
  const std::vector<std::byte> data = counting_bytes(120);
  line.store(data.data(), 120, 0x1122334455667788);
  std::vector<std::byte> got(120);
  for (std::size_t i = 0; i < 15; ++i) {
    const std::uint64_t word = line.data_words[i].load();
    std::memcpy(got.data() + 8 * i, &word, 8);
  }
  EXPECT_EQ(got, data);
  EXPECT_EQ(line.flag_word.load(), 0x1122334455667788U);
  EXPECT_EQ(reinterpret_cast<std::byte*>(&line.flag_word) - reinterpret_cast<std::byte*>(&line), 120);
}

TEST(WireLines, FlagsAreStepPlusOneAndOnlyThoseOfLlWrap) {
  EXPECT_EQ(LlLine::flag_of(0), 1U);
  EXPECT_EQ(LlLine::flag_of(0xfffffffe), 0xffffffffU);
  EXPECT_EQ(LlLine::flag_of(0xffffffff), 0U);
  EXPECT_EQ(LlLine::flag_of(0x100000000), 1U);
  EXPECT_EQ(Ll128Line::flag_of(0xffffffff), 0x100000000U);
}

template <class F>
class ThreadFifoOf : public ::testing::Test {};
using Fifos = ::testing::Types<SimpleFifo, LlFifo, Ll128Fifo>;
TYPED_TEST_SUITE(ThreadFifoOf, Fifos);

TYPED_TEST(ThreadFifoOf, ReturnsWhatWasWrittenWhateverTheSize) {
  TypeParam fifo(FifoShape{2, 500, 0});
  Receiver receiver;
  std::uint64_t step = 0;
  for (const std::size_t bytes : {1, 4, 7, 8, 9, 119, 120, 121, 128, 240, 499, 500}) {
    const std::vector<std::byte> data = counting_bytes(bytes);
    fifo.write(step, data.data(), bytes);
    EXPECT_EQ(receiver.read(fifo, step, bytes), data) << bytes;
    fifo.credit().give_back(step++);
  }
}

TYPED_TEST(ThreadFifoOf, GrantsAsManyStepsAsItIsDeepAheadOfTheReceiver) {
  for (const std::uint64_t depth : {1, 3, 8}) {
    TypeParam fifo(FifoShape{depth, 64, 100});
    EXPECT_TRUE(fifo.credit().available(100 + depth - 1));
    EXPECT_FALSE(fifo.credit().available(100 + depth));
    fifo.credit().give_back(100);
    EXPECT_TRUE(fifo.credit().available(100 + depth));
    EXPECT_FALSE(fifo.credit().available(101 + depth));
  }
}

TYPED_TEST(ThreadFifoOf, DoesNotTakeTheDataOfAnEarlierStepForThatOfALaterOne) {
  for (const std::uint64_t first_step : {0ULL, 0x7ffffffdULL, 0xfffffffcULL, 0xfffffffdULL}) {
    TypeParam fifo(FifoShape{1, 16, first_step});
    Receiver receiver;
    const std::vector<std::byte> data = counting_bytes(16);
    for (std::uint64_t step = first_step; step < first_step + 8; ++step) {
      EXPECT_THROW(receiver.read(fifo, step, 16), Error)
          << "step " << step << " was read before it was written";
      fifo.write(step, data.data(), 16);
      EXPECT_EQ(receiver.read(fifo, step, 16), data);
      fifo.credit().give_back(step);
    }
  }
}

TEST(ThreadFifo, OnlySimpleWaitsForTheFlagOfAnEmptySlice) {
  Receiver receiver;
  SimpleFifo simple(FifoShape{2, 16, 0});
  EXPECT_THROW(receiver.read(simple, 0, 0), Error);
  EXPECT_EQ(simple.write(0, nullptr, 0), 0U);
  EXPECT_TRUE(receiver.read(simple, 0, 0).empty());
  LlFifo ll(FifoShape{2, 16, 0});  // no line, no flag: as NCCL
  EXPECT_TRUE(receiver.read(ll, 0, 0).empty());
}

TEST(ThreadFifo, PutsOnTheWireWhatItsLinesTake) {
  const std::vector<std::byte> data = counting_bytes(1200);
  SimpleFifo simple(FifoShape{1, 1200, 0});
  EXPECT_EQ(simple.write(0, data.data(), 1200), 1200U);
  LlFifo ll(FifoShape{1, 1200, 0});
  EXPECT_EQ(ll.write(0, data.data(), 1200), 2U * 1200U);
  EXPECT_EQ(ll.write(1, data.data(), 1), 16U);
  Ll128Fifo ll128(FifoShape{1, 1200, 0});
  EXPECT_EQ(ll128.write(0, data.data(), 1200), 1200U * 128U / 120U);
  EXPECT_EQ(ll128.write(1, data.data(), 121), 256U);
}

TEST(ThreadFifo, LlScrubsEverySlotBeforeItsFlagsWrapSoThatNoOldLineLooksNew) {
  constexpr std::uint64_t half_round = std::uint64_t{1} << 31;
  for (const std::uint64_t depth : {1, 3, 8}) {
    for (const std::uint64_t end : {half_round, 2 * half_round}) {
      LlFifo fifo(FifoShape{depth, 80, end - depth - 5});
      const std::vector<std::byte> data = counting_bytes(80);
      for (std::uint64_t step = end - depth - 5; step < end; ++step) fifo.write(step, data.data(), 8);
      for (const LlLine& line : fifo.lines()) {
        for (std::size_t half = 0; half < 2; ++half) {
          const auto age =
              static_cast<std::uint32_t>(LlLine::flag_of(end - 1) - line.flag(half));  // modulo 2^32
          EXPECT_LT(age, depth) << "a line that is older than one turn of the FIFO";
        }
      }
    }
  }
}

TEST(BoundedWait, NamesRankChannelStepAndWhatWasMissingWhenTheDeadlinePasses) {
  const std::atomic<bool> abort{false};
  BoundedWait wait({3, 1, 2}, milliseconds(1), abort);
  Slice slice;
  slice.loop = 7;
  slice.step = 5;
  wait.enter(slice);
  wait.face(6);
  try {
    wait.until("credit", [] { return false; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    const std::string text = error.what();
    EXPECT_NE(text.find("rank 3, channel 1, strand 2, loop 7, step 5"), std::string::npos) << text;
    EXPECT_NE(text.find("deadline passed while waiting for credit from position 6"), std::string::npos)
        << text;
  }
}

TEST(BoundedWait, GivesUpBeforeItsDeadlineWhenTheAbortFlagIsUp) {
  const std::atomic<bool> abort{true};
  const BoundedWait wait(Waiter{}, std::chrono::hours(1), abort);
  EXPECT_THROW(wait.until("data", [] { return false; }), Error);
  EXPECT_NO_THROW(wait.until("data", [] { return true; }));
}

}  // namespace
}  // namespace lanecast::support
