#include "model/profile/coordinate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lanecast {
namespace {

constexpr double kRounding = 1e-12;

std::vector<Param> ranged_parameters() {
  std::vector<Param> ranged;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    if (info(parameter).high > info(parameter).low) ranged.push_back(parameter);
  }
  return ranged;
}

TEST(Coordinate, GivesBackEveryValueOfTheRange) {
  for (const Param parameter : ranged_parameters()) {
    const ParameterInfo& about = info(parameter);
    const Coordinate coordinate(parameter);
    for (const double place : {0.0, 0.1, 0.5, 0.9, 1.0}) {
      const double value = about.low + place * (about.high - about.low);
      EXPECT_NEAR(coordinate.value(coordinate.of_value(value)), value, kRounding * about.high) << about.name;
    }
  }
}

TEST(Coordinate, IsTheLogarithmOrWhereTheRangeBeginsAtZeroTheValueInPriors) {
  EXPECT_DOUBLE_EQ(Coordinate(Param::simple_overhead).of_value(2), std::log(2));
  EXPECT_DOUBLE_EQ(Coordinate(Param::ll_overhead).of_value(0.25), 0.25 / info(Param::ll_overhead).prior);
  EXPECT_EQ(Coordinate(Param::ll_overhead).of_value(0), 0);
}

TEST(Coordinate, NeverGivesAValueOutsideTheRange) {
  for (const Param parameter : ranged_parameters()) {
    const ParameterInfo& about = info(parameter);
    const Coordinate coordinate(parameter);
    const double low = coordinate.of_value(about.low);
    const double high = coordinate.of_value(about.high);
    EXPECT_EQ(coordinate.value(low - 1), about.low) << about.name;
    EXPECT_EQ(coordinate.value(high + 1), about.high) << about.name;
    EXPECT_NEAR(coordinate.beyond(low - 1), -1, kRounding) << about.name;
    EXPECT_NEAR(coordinate.beyond(high + 0.5), 0.5, kRounding * (1 + high)) << about.name;
    EXPECT_EQ(coordinate.beyond(0.5 * (low + high)), 0) << about.name;
  }
}

TEST(Coordinate, RisesWithTheValue) {
  for (const Param parameter : ranged_parameters())
    EXPECT_LT(Coordinate(parameter).of_value(info(parameter).low),
              Coordinate(parameter).of_value(info(parameter).high));
}

TEST(Coordinate, HasAPriorOfFourDeviationsInTheRange) {
  EXPECT_DOUBLE_EQ(Coordinate(Param::simple_overhead).prior(), std::log(1.6));
  EXPECT_NEAR(Coordinate(Param::simple_overhead).prior_sd(), std::log(4.0 / 0.5) / 4, kRounding);
  EXPECT_DOUBLE_EQ(Coordinate(Param::ll_overhead).prior(), 1);
  EXPECT_NEAR(Coordinate(Param::ll_overhead).prior_sd(), 1.0 / info(Param::ll_overhead).prior / 4, kRounding);
}

}  // namespace
}  // namespace lanecast
