#include "configs/dumps/distance_classes.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

PairVotes votes_of(const std::vector<std::tuple<int, int, Distance>>& cells) {
  PairVotes votes;
  for (const auto& [a, b, distance] : cells) votes[{a, b}].add(distance);
  return votes;
}

TEST(DistanceClasses, JoinWhatMostCellsPutTogether) {
  // Three cells near, one far, between {0, 1} and {2, 3}.
  const PairVotes votes = votes_of({{0, 1, Distance::pix},
                                    {2, 3, Distance::pix},
                                    {0, 2, Distance::phb},
                                    {0, 3, Distance::phb},
                                    {1, 2, Distance::phb},
                                    {1, 3, Distance::sys}});
  DistanceClasses classes(4);
  classes.join(votes, Distance::pix);
  EXPECT_NE(classes.of(0), classes.of(2));
  classes.join(votes, Distance::phb);
  EXPECT_EQ(classes.of(0), classes.of(3));
}

TEST(DistanceClasses, OfTwoEqualHalvesTheFartherDistanceHolds) {
  const PairVotes votes = votes_of({{0, 1, Distance::pix}, {0, 2, Distance::pix}, {1, 2, Distance::sys}});
  DistanceClasses classes(3);
  classes.join(votes, Distance::pix);
  EXPECT_EQ(classes.of(0), classes.of(1));
  EXPECT_NE(classes.of(0), classes.of(2)) << "one for, one against";
}

TEST(DistanceClasses, KeysJoinAndKeepApart) {
  DistanceClasses classes(4);
  classes.set_keys({"a", "b", "", "a"});
  EXPECT_EQ(classes.of(3), 0);
  classes.join(votes_of({{0, 1, Distance::pix}, {1, 2, Distance::pix}}), Distance::pix);
  EXPECT_NE(classes.of(0), classes.of(1));
  EXPECT_EQ(classes.of(2), 1);
  EXPECT_EQ(classes.key(2), "b");
}

}  // namespace
}  // namespace lanecast
