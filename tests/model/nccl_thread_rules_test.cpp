#include <gtest/gtest.h>

#include <tuple>

#include "model/implementation/nccl/thread_rules.hpp"

namespace lanecast {
namespace {

using namespace literals;

constexpr BytesPerSecond kWide{24e9};
const NcclRules& newest() { return nccl_rules({}); }

std::tuple<int, int, int> shape(Protocol protocol, std::uint64_t size, int ranks = 2, int channels = 4,
                                NcclAlgorithm algorithm = NcclAlgorithm::ring,
                                const NcclEnvironment& environment = {}) {
  const NcclBlocks blocks =
      nccl_blocks(newest(), algorithm, protocol, Bytes(size), ranks, channels, kWide, environment);
  return {blocks.channels, blocks.threads, blocks.sync_threads};
}

TEST(NcclMostThreads, Are512Or256OnARingOfAtMost12GBps) {  // facts.md A2, A5.2
  const auto most = [](NcclAlgorithm algorithm, Protocol protocol, BytesPerSecond bus) {
    return most_threads(newest(), algorithm, protocol, bus, {});
  };
  EXPECT_EQ(most(NcclAlgorithm::ring, Protocol::simple, kWide), 512);
  EXPECT_EQ(most(NcclAlgorithm::ring, Protocol::simple, BytesPerSecond(12e9)), 256);
  EXPECT_EQ(most(NcclAlgorithm::tree, Protocol::simple, BytesPerSecond(12e9)), 512);
  EXPECT_EQ(most(NcclAlgorithm::ring, Protocol::ll, BytesPerSecond(12e9)), 512);
  EXPECT_EQ(most(NcclAlgorithm::ring, Protocol::ll128, BytesPerSecond(12e9)), 640);
  EXPECT_EQ(most(NcclAlgorithm::nvls, Protocol::simple, kWide), 640);
}

TEST(NcclMostThreads, FollowTheEnvironment) {
  NcclEnvironment environment;
  environment.threads = 128;
  environment.ll128_threads = 320;
  const auto most = [&](Protocol protocol) {
    return most_threads(newest(), NcclAlgorithm::ring, protocol, BytesPerSecond(12e9), environment);
  };
  EXPECT_EQ(most(Protocol::simple), 128);
  EXPECT_EQ(most(Protocol::ll), 128);
  EXPECT_EQ(most(Protocol::ll128), 320);
}

TEST(NcclBlocksOfSmallCalls, DropChannelsFirstThenHalveThreads) {  // facts.md A5.3: 64 B a thread
  const auto simple = [](std::uint64_t size) { return shape(Protocol::simple, size); };
  EXPECT_EQ(simple(4 * 512 * 64), std::tuple(4, 512, 32));
  EXPECT_EQ(simple(4 * 512 * 64 - 4), std::tuple(3, 512, 32));
  EXPECT_EQ(simple(512 * 64), std::tuple(1, 512, 32));
  EXPECT_EQ(simple(512 * 64 - 4), std::tuple(1, 256, 32));
  EXPECT_EQ(simple(4), std::tuple(1, 64, 32)) << "96 with the sync warp";
}

TEST(NcclBlocksOfSmallCalls, OfLlCountEightBytesAThreadAndRankOnRing) {  // facts.md A5.3
  EXPECT_EQ(shape(Protocol::ll, 512 * 8 * 8, 8), std::tuple(1, 512, 0));
  EXPECT_EQ(shape(Protocol::ll, 512 * 8 * 8 - 4, 8), std::tuple(1, 256, 0));
  EXPECT_EQ(shape(Protocol::ll, 4, 8), std::tuple(1, 96, 0)) << "never below 96";
  EXPECT_EQ(shape(Protocol::ll128, 640 * 8, 8), std::tuple(1, 640, 0));
}

TEST(NcclBlocksOfSmallCalls, OfTreeDropChannelsAndKeepTheMostThreads) {  // facts.md A5.3; src/enqueue.cc
  const auto tree = [](Protocol protocol, std::uint64_t size) {
    return shape(protocol, size, 8, 4, NcclAlgorithm::tree);
  };
  EXPECT_EQ(tree(Protocol::ll, 2 * 512 * 8), std::tuple(2, 640, 0)) << "8 B a thread, whatever the ranks";
  EXPECT_EQ(tree(Protocol::simple, 4), std::tuple(1, 512, 128));
}

TEST(NcclBlocksOfSmallCalls, FollowTheThresholdsOfTheEnvironment) {
  NcclEnvironment environment;
  environment.thread_thresholds.emplace();
  environment.thread_thresholds->ring[static_cast<std::size_t>(Protocol::simple)] = Bytes(128);
  const auto simple = [&](std::uint64_t size) {
    return shape(Protocol::simple, size, 2, 4, NcclAlgorithm::ring, environment);
  };
  EXPECT_EQ(simple(4 * 512 * 128), std::tuple(4, 512, 32));
  EXPECT_EQ(simple(2 * 512 * 128), std::tuple(2, 512, 32));
  EXPECT_EQ(thread_threshold(NcclAlgorithm::ring, Protocol::ll, 4, environment), Bytes(32)) << "left alone";
}

TEST(NcclBlocksOfSmallCalls,
     AreThoseOfALog) {  // NCCL 2.29.7, two ranks, four channels: eunomia-bpf/nccl-eBPF
  const auto channels = [](std::uint64_t size) { return std::get<0>(shape(Protocol::ll, size)); };
  EXPECT_EQ(channels(1024), 1);
  EXPECT_EQ(channels(8192), 1);
  EXPECT_EQ(channels(16384), 2);
}

TEST(NcclBlocksOfSmallCalls, OfNvlsStayWhole) {
  EXPECT_EQ(shape(Protocol::simple, 4, 8, 16, NcclAlgorithm::nvls), std::tuple(16, 640, 0));
}

}  // namespace
}  // namespace lanecast
