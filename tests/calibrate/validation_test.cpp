// Hold-outs, folds, bootstraps and learning curves over laws that can be done by hand.
#include "calibrate/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/calibrate/straight_law.hpp"

namespace lanecast::support {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

Profile truth() { return straight_profile(2.7, 22); }

SweepOptions noisy(double noise = 0.03) {
  SweepOptions options;
  options.noise = noise;
  return options;
}

struct Summary {
  std::size_t rows = 0;
  double median = 0;  // of absolute errors
  double p95 = 0;
  double coverage = 0;
};

Summary summary_of(const HeldOuts& held) {
  std::vector<double> errors;
  double covered = 0;
  for (const auto& one : held) {
    if (!one) continue;
    errors.push_back(std::abs(one->error));
    covered += one->covered ? 1 : 0;
  }
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return {n, errors[n / 2], errors[n * 95 / 100], covered / static_cast<double>(n)};
}

FitResult fit_of(const Sweeps& sweeps) { return fit_profile(sweeps.data, sweeps.law(), Profile(), {}); }

HeldOuts held_out(const Sweeps& sweeps, const FitResult& whole, const Groups& groups) {
  return hold_out(sweeps.data, sweeps.law(), Profile(), whole, {}, groups);
}

TEST(Folds, ArePartitionsOfTheConfigurations) {
  for (const std::size_t configurations : {1u, 2u, 7u, 30u}) {
    for (const int folds : {1, 2, 5, 30}) {
      std::multiset<std::size_t> dealt;
      std::size_t smallest = configurations;
      std::size_t largest = 0;
      for (const auto& group : folds_of(configurations, folds, 3)) {
        dealt.insert(group.begin(), group.end());
        smallest = std::min(smallest, group.size());
        largest = std::max(largest, group.size());
      }
      ASSERT_EQ(dealt.size(), configurations);
      for (std::size_t c = 0; c < configurations; ++c) EXPECT_EQ(dealt.count(c), 1u);
      EXPECT_LE(largest - smallest, 1u);
      EXPECT_GE(smallest, 1u) << "no empty fold";
    }
  }
}

TEST(Folds, FollowTheSeed) {
  EXPECT_EQ(folds_of(30, 5, 3), folds_of(30, 5, 3));
  EXPECT_NE(folds_of(30, 5, 3), folds_of(30, 5, 4));
}

TEST(HoldOut, PredictsEachRowOfTheGroupsAndNoOther) {
  const Sweeps sweeps = measured_sweeps(truth(), noisy());
  const HeldOuts held = held_out(sweeps, fit_of(sweeps), {{2, 5}, {7}});
  ASSERT_EQ(held.size(), sweeps.data.observations.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::size_t configuration = sweeps.data.observations[i].configuration;
    EXPECT_EQ(held[i].has_value(), configuration == 2 || configuration == 5 || configuration == 7);
  }
}

TEST(HoldOut, NeverUsesTheTimesThatItHoldsOut) {
  const Sweeps sweeps = measured_sweeps(truth(), noisy());
  const FitResult whole = fit_of(sweeps);
  Sweeps changed = sweeps;
  for (Observation& seen : changed.data.observations) {
    if (seen.configuration == 4) seen.time = Seconds(2 * seen.time.value());
  }
  const HeldOuts before = held_out(sweeps, whole, {{4}});
  const HeldOuts after = held_out(changed, whole, {{4}});
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i]) continue;
    EXPECT_NEAR(before[i]->error + 1, 2 * (after[i]->error + 1), 1e-9)
        << "the same prediction, set against twice";
    EXPECT_NEAR(before[i]->deviation, after[i]->deviation, 1e-12);
  }
}

TEST(HoldOut, ForgetsWhereItBegan) {  // each fit begins at one that saw everything
  const Sweeps sweeps = measured_sweeps(truth(), noisy());
  const FitResult whole = fit_of(sweeps);
  FitResult elsewhere = whole;
  elsewhere.profile = straight_profile(1.0, 50);
  const HeldOuts expected = held_out(sweeps, whole, {{4}});
  const HeldOuts held = held_out(sweeps, elsewhere, {{4}});
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) continue;
    EXPECT_NEAR(held[i]->error, expected[i]->error, 1e-3);
  }
}

TEST(HoldOut, CoversNineTenthsOfWhatTheLawExplains) {
  const Sweeps sweeps = measured_sweeps(truth(), noisy());
  const HeldOuts held = held_out(sweeps, fit_of(sweeps), folds_of(12, 4, 1));
  const Summary summary = summary_of(held);
  EXPECT_EQ(summary.rows, 108u);
  EXPECT_GE(summary.coverage, 0.80);  // the bounds for a band of 90 %
  EXPECT_LE(summary.coverage, 0.97);
  EXPECT_NEAR(summary.median, 0.0202, 0.006) << "0.674 deviations of 3 %";
  EXPECT_NEAR(summary.p95, 0.0588, 0.015) << "1.96 of them";
}

