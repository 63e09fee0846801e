#include "model/advice/link_ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/machine_builders.hpp"

namespace lanecast::support {
namespace {

/// A call takes as long as the slowest of some links needs; every machine asked for is kept.
struct SlowestLink {
  std::map<std::string, double> weights;  // of the links that matter, by name
  std::vector<Machine> asked;

  double seconds(const Machine& machine) const {
    double slowest = 0;
    for (const Link& link : machine.links) {
      const auto weight = weights.find(link.name);
      if (weight == weights.end()) continue;
      const double rate = link.kind == LinkKind::pcie ? pcie_raw_rate(link.rate, link.width).value()
                                                      : link.lane_rate->value() * link.count;
      slowest = std::max(slowest, weight->second / rate);
    }
    return slowest;
  }

  Predictor function() {
    return [this](const Machine& machine, const std::vector<Call>& calls) {
      asked.push_back(machine);
      std::vector<Prediction> predictions(calls.size());
      for (std::size_t i = 0; i < calls.size(); ++i) {
        predictions[i].call = calls[i];
        predictions[i].time = Seconds(seconds(machine));
      }
      return predictions;
    };
  }

  LinkRanking rank(const Machine& machine) {
    const std::vector<Call> calls(1);
    const Predictor predict = function();
    return rank_links(machine, calls, predict(machine, calls), predict);
  }
};

TEST(LinkRanking, PutsTheLinkThatHurtsMostFirst) {
  SlowestLink slowest{{{"uplink0", 4}, {"gpu0", 1}, {"gpu1", 1}}, {}};
  const LinkRanking ranking = slowest.rank(one_switch(2));
  EXPECT_EQ(ranking.degraded.front().links, std::vector<std::string>{"uplink0"});
  EXPECT_EQ(ranking.degraded.front().before, "gen4 x16");
  EXPECT_EQ(ranking.degraded.front().after, "gen4 x8");
  EXPECT_EQ(ranking.upgraded.front().links, std::vector<std::string>{"uplink0"});
  EXPECT_EQ(ranking.upgraded.front().after, "gen5 x16");
}

TEST(LinkRanking, AsksOnceForLinksThatAreAlikeAndOnceForAllOfThem) {
  SlowestLink slowest{{{"gpu0", 1}, {"gpu1", 1}, {"gpu2", 1}}, {}};
  const LinkRanking ranking = slowest.rank(one_switch(3));
  ASSERT_EQ(ranking.degraded.size(), 2u);
  EXPECT_EQ(ranking.degraded.front().links, (std::vector<std::string>{"gpu0", "gpu1", "gpu2"}));
  ASSERT_EQ(ranking.upgraded.size(), 3u);
  EXPECT_TRUE(ranking.upgraded.front().together);  // one of three equal links gains nothing, all of them do
  EXPECT_EQ(slowest.asked.size(), 1u + 2u + 3u);
}

TEST(LinkRanking, UpgradesADegradedLinkToWhatItsEndsCanDo) {
  Machine machine = one_switch(2);
  link_named(machine, "gpu1").rate = PcieRate::gen2;
  link_named(machine, "gpu1").width = 4;
  SlowestLink slowest{{{"gpu0", 1}, {"gpu1", 1}}, {}};
  const LinkStep best = slowest.rank(machine).upgraded.front();
  EXPECT_EQ(best.links.front(), "gpu1");
  EXPECT_EQ(best.before, "gen2 x4");
  EXPECT_EQ(best.after, "gen4 x16");
}

TEST(LinkRanking, StepsDownToTheSlowestLinkThereIs) {
  Machine machine = one_switch(2);
  Link& narrow = link_named(machine, "gpu0");
  narrow.width = 1;
  Link& slowest_link = link_named(machine, "gpu1");
  slowest_link.width = 1;
  slowest_link.rate = PcieRate::gen1;
  SlowestLink slowest{{{"gpu0", 1}}, {}};
  const LinkRanking ranking = slowest.rank(machine);
  for (const LinkStep& step : ranking.degraded) EXPECT_NE(step.links.front(), "gpu1");
  const auto gpu0 = std::find_if(ranking.degraded.begin(), ranking.degraded.end(),
                                 [](const LinkStep& step) { return step.links.front() == "gpu0"; });
  ASSERT_NE(gpu0, ranking.degraded.end());
  EXPECT_EQ(gpu0->after, "gen3 x1");
}

TEST(LinkRanking, StepsNvlinksByOneAndSocketLinksByHalf) {
  SlowestLink slowest{{}, {}};
  const LinkRanking nvlink = slowest.rank(nvlink_pair());
  const auto nv = std::find_if(nvlink.degraded.begin(), nvlink.degraded.end(),
                               [](const LinkStep& step) { return step.links.front() == "nv0"; });
  ASSERT_NE(nv, nvlink.degraded.end());
  EXPECT_EQ(nv->after, "3 x 25 GB/s");
  const LinkRanking sockets = slowest.rank(two_sockets(1));
  const auto upi = std::find_if(sockets.degraded.begin(), sockets.degraded.end(),
                                [](const LinkStep& step) { return step.links.front() == "upi0"; });
  ASSERT_NE(upi, sockets.degraded.end());
  EXPECT_EQ(upi->before, "20 GB/s");
  EXPECT_EQ(upi->after, "10 GB/s");
}

TEST(LinkRankingProperty, EveryChangedMachineIsOneThatCanBe) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SlowestLink slowest{{}, {}};
    slowest.rank(random_machine(seed));
    for (const Machine& machine : slowest.asked) EXPECT_TRUE(check_machine(machine).empty()) << seed;
  }
}

}  // namespace
}  // namespace lanecast::support
