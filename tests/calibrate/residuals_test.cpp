#include "calibrate/residuals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/calibrate/straight_law.hpp"

namespace lanecast::support {
namespace {

struct Example {
  Sweeps sweeps;
  Evaluate law;
  Residuals residuals;

  Example()
      : sweeps(example_sweeps()),
        law(sweeps.law()),
        residuals(sweeps.data, law, Profile(),
                  {Coordinate(Param::simple_overhead), Coordinate(Param::simple_peer_send)}, {1, 2, 0}, 2) {}

  static Sweeps example_sweeps() {
    SweepOptions options;
    options.configurations = 3;
    options.noise = 0.1;
    Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), options);
    for (Observation& seen : sweeps.data.observations) {
      seen.session = static_cast<int>(seen.configuration);
      seen.first_of_sweep = seen.call % 9 == 0;
    }
    return sweeps;
  }
};

TEST(Residuals, AreOfRowsThatCountThenOfPriorsThenOfNuisances) {
  const Example example;
  EXPECT_EQ(example.residuals.used().size(), 18u);
  EXPECT_EQ(example.residuals.inputs(), 2 + 2 + 1) << "parameters, sessions but the first, first rows";
  EXPECT_EQ(example.residuals.values(), 18 + 5);
  Eigen::VectorXd values;
  example.residuals(example.residuals.start(), values);
  ASSERT_EQ(values.size(), 23);
  EXPECT_TRUE(values.tail(5).isZero(1e-12)) << "the priors are where it starts";
}

TEST(Residuals, AreLogErrorsOverTheSpreadNearZeroAndFlattenedFarOut) {
  Example example;
  const Eigen::VectorXd x = example.residuals.start();
  const std::vector<double> errors = example.residuals.log_errors(x);
  for (const double spread : {0.05, 100.0}) {
    example.residuals.spread = {spread};
    Eigen::VectorXd values;
    example.residuals(x, values);
    for (std::size_t i = 0; i < 18; ++i) {
      const double r = errors[i] / spread;
      const double loss = 4 * (std::sqrt(1 + r * r / 4) - 1);  // pseudo-Huber, beyond 2
      const double weight = example.sweeps.data.observations[i].configuration == 1 ? 2 : 1;
      EXPECT_NEAR(values[static_cast<Eigen::Index>(i)], std::copysign(std::sqrt(2 * weight * loss), r), 1e-7);
    }
  }
}

TEST(Residuals, HaveTheDerivativesThatDifferencesGive) {
  const Example example;
  Eigen::VectorXd x = example.residuals.at(straight_profile(2.0, 30));
  x.tail(3) << 0.02, -0.01, 0.05;
  Eigen::MatrixXd jacobian;
  example.residuals.df(x, jacobian);
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    constexpr double kStep = 1e-5;
    Eigen::VectorXd above = x;
    Eigen::VectorXd below = x;
    above[k] += kStep;
    below[k] -= kStep;
    Eigen::VectorXd high;
    Eigen::VectorXd low;
    example.residuals(above, high);
    example.residuals(below, low);
    const Eigen::VectorXd slope = (high - low) / (2 * kStep);
    // one-sided differences over 1 % of a coordinate: half of that of the slope
    EXPECT_LT((jacobian.col(k) - slope).cwiseAbs().maxCoeff(), 0.01 * slope.cwiseAbs().maxCoeff()) << k;
  }
}

TEST(Residuals, ArePriorsInTheirDeviations) {
  const Example example;
  Eigen::VectorXd x = example.residuals.start();
  x[0] += Coordinate(Param::simple_overhead).prior_sd();
  Eigen::VectorXd values;
  example.residuals(x, values);
  EXPECT_NEAR(values[18], 1, 1e-12);
  EXPECT_NEAR(values[19], 0, 1e-12);
}

TEST(Residuals, RiseSteeplyBeyondARange) {
  const Example example;
  const Coordinate rate(Param::simple_peer_send);
  Eigen::VectorXd x = example.residuals.start();
  x[1] = rate.of_value(60) + 0.1;
  Eigen::VectorXd values;
  example.residuals(x, values);
  EXPECT_GT(values[19], 10);
  EXPECT_EQ(example.residuals.profile(x).value(Param::simple_peer_send), 60);
}

}  // namespace
}  // namespace lanecast::support