TEST(HoldOut, ShowsWhatTheLawDoesNotExplain) {
  Sweeps sweeps = measured_sweeps(truth(), noisy());
  for (Observation& seen : sweeps.data.observations) {
    if (seen.configuration == 4) seen.time = Seconds(seen.time.value() / 1.5);
  }
  const HeldOuts held = held_out(sweeps, fit_of(sweeps), {{4}});
  const Summary summary = summary_of(held);
  EXPECT_NEAR(summary.median, 0.5, 0.05);
  EXPECT_EQ(summary.coverage, 0);
}

TEST(Outliers, NameTheConfigurationThatTheLawDoesNotExplain) {
  Sweeps sweeps = measured_sweeps(truth(), noisy());
  EXPECT_TRUE(outlier_configurations(sweeps.data, fit_of(sweeps)).empty());
  for (Observation& seen : sweeps.data.observations) {
    if (seen.configuration == 9) seen.time = Seconds(1.4 * seen.time.value());
  }
  EXPECT_EQ(outlier_configurations(sweeps.data, fit_of(sweeps)), std::vector<std::size_t>{9});
}

TEST(Bootstrap, HoldsTheTruthAndIsAsWideAsTheFitSays) {
  const Sweeps sweeps = measured_sweeps(truth(), noisy());
  const FitResult whole = fit_of(sweeps);
  const auto intervals = bootstrap(sweeps.data, sweeps.law(), Profile(), whole, {}, 100, 1);
  ASSERT_EQ(intervals.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const BootstrapInterval& interval = intervals[k];
    const double true_value = truth().value(interval.parameter);
    EXPECT_LT(interval.low, true_value) << info(interval.parameter).name;
    EXPECT_GT(interval.high, true_value) << info(interval.parameter).name;
    const auto at = static_cast<Eigen::Index>(k);
    const double width = std::log(interval.high / interval.low) / 2 / 1.96;
    // rows are independent here: as from the Jacobian, to what 12 configurations and 100 draws can tell
    EXPECT_NEAR(width / std::sqrt(whole.covariance(at, at)), 1, 0.5) << info(interval.parameter).name;
  }
}

TEST(Bootstrap, KnowsThatRowsOfOneSweepAreNotIndependent) {
  Sweeps sweeps = measured_sweeps(truth(), noisy(0.01));
  for (Observation& seen : sweeps.data.observations)  // whole sweeps are off, by up to 10 %
    seen.time = Seconds(seen.time.value() *
                        std::exp(0.02 * (static_cast<double>(seen.configuration * 7 % 12) - 5.5)));
  const FitResult whole = fit_of(sweeps);
  for (const BootstrapInterval& interval :
       bootstrap(sweeps.data, sweeps.law(), Profile(), whole, {}, 100, 1)) {
    const double true_value = truth().value(interval.parameter);
    EXPECT_LT(interval.low, true_value) << info(interval.parameter).name;
    EXPECT_GT(interval.high, true_value) << info(interval.parameter).name;
    if (interval.parameter != Param::simple_peer_send) continue;
    const double width = std::log(interval.high / interval.low) / 2 / 1.96;
    const double of_sweeps = 0.02 * std::sqrt((12 * 12 - 1) / 12.0);  // deviation of the twelve offsets
    EXPECT_NEAR(width, of_sweeps / std::sqrt(12.0), 0.3 * width) << "the mean of twelve";
    EXPECT_GT(width, std::sqrt(whole.covariance(1, 1)));
  }
}

TEST(LearningCurve, FallsWithWhatIsMeasured) {
  // one size a configuration: a single one tells the latency or the rate, not both
  Sweeps sweeps = measured_sweeps(truth(), noisy(0.02));
  sweeps.data.configurations.clear();
  for (std::size_t i = 0; i < sweeps.data.observations.size(); ++i) {
    sweeps.data.observations[i].configuration = i;
    sweeps.data.configurations.push_back("size " + std::to_string(i));
  }
  const auto curve = learning_curve(sweeps.data, sweeps.law(), Profile(), {}, 10, 1);
  ASSERT_GE(curve.size(), 5u);
  EXPECT_EQ(curve.front().configurations, 1);
  for (std::size_t i = 1; i < curve.size(); ++i)
    EXPECT_GT(curve[i].configurations, curve[i - 1].configurations);
  EXPECT_GT(curve.front().median, 0.1);
  EXPECT_LT(curve.back().median, 0.02);
  EXPECT_LT(curve[curve.size() / 2].median, curve.front().median / 2);
  for (const LearningPoint& point : curve) EXPECT_GE(point.p95, point.median);
}

}  // namespace
}  // namespace lanecast::support
