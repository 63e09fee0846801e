#include "model/advice/what_if.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

using namespace literals;

Prediction predicted(double us, const char* link = "gpu0", double utilization = 0.5) {
  Prediction prediction;
  prediction.call.size = 1_MiB;
  prediction.time = Seconds(us * 1e-6);
  prediction.transport = "p2p";
  prediction.channels = 2;
  prediction.threads = 512;
  prediction.ring_order = {0, 1};
  prediction.bottleneck = Bottleneck{link, "up", utilization};
  return prediction;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Effect, NamesTheMostLoadedLinkBeforeAndAfter) {
  const Effect same = effect(predicted(100), predicted(200, "gpu0", 0.9));
  EXPECT_DOUBLE_EQ(same.factor(), 2.0);
  EXPECT_TRUE(contains(same.cause, "gpu0:up is the most loaded link, 50 % busy before, 90 % after"))
      << same.cause;
  const Effect other = effect(predicted(100), predicted(200, "uplink0", 0.9));
  EXPECT_TRUE(contains(other.cause, "was gpu0:up (50 % busy), and is uplink0:up (90 %)")) << other.cause;
}

TEST(Effect, SaysWhereTheDifferenceWent) {
  Prediction before = predicted(100);
  Prediction after = predicted(150);
  before.shares = TimeShares{10.0_us, 20.0_us, 10.0_us, 40.0_us, 20.0_us};
  after.shares = TimeShares{10.0_us, 20.0_us, 10.0_us, 45.0_us, 65.0_us};
  EXPECT_TRUE(contains(effect(before, after).cause,
                       "; +50 us: waiting for links that other ranks use +45 us, payload on the wire +5 us"))
      << effect(before, after).cause;
  EXPECT_TRUE(
      contains(effect(after, before).cause, "; -50 us: waiting for links that other ranks use -45 us"))
      << effect(after, before).cause;
  before.shares.reset();
  EXPECT_FALSE(contains(effect(before, after).cause, "wire"));
}

TEST(Effect, SaysThatThereIsNone) {
  EXPECT_TRUE(contains(effect(predicted(100), predicted(100.05)).cause, "no difference"));
  EXPECT_FALSE(contains(effect(predicted(100), predicted(100.2)).cause, "no difference"));
}

TEST(Effect, ListsEveryChoiceThatChanged) {
  Prediction after = predicted(100);
  after.protocol = Protocol::ll;
  after.transport = "shm";
  after.channels = 4;
  after.ring_order = {1, 0};
  const std::vector<ChangedChoice> expected{{"transport", "p2p", "shm"},
                                            {"protocol", "simple", "ll"},
                                            {"channels", "2", "4"},
                                            {"ring order", "0-1", "1-0"}};
  EXPECT_EQ(effect(predicted(100), after).choices, expected);
}

TEST(Effect, OfACallThatCrossesNoLinkSaysSo) {
  Prediction alone = predicted(5);
  alone.bottleneck.reset();
  EXPECT_TRUE(contains(effect(alone, predicted(10)).cause, "no link is crossed"));
}

TEST(Verdict, IsThatOfTheLargestSize) {
  const WhatIfCase baseline{"baseline", {}, {0, 1}, {predicted(10), predicted(100)}};
  const WhatIfCase slower{"slow", {{"links.gpu0.width", "x8"}}, {0, 1}, {predicted(10), predicted(200)}};
  EXPECT_TRUE(contains(verdict(baseline, slower), "1 MiB: 100 us -> 200 us (2.00 times as long)"))
      << verdict(baseline, slower);
  EXPECT_TRUE(contains(verdict(slower, baseline), "(2.00 times as fast)"));
  EXPECT_FALSE(contains(verdict(baseline, baseline), "times"));
  WhatIfCase little = slower;
  little.predictions.back() = predicted(104);
  EXPECT_TRUE(contains(verdict(baseline, little), "100 us -> 104 us (4.0 % longer)"));
}

}  // namespace
}  // namespace lanecast
