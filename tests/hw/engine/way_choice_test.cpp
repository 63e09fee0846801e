#include "hw/engine/way_choice.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "model/error.hpp"
#include "model/predict/algorithm.hpp"

namespace lanecast {
namespace {

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

/// The message of the usage error that a task throws; another kind's begins with "not usage".
std::string refusal_of(const std::function<void()>& task) {
  try {
    task();
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::usage ? "" : "not usage: ") + std::string(error.what());
  }
  return "no error";
}

Call all_reduce_of(Bytes size) {
  Call call;
  call.size = size;
  return call;
}

PathSummary paths_of(int ranks, bool staged) {
  PathSummary paths;
  paths.ranks = ranks;
  paths.any_staged = staged;
  paths.all_nvlink = false;
  paths.copy_engines = staged;
  return paths;
}

TEST(WayChoice, SmallAllReducesAreExchangedInLinesAndLargeOnesGoAroundTheRing) {
  const CallChoice small = chosen_way(all_reduce_of(Bytes(4)), {}, paths_of(4, false));
  EXPECT_EQ(small.algorithm, Algorithm::one_shot);
  EXPECT_EQ(small.protocol, Protocol::ll);
  const CallChoice large = chosen_way(all_reduce_of(Bytes(1u << 30)), {}, paths_of(4, false));
  EXPECT_EQ(large.algorithm, Algorithm::ring);
  EXPECT_EQ(large.protocol, Protocol::simple);
  EXPECT_EQ(large.staging, Staging::kernels);
}

/// A one-shot of two moves as many bytes as their ring.
TEST(WayChoice, TwoRanksExchangeSmallAllReducesInOneFlightOnEveryPath) {
  for (const bool staged : {true, false}) {
    for (const bool nvlink : {true, false}) {
      PathSummary paths = paths_of(2, staged);
      paths.all_nvlink = nvlink && !staged;
      const CallChoice small = chosen_way(all_reduce_of(Bytes(4096)), {}, paths);
      EXPECT_EQ(small.algorithm, Algorithm::one_shot);
      EXPECT_EQ(small.protocol, Protocol::ll);
      const CallChoice large = chosen_way(all_reduce_of(Bytes(1u << 30)), {}, paths);
      EXPECT_EQ(large.algorithm, Algorithm::ring);
      EXPECT_EQ(large.protocol, Protocol::simple);
      paths.exchanges = false;
      EXPECT_EQ(chosen_way(all_reduce_of(Bytes(4096)), {}, paths).algorithm, Algorithm::ring);
    }
  }
}

TEST(WayChoice, OfTwoRanksOnlyThoseOnNvlinkTakeLl128) {
  PathSummary paths = paths_of(2, false);
  bool taken = false;
  for (std::uint64_t size = 4; size <= std::uint64_t{1} << 30; size *= 2) {
    paths.all_nvlink = true;
    taken = taken || chosen_way(all_reduce_of(Bytes(size)), {}, paths).protocol == Protocol::ll128;
    paths.all_nvlink = false;
    EXPECT_NE(chosen_way(all_reduce_of(Bytes(size)), {}, paths).protocol, Protocol::ll128);
    EXPECT_NE(chosen_way(all_reduce_of(Bytes(size)), {}, paths_of(2, true)).protocol, Protocol::ll128);
  }
  EXPECT_TRUE(taken);
}

TEST(WayChoice, LargeCallsThroughHostMemoryTakeCopyEnginesUnlessSomethingForbidsThem) {
  const Call call = all_reduce_of(Bytes(1u << 30));
  EXPECT_EQ(chosen_way(call, {}, paths_of(4, true)).staging, Staging::copy_engines);
  PathSummary mixed = paths_of(4, true);
  mixed.copy_engines = false;
  EXPECT_EQ(chosen_way(call, {}, mixed).staging, Staging::kernels);
  CallChoice threads;
  threads.threads = 256;
  EXPECT_EQ(chosen_way(call, threads, paths_of(4, true)).staging, Staging::kernels);
}

TEST(WayChoice, NeverTakesLl128ThroughHostMemory) {
  for (std::uint64_t size = 4; size <= std::uint64_t{1} << 30; size *= 2) {
    EXPECT_NE(chosen_way(all_reduce_of(Bytes(size)), {}, paths_of(4, true)).protocol, Protocol::ll128);
    EXPECT_NE(chosen_way(all_reduce_of(Bytes(size)), {}, paths_of(4, false)).protocol, Protocol::ll128);
  }
}

TEST(WayChoice, WithoutConnectionsBetweenAnyTwoThereIsOnlyTheRing) {
  PathSummary paths = paths_of(4, false);
  paths.exchanges = false;
  for (std::uint64_t size = 4; size <= std::uint64_t{1} << 30; size *= 2)
    EXPECT_EQ(chosen_way(all_reduce_of(Bytes(size)), {}, paths).algorithm, Algorithm::ring);
}

TEST(WayChoice, KeepsWhatIsFixed) {
  CallChoice fixed;
  fixed.algorithm = Algorithm::tree;
  fixed.protocol = Protocol::ll;
  fixed.channels = 3;
  const CallChoice choice = chosen_way(all_reduce_of(Bytes(1u << 30)), fixed, paths_of(4, false));
  EXPECT_EQ(choice.algorithm, Algorithm::tree);
  EXPECT_EQ(choice.protocol, Protocol::ll);
  EXPECT_EQ(choice.channels, 3);
}

std::string way_refusal(const PathSummary& paths, const std::function<void(CallChoice&)>& fix) {
  CallChoice choice;
  fix(choice);
  return refusal_of([&] { chosen_way(all_reduce_of(Bytes(4096)), choice, paths); });
}

TEST(WayChoice, SaysWhyAWayCannotBe) {
  EXPECT_TRUE(has(way_refusal(paths_of(4, true), [](CallChoice& c) { c.protocol = Protocol::ll128; }),
                  "LL128 through host memory would corrupt data"));
  EXPECT_TRUE(
      has(way_refusal(paths_of(4, false), [](CallChoice& c) { c.algorithm = Algorithm::one_shot_pull; }),
          "store into the peer's memory and never load from it"));
  EXPECT_TRUE(
      has(way_refusal(paths_of(4, false), [](CallChoice& c) { c.algorithm = Algorithm::two_shot_pull; }),
          "take one_shot or two_shot"));
  EXPECT_TRUE(has(way_refusal(paths_of(4, false), [](CallChoice& c) { c.staging = Staging::copy_engines; }),
                  "only between ranks that all meet in host memory"));
  EXPECT_TRUE(has(way_refusal(paths_of(4, true),
                              [](CallChoice& c) {
                                c.staging = Staging::copy_engines;
                                c.protocol = Protocol::ll;
                              }),
                  "copy engines run the ring with Simple only"));
  PathSummary rings = paths_of(4, false);
  rings.exchanges = false;
  EXPECT_TRUE(has(way_refusal(rings, [](CallChoice& c) { c.algorithm = Algorithm::tree; }),
                  "tree needs connections between any two ranks"));
}

}  // namespace
}  // namespace lanecast
