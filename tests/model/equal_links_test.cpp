#include "model/topology/equal_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/support/machine_builders.hpp"

namespace lanecast::support {
namespace {

using Classes = std::set<std::set<std::string>>;

Classes named_classes(const Machine& machine, const std::vector<std::vector<int>>& orders = {}) {
  Classes classes;
  for (const std::vector<int>& links : equal_links(machine, orders)) {
    std::set<std::string> names;
    for (const int link : links) names.insert(machine.links[static_cast<std::size_t>(link)].name);
    classes.insert(names);
  }
  return classes;
}

TEST(EqualLinks, AreThoseOfCardsBelowOneSwitch) {
  EXPECT_EQ(named_classes(one_switch(3)), (Classes{{"gpu0", "gpu1", "gpu2"}, {"uplink0"}}));
}

TEST(EqualLinks, SpanSwitchesThatAreAlike) {
  EXPECT_EQ(named_classes(two_switches(2)),
            (Classes{{"gpu0", "gpu1", "gpu2", "gpu3"}, {"uplink0", "uplink1"}}));
}

TEST(EqualLinks, EndWhereALinkDiffers) {
  Machine machine = two_switches(2);
  link_named(machine, "gpu3").width = 8;
  EXPECT_EQ(named_classes(machine),
            (Classes{{"gpu0", "gpu1"}, {"gpu2"}, {"gpu3"}, {"uplink0"}, {"uplink1"}}));
}

TEST(EqualLinks, EndWhereWhatHangsBelowDiffers) {
  Machine machine = two_switches(2);
  add_gpu(machine, {NodeKind::pcie_switch, 1});
  EXPECT_EQ(named_classes(machine),
            (Classes{{"gpu0", "gpu1"}, {"gpu2", "gpu3", "gpu4"}, {"uplink0"}, {"uplink1"}}));
}

TEST(EqualLinks, DoNotMindNamesAddressesAndCounters) {
  Machine machine = one_switch(2);
  machine.gpus[0].bdf = "0000:01:00.0";
  link_named(machine, "gpu0").corrected_errors = 7;
  link_named(machine, "gpu0").source = "a page";
  EXPECT_EQ(named_classes(machine), (Classes{{"gpu0", "gpu1"}, {"uplink0"}}));
}

TEST(EqualLinks, MindWhereTheRingCrosses) {
  // 0-1-2-3-4-5 over two switches of three: 0 and 3 are entered from the other switch, 2 and 5 leave to it
  EXPECT_EQ(named_classes(two_switches(3), {{0, 1, 2, 3, 4, 5}}),
            (Classes{{"gpu0", "gpu3"}, {"gpu1", "gpu4"}, {"gpu2", "gpu5"}, {"uplink0", "uplink1"}}));
  EXPECT_EQ(named_classes(one_switch(4), {{0, 1, 2, 3}}),
            (Classes{{"gpu0", "gpu1", "gpu2", "gpu3"}, {"uplink0"}}));
}

TEST(EqualLinks, CoverSocketsAndNvlinks) {
  EXPECT_EQ(named_classes(two_sockets(2)), (Classes{{"gpu0", "gpu1", "gpu2", "gpu3"}, {"upi0"}}));
  const Classes classes = named_classes(with_nvswitch(4));
  EXPECT_TRUE(
      std::any_of(classes.begin(), classes.end(), [](const auto& names) { return names.size() == 4; }));
}

TEST(EqualLinksProperty, PartEveryMachinesLinksAndOnlyJoinLinksOfTheSameValues) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = random_machine(seed);
    std::vector<int> all;
    for (const std::vector<int>& links : equal_links(machine, {})) {
      const Link& first = machine.links[static_cast<std::size_t>(links.front())];
      for (const int index : links) {
        all.push_back(index);
        const Link& link = machine.links[static_cast<std::size_t>(index)];
        EXPECT_EQ(link.rate, first.rate) << seed;
        EXPECT_EQ(link.width, first.width) << seed;
        EXPECT_EQ(link.kind, first.kind) << seed;
      }
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), machine.links.size()) << seed;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
  }
}

}  // namespace
}  // namespace lanecast::support
