// Max-min fair rates, against sums that can be done by hand and against SimGrid.
#include "sim/fair_share.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "configs/shipped.hpp"
#include "sim/copies.hpp"

namespace lanecast {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kEndless = 1e12;  // bytes
constexpr double kUncapped = 1e30;

/// Resources of these capacities, and lanes that cross them.
FlowNetwork network_of(const std::vector<double>& capacities, const std::vector<std::vector<int>>& lanes) {
  FlowNetwork network;
  for (const double capacity : capacities) {
    Resource resource;
    resource.capacity = resource.usable = BytesPerSecond(capacity);
    network.resources.push_back(resource);
  }
  for (const std::vector<int>& lane : lanes) {
    network.lanes.emplace_back();
    network.lanes.back().resources = lane;
  }
  return network;
}

FairShare share_of(const FlowNetwork& network) {
  return FairShare(network, std::vector<bool>(network.resources.size(), true));
}

void expect_rates(FairShare& share, const std::vector<double>& expected) {
  const std::vector<double> rates = share.rates();
  ASSERT_EQ(rates.size(), expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    EXPECT_NEAR(rates[i], expected[i], expected[i] * kRounding) << "flow " << i;
}

TEST(FairShare, DividesAResourceEqually) {
  FairShare share = share_of(network_of({12}, {{0}}));
  for (int flow = 0; flow < 3; ++flow) share.add(0, kUncapped, kEndless, flow);
  expect_rates(share, {4, 4, 4});
}

TEST(FairShare, LeavesWhatACappedFlowDoesNotTakeToTheOthers) {
  FairShare share = share_of(network_of({12}, {{0}}));
  share.add(0, 2, kEndless, 0);
  share.add(0, kUncapped, kEndless, 1);
  share.add(0, kUncapped, kEndless, 2);
  expect_rates(share, {2, 5, 5});
}

TEST(FairShare, GivesCapsWhereNothingIsFull) {
  FairShare share = share_of(network_of({12}, {{0}}));
  share.add(0, 2, kEndless, 0);
  share.add(0, 7, kEndless, 1);
  expect_rates(share, {2, 7});
}

TEST(FairShare, ChargesAFlowThatCrossesTwiceTwice) {
  FairShare share = share_of(network_of({12}, {{0}, {0, 0}}));
  share.add(0, kUncapped, kEndless, 0);
  share.add(1, kUncapped, kEndless, 1);
  expect_rates(share, {4, 4});  // r + 2 r = 12
}

TEST(FairShare, LeavesWhatALongFlowIsKeptFromByAnotherResourceToShortOnes) {
  // the long flow crosses both; 4 a flow at the first leave 20 - 4 to the short one at the second
  FairShare share = share_of(network_of({8, 20}, {{0}, {0, 1}, {1}}));
  share.add(0, kUncapped, kEndless, 0);
  share.add(1, kUncapped, kEndless, 1);
  share.add(2, kUncapped, kEndless, 2);
  expect_rates(share, {4, 4, 16});
}

TEST(FairShare, FindsOneBottleneckAfterAnother) {
  // 10 / 5 at the first; (9 - 2) / 2 at the second; (20 - 2 - 3.5) at the third
  FairShare share = share_of(network_of({10, 9, 20}, {{0}, {0, 1, 2}, {1}, {1, 2}, {2}}));
  for (int flow = 0; flow < 4; ++flow) share.add(0, kUncapped, kEndless, flow);
  for (int lane = 1; lane < 5; ++lane) share.add(lane, kUncapped, kEndless, 3 + lane);
  expect_rates(share, {2, 2, 2, 2, 2, 3.5, 3.5, 14.5});
}

TEST(FairShare, TakesASoftResourceAtTheCapacityForItsFlows) {
  const SoftCapacity soft{1.6, BytesPerSecond(10)};
  FlowNetwork network = network_of({25}, {{0}});
  network.resources.front().soft = soft;
  for (const int flows : {1, 2, 5}) {
    FairShare share = share_of(network);
    for (int flow = 0; flow < flows; ++flow) share.add(0, kUncapped, kEndless, flow);
    const double capacity =
        std::pow(std::pow(flows * 10.0, -1.6) + std::pow(25.0, -1.6), -1 / 1.6);  // flow_network.hpp
    expect_rates(share, std::vector<double>(static_cast<std::size_t>(flows), capacity / flows));
  }
}

TEST(FairShare, TakesWhatIsUsableOfAResource) {
  FlowNetwork network = network_of({12}, {{0}});
  network.resources.front().usable = BytesPerSecond(9);
  FairShare share = share_of(network);
  share.add(0, kUncapped, kEndless, 0);
  expect_rates(share, {9});
}

TEST(FairShare, LooksAtDecidingResourcesOnly) {
  const FlowNetwork network = network_of({12, 1}, {{0, 1}, {1}});
  FairShare share(network, {true, false});
  EXPECT_TRUE(share.shared(0));
  EXPECT_FALSE(share.shared(1));
  share.add(0, kUncapped, kEndless, 0);
  expect_rates(share, {12});
}

TEST(FairShare, SharesAnewWhenAFlowBeginsOrEnds) {
  FairShare share = share_of(network_of({12}, {{0}}));
  EXPECT_TRUE(share.idle());
  std::vector<int> ended;
  share.add(0, kUncapped, 24, 7);
  EXPECT_DOUBLE_EQ(share.next_end(), 2.0);
  share.advance(1.0, ended);  // 12 are left
  share.add(0, kUncapped, 18, 8);
  EXPECT_DOUBLE_EQ(share.next_end(), 2.0);  // 12 at 6 a second
  share.advance(share.next_end(), ended);
  EXPECT_EQ(ended, std::vector<int>{7});
  EXPECT_DOUBLE_EQ(share.next_end(), 0.5);  // 18 - 12 at 12 a second
  share.advance(share.next_end(), ended);
  EXPECT_EQ(ended, (std::vector<int>{7, 8}));
  EXPECT_TRUE(share.idle());
}

TEST(FairCopies, AreSimGridsOnShippedMachines) {
  constexpr double kTolerance = 1e-4;  // SimGrid is observed over a millisecond, in whole units
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    std::vector<int> gpus;
    for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
      if (machine.gpus[g].present) gpus.push_back(static_cast<int>(g));
    }
    const int first = gpus.front();
    const int last = gpus.back();
    std::vector<std::vector<CopyFlow>> sets{{{first, gpus[1]}},
                                            {{first, last}},
                                            {{first, last}, {last, first}},
                                            {{std::nullopt, last}},
                                            {{last, std::nullopt}},
                                            {{std::nullopt, first}, {first, std::nullopt}},
                                            {},
                                            {},
                                            {}};
    for (const int gpu : gpus) {
      sets[6].push_back({std::nullopt, gpu});
      sets[7].push_back({gpu, std::nullopt});
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) sets[8].push_back({gpus[i], gpus[(i + 1) % gpus.size()]});
    for (const Engine engine : {Engine::copy, Engine::sm}) {
      for (std::size_t s = 0; s < sets.size(); ++s) {
        const std::vector<CopyRate> simgrid = concurrent_copies(machine, Profile(), engine, sets[s]);
        const std::vector<BytesPerSecond> fair = fair_copies(machine, Profile(), engine, sets[s]);
        ASSERT_EQ(fair.size(), simgrid.size());
        for (std::size_t i = 0; i < fair.size(); ++i) {
          EXPECT_NEAR(fair[i].value() / simgrid[i].rate.value(), 1, kTolerance)
              << name << ", set " << s << ", flow " << i << (engine == Engine::sm ? ", sm" : ", copy engine");
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
