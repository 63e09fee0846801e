#include "model/implementation/work_split.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr Bytes kMinTraffic{32u << 10};  // facts.md A5.4 (NCCL 2.30.7)

using namespace literals;

constexpr Protocol kProtocols[] = {Protocol::simple, Protocol::ll, Protocol::ll128};
constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather, Collective::broadcast, Collective::reduce};

ChunkGeometry all_reduce_geometry(Protocol protocol, std::optional<Bytes> buffsize = {},
                                  std::optional<Bytes> chunk = {}) {
  return chunk_geometry(protocol, Collective::all_reduce, Schedule::ring, buffsize, chunk);
}

std::vector<std::uint64_t> split(std::uint64_t bytes, Protocol protocol, int channels) {
  return split_over_channels(bytes, 1, Collective::all_reduce, 2, protocol, channels, kMinTraffic);
}

void expect_usage_error(const std::function<void()>& act, const std::string& named) {
  try {
    act();
    ADD_FAILURE() << "was taken; expected a refusal that names " << named;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(ChunkGeometry, OfSimpleIsTwoMebibytesInTwoSlicesOverFourMebibytes) {  // facts.md A2
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
    const ChunkGeometry geometry = chunk_geometry(Protocol::simple, collective, Schedule::ring, {}, {});
    EXPECT_EQ(geometry.buffsize, 4_MiB);
    EXPECT_EQ(geometry.chunk, 2_MiB);
    EXPECT_EQ(geometry.slice, 1_MiB);
    EXPECT_EQ(geometry.slices_per_chunk, 2);
    EXPECT_EQ(geometry.fifo_slices, 4);  // 8 steps, 2 a slice
    EXPECT_EQ(geometry.min_slice, 32_KiB);
    EXPECT_EQ(geometry.grain, 512_B);
  }
}

TEST(ChunkGeometry, OfLlIsOneStepOf32KibibytesPayload) {  // facts.md A2
  const ChunkGeometry geometry = all_reduce_geometry(Protocol::ll);
  EXPECT_EQ(geometry.buffsize, 512_KiB);
  EXPECT_EQ(geometry.chunk, 32_KiB);
  EXPECT_EQ(geometry.slice, 32_KiB);
  EXPECT_EQ(geometry.slices_per_chunk, 1);
  EXPECT_EQ(geometry.fifo_slices, 8);
  EXPECT_EQ(geometry.grain, 16_B);
}

TEST(ChunkGeometry, OfLl128IsOneStepOf576000BytesPayload) {  // facts.md A2
  const ChunkGeometry geometry = all_reduce_geometry(Protocol::ll128);
  EXPECT_EQ(geometry.buffsize, Bytes(4'915'200));
  EXPECT_EQ(geometry.chunk, Bytes(576'000));
  EXPECT_EQ(geometry.slices_per_chunk, 1);
  EXPECT_EQ(geometry.fifo_slices, 8);
  EXPECT_EQ(geometry.grain, Bytes(1920));
}

TEST(ChunkGeometry, OfBroadcastAndReduceIsOneStep) {  // facts.md A2: 1/1 but for the three ring collectives
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    const ChunkGeometry geometry = chunk_geometry(Protocol::simple, collective, Schedule::ring, {}, {});
    EXPECT_EQ(geometry.chunk, 512_KiB);
    EXPECT_EQ(geometry.slices_per_chunk, 1);
    EXPECT_EQ(geometry.fifo_slices, 8);
  }
}

TEST(ChunkGeometry, FollowsTheBuffer) {  // one eighth a step
  EXPECT_EQ(all_reduce_geometry(Protocol::simple, 16_MiB).chunk, 8_MiB);
  EXPECT_EQ(all_reduce_geometry(Protocol::simple, 16_MiB).min_slice, 128_KiB);
  EXPECT_EQ(all_reduce_geometry(Protocol::simple, 16_MiB).fifo_slices, 4);
  EXPECT_EQ(all_reduce_geometry(Protocol::ll, 1_MiB).chunk, 64_KiB);
  EXPECT_EQ(all_reduce_geometry(Protocol::ll, 1_MiB).fifo_slices, 8);
}

TEST(ChunkGeometry, OfAnAskedChunkKeepsItsSlicesAndDividesTheBuffer) {  // design.md section 4, --chunk
  const ChunkGeometry geometry = all_reduce_geometry(Protocol::simple, {}, 128_KiB);
  EXPECT_EQ(geometry.chunk, 128_KiB);
  EXPECT_EQ(geometry.slices_per_chunk, 2);
  EXPECT_EQ(geometry.slice, 64_KiB);
  EXPECT_EQ(geometry.fifo_slices, 64);                                       // 4 MiB / 64 KiB
  EXPECT_EQ(all_reduce_geometry(Protocol::ll, {}, 16_KiB).fifo_slices, 16);  // 512 KiB / (2 x 16 KiB)
}

TEST(ChunkGeometry, AsksForWholeGrains) {
  for (const Protocol protocol : kProtocols) {
    for (const std::uint64_t asked : {1ull, 15ull, 1000ull, 20'000ull}) {
      const ChunkGeometry geometry = all_reduce_geometry(protocol, {}, Bytes(asked));
      EXPECT_EQ(geometry.chunk.value() % geometry.grain.value(), 0u);
      EXPECT_GE(geometry.chunk, geometry.grain);
      EXPECT_LT(geometry.chunk.value(), asked + geometry.grain.value());
    }
  }
}

TEST(ChunkGeometry, HoldsAtLeastOneChunkAndNoMoreThanTheBuffer) {
  for (const Protocol protocol : kProtocols) {
    const double wire = protocol_traits(protocol).wire_per_payload;
    for (std::uint64_t buffer = 64 << 10; buffer <= 64 << 20; buffer *= 2) {
      const ChunkGeometry geometry = all_reduce_geometry(protocol, Bytes(buffer));
      const double held = wire * static_cast<double>(geometry.slice.value()) * geometry.fifo_slices;
      EXPECT_GE(geometry.fifo_slices, geometry.slices_per_chunk);
      EXPECT_LE(held, static_cast<double>(buffer) * (1 + 1e-12));
      EXPECT_LE(geometry.min_slice, geometry.slice);
    }
  }
}

TEST(ChunkGeometry, GrowsTheDefaultBufferForAChunkThatNeedsMore) {
  const ChunkGeometry geometry = all_reduce_geometry(Protocol::simple, {}, 16_MiB);
  EXPECT_EQ(geometry.buffsize, 16_MiB);
  EXPECT_EQ(geometry.fifo_slices, 2);
  EXPECT_EQ(all_reduce_geometry(Protocol::ll, {}, 512_KiB).buffsize, 1_MiB);  // on the wire
}

TEST(ChunkGeometry, RefusesAChunkThatDoesNotFitTheBufferAskedFor) {
  expect_usage_error([] { all_reduce_geometry(Protocol::simple, 4_MiB, 8_MiB); }, "--chunk");
  expect_usage_error([] { all_reduce_geometry(Protocol::ll, 512_KiB, 512_KiB); }, "--buffsize");
  expect_usage_error([] { all_reduce_geometry(Protocol::ll128, 1_MiB, 2_MiB); }, "--chunk");
}

TEST(ChunkGeometry, RefusesABufferThatIsTooSmallOrTooLarge) {
  for (const Protocol protocol : kProtocols) {
    expect_usage_error([&] { all_reduce_geometry(protocol, 64_B); }, "--buffsize");
    expect_usage_error([&] { all_reduce_geometry(protocol, 65_GiB); }, "--buffsize");
  }
}

TEST(SplitOverChannels, DealsOutCellsOf16KibibytesForAllReduce) {  // facts.md A5.4
  const std::uint64_t k = 1024;
  EXPECT_EQ(split(1024 * k, Protocol::simple, 4), (std::vector<std::uint64_t>(4, 256 * k)));
  EXPECT_EQ(split(100 * k, Protocol::simple, 4), (std::vector<std::uint64_t>{32 * k, 32 * k, 32 * k, 4 * k}));
  EXPECT_EQ(split(100 * k, Protocol::ll128, 4), (std::vector<std::uint64_t>{32 * k, 32 * k, 32 * k, 4 * k}));
}

TEST(SplitOverChannels, DealsOutCellsOf4KibibytesForLl) {  // facts.md A5.4
  const std::uint64_t k = 1024;
  EXPECT_EQ(split(100 * k, Protocol::ll, 4), (std::vector<std::uint64_t>{28 * k, 28 * k, 28 * k, 16 * k}));
}

TEST(SplitOverChannels, GivesSmallCallsFewerChannels) {
  EXPECT_EQ(split(8, Protocol::simple, 24).size(), 1u);
  EXPECT_EQ(split(16 << 10, Protocol::simple, 24).size(), 1u);
  EXPECT_EQ(split((16 << 10) + 1, Protocol::simple, 24).size(), 2u);
  EXPECT_EQ(split(16 << 10, Protocol::ll, 24).size(), 4u);
  EXPECT_EQ(split(24 * (16 << 10), Protocol::simple, 24).size(), 24u);
}

TEST(SplitOverChannels, CountsTheTrafficOfEachCollective) {  // facts.md A5.4: 32 KiB of traffic a channel
  const auto channels = [](Collective collective, int ranks) {
    return split_over_channels(64 << 10, 1, collective, ranks, Protocol::simple, 64, kMinTraffic).size();
  };
  EXPECT_EQ(channels(Collective::all_reduce, 8), 4u);      // 2 B of traffic a byte
  EXPECT_EQ(channels(Collective::broadcast, 8), 2u);       // 1
  EXPECT_EQ(channels(Collective::reduce, 8), 2u);          // 1
  EXPECT_EQ(channels(Collective::all_gather, 8), 16u);     // one a rank
  EXPECT_EQ(channels(Collective::reduce_scatter, 4), 8u);  // one a rank
}

TEST(SplitOverChannels, OfNothingIsNothing) { EXPECT_TRUE(split(0, Protocol::simple, 4).empty()); }

TEST(SplitOverChannelsProperty, ConservesTheCountOverAtMostTheChannelsAskedInEqualRuns) {
  std::mt19937_64 random(20240611);
  for (int trial = 0; trial < 3000; ++trial) {
    const auto draw = [&](std::uint64_t below) { return random() % below; };
    const std::uint64_t count = 1 + draw(std::uint64_t{1} << (1 + draw(36)));
    const int element = 1 << draw(4);
    const int ranks = 2 + static_cast<int>(draw(15));
    const int channels = 1 + static_cast<int>(draw(64));
    const Protocol protocol = kProtocols[draw(3)];
    const Collective collective = kCollectives[draw(5)];
    const auto counts =
        split_over_channels(count, element, collective, ranks, protocol, channels, kMinTraffic);
    SCOPED_TRACE(testing::Message() << "count " << count << " x " << element << " B, " << ranks << " ranks, "
                                    << channels << " channels, " << to_string(protocol) << ", "
                                    << to_string(collective));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), count);
    ASSERT_GE(counts.size(), 1u);
    EXPECT_LE(counts.size(), static_cast<std::size_t>(channels));
    for (std::size_t c = 0; c + 1 < counts.size(); ++c) EXPECT_EQ(counts[c], counts[0]);
    EXPECT_GE(counts.back(), 1u);
    EXPECT_LE(counts.back(), counts[0]);
    if (counts.size() == 1) continue;
    EXPECT_EQ(counts[0] * static_cast<std::uint64_t>(element) % 16, 0u);
  }
}

}  // namespace
}  // namespace lanecast
