// Fits to laws that can be done by hand, where the truth is known.
#include "calibrate/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/error.hpp"
#include "tests/calibrate/straight_law.hpp"

namespace lanecast::support {
namespace {

constexpr Param kOverhead = Param::simple_overhead;  // prior 1.6 us, 0.5 to 4
constexpr Param kRate = Param::simple_peer_send;     // prior 40 GB/s, 15 to 60

FitResult fit_of(const Sweeps& sweeps, const FitOptions& options = {},
                 const std::vector<double>& weights = {}) {
  return fit_profile(sweeps.data, sweeps.law(), Profile(), options, weights);
}

bool names(const std::vector<Param>& list, Param parameter) {
  return std::find(list.begin(), list.end(), parameter) != list.end();
}

bool names_pair(const FitResult& fit, Param one, Param other) {
  return std::any_of(fit.confounded.begin(), fit.confounded.end(), [&](const auto& pair) {
    return pair == std::pair(one, other) || pair == std::pair(other, one);
  });
}

void expect_share(double value, double truth, double share) { EXPECT_NEAR(value / truth, 1, share); }

double deviation_of(const FitResult& fit, Param parameter) {
  for (std::size_t k = 0; k < fit.coordinates.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    if (fit.coordinates[k].parameter() == parameter) return fit.deviations[at];
  }
  return 0;
}

TEST(Fit, FindsLatencyAndRateOfAStraightLaw) {
  const FitResult fit = fit_of(measured_sweeps(straight_profile(2.7, 22)));
  EXPECT_EQ(fit.coordinates.size(), 2u) << "no other parameter changes any time";
  expect_share(fit.profile.value(kOverhead), 2.7, 1e-3);  // the priors pull by less
  expect_share(fit.profile.value(kRate), 22, 1e-3);
  EXPECT_TRUE(fit.undetermined.empty());
  EXPECT_TRUE(fit.confounded.empty());
  EXPECT_TRUE(fit.at_edge.empty());
  for (const double residual : fit.residuals) EXPECT_NEAR(residual, 0, 1e-3);
}

TEST(Fit, KnowsHowFarNoiseMovesIt) {
  SweepOptions noisy;
  noisy.noise = 0.05;
  int inside = 0;
  constexpr int kFits = 100;
  for (int seed = 1; seed <= kFits; ++seed) {
    noisy.seed = static_cast<std::uint64_t>(seed);
    const FitResult fit = fit_of(measured_sweeps(straight_profile(2.7, 22), noisy));
    EXPECT_NEAR(fit.spread.front(), noisy.noise, 0.35 * noisy.noise) << "from 108 rows";
    const double overhead = std::log(fit.profile.value(kOverhead) / 2.7) / deviation_of(fit, kOverhead);
    const double rate = std::log(fit.profile.value(kRate) / 22) / deviation_of(fit, kRate);
    inside += (std::abs(overhead) < 1.96 ? 1 : 0) + (std::abs(rate) < 1.96 ? 1 : 0);
  }
  EXPECT_GE(inside, 180);  // of 200, of which 95 % are 190: three deviations of the binomial fewer
}

TEST(Fit, IsHardlyMovedByOutliers) {
  SweepOptions noisy;
  noisy.noise = 0.02;
  Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), noisy);
  const FitResult clean = fit_of(sweeps);
  for (Observation& seen : sweeps.data.observations) {
    if (seen.configuration == 5) seen.time = Seconds(3 * seen.time.value());
  }
  const FitResult fit = fit_of(sweeps);
  // least squares would move both by log(3) / 12: 9 %
  expect_share(fit.profile.value(kOverhead), clean.profile.value(kOverhead), 0.01);
  expect_share(fit.profile.value(kRate), clean.profile.value(kRate), 0.01);
}

TEST(Fit, LeavesOutWhatHasWeightZero) {
  SweepOptions noisy;
  noisy.noise = 0.02;
  noisy.configurations = 6;
  const Sweeps without = measured_sweeps(straight_profile(2.7, 22), noisy);
  noisy.configurations = 7;
  Sweeps with = measured_sweeps(straight_profile(2.7, 22), noisy);
  for (Observation& seen : with.data.observations) {
    if (seen.configuration == 6) seen.time = Seconds(7.0);
  }
  const FitResult expected = fit_of(without);
  const FitResult fit = fit_of(with, {}, {1, 1, 1, 1, 1, 1, 0});
  expect_share(fit.profile.value(kOverhead), expected.profile.value(kOverhead), 1e-9);
  expect_share(fit.profile.value(kRate), expected.profile.value(kRate), 1e-9);
}

TEST(Fit, CountsAWeightOfTwoAsTheRowsTwice) {
  SweepOptions noisy;
  noisy.noise = 0.02;
  noisy.configurations = 3;
  const Sweeps once = measured_sweeps(straight_profile(2.7, 22), noisy);
  Sweeps twice = once;
  for (const Observation& seen : once.data.observations) {
    if (seen.configuration == 1) twice.data.observations.push_back(seen);
  }
  FitOptions options;
  options.rounds = 1;  // the spread of a kind counts rows, not weights
  const FitResult weighted = fit_of(once, options, {1, 2, 1});
  const FitResult repeated = fit_of(twice, options);
  expect_share(weighted.profile.value(kOverhead), repeated.profile.value(kOverhead), 1e-6);
  expect_share(deviation_of(weighted, kRate), deviation_of(repeated, kRate), 1e-6);
}

TEST(Fit, RefusesToFitToNothing) {
  const Sweeps sweeps = measured_sweeps(Profile());
  EXPECT_THROW(fit_of(sweeps, {}, std::vector<double>(12, 0.0)), Error);
  EXPECT_THROW(fit_profile(FitData{}, sweeps.law(), Profile(), {}), Error);
}

TEST(Fit, KeepsTheStartWhereDataDoNotTellAndSaysSo) {
  SweepOptions large;
  large.from = 16u << 20;  // 400 us and more: the overhead is 0.4 % of it
  large.noise = 0.03;
  const Profile start = straight_profile(1.2, 40);
  const Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), large);
  const FitResult fit = fit_profile(sweeps.data, sweeps.law(), start, {});
  EXPECT_EQ(fit.undetermined, std::vector<Param>{kOverhead});
  EXPECT_EQ(fit.profile.value(kOverhead), 1.2);
  expect_share(fit.profile.value(kRate), 22, 0.02);
  EXPECT_EQ(fit.coordinates.size(), 1u);
  EXPECT_EQ(fit.covariance.rows(), 2) << "the rate, and first rows";
}

TEST(Fit, DoesNotClaimToKnowWhatHangsOnSomethingThatItCannotTell) {
  // the rate stands beside an overhead a byte that is as good as unknown: 1 % of noise hides 2 % in the rate
  SweepOptions noisy;
  noisy.from = 4u << 20;
  noisy.noise = 0.03;
  noisy.configurations = 4;
  const Param other = Param::ll_overhead;  // prior 0.1, 0 to 1: here a share of the time
  const Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), noisy);
  const Evaluate law = [&](std::size_t call, const Profile& profile) {
    return sweeps.law()(call, profile) * (1 + 0.02 * profile.value(other));
  };
  const FitResult fit = fit_profile(sweeps.data, law, Profile(), {});
  ASSERT_TRUE(names(fit.undetermined, other));
  ASSERT_EQ(fit.coordinates.size(), 1u);
  const double prior_of_share = 0.02 * info(other).prior * Coordinate(other).prior_sd();
  const double alone = std::sqrt(fit.covariance(0, 0));
  EXPECT_NEAR(fit.deviations[0], std::hypot(alone, prior_of_share), 0.1 * alone);
}

TEST(Fit, FindsTheSumOfWhatItCannotTellApartAndSaysSo) {
  const Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22));
  const Param other = Param::ll128_overhead;  // prior 1.2 us
  const Evaluate law = [&](std::size_t call, const Profile& profile) {
    return profile.time(kOverhead) + profile.time(other) + sweeps.sizes[call] / profile.rate(kRate);
  };
  const FitResult fit = fit_profile(sweeps.data, law, Profile(), {});
  EXPECT_TRUE(names_pair(fit, kOverhead, other) || names(fit.undetermined, kOverhead) ||
              names(fit.undetermined, other));
  expect_share(fit.profile.value(kOverhead) + fit.profile.value(other), 2.7, 2e-3);
  EXPECT_GT(deviation_of(fit, kOverhead), 0.1) << "each alone is hardly known";
}

TEST(Fit, StaysInTheRangesAndNamesTheEdge) {
  const Profile inside = straight_profile(2.7, 60);  // the upper end
  Sweeps sweeps = measured_sweeps(inside);
  for (Observation& seen : sweeps.data.observations) {
    const double at_60 = sweeps.law()(seen.call, inside).value();
    seen.time = Seconds(at_60 - static_cast<double>(sweeps.sizes[seen.call].value()) * (1 / 60e9 - 1 / 90e9));
  }
  const FitResult fit = fit_of(sweeps);
  EXPECT_EQ(fit.at_edge, std::vector<Param>{kRate});
  EXPECT_NEAR(fit.profile.value(kRate), 60, 1e-9);
}

TEST(Fit, HoldsWhatItIsToldToHold) {
  const Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22));
  FitOptions held;
  held.held = {kOverhead};
  EXPECT_EQ(fit_of(sweeps, held).profile.value(kOverhead), Profile().value(kOverhead));
  FitOptions only;
  only.only = {kOverhead};
  const FitResult fit = fit_of(sweeps, only);
  EXPECT_EQ(fit.profile.value(kRate), Profile().value(kRate));
  EXPECT_EQ(fit.coordinates.size(), 1u);
}

/// A law with two valleys, of which the one where `kRate` is small explains one more call.
struct TwoValleys {
  FitData data;
  Coordinate coordinate{kRate};

  TwoValleys() {
    data.calls = {"even", "odd"};
    data.configurations = {"all"};
    data.kinds = {"simple p2p"};
    data.observations = {{0, Seconds(1), 0, false, 0, 0}, {1, Seconds(std::exp(-0.1)), 0, false, 0, 0}};
  }
  double place(const Profile& profile) const {  // in deviations of the prior
    return (coordinate.of_value(profile.value(kRate)) - coordinate.prior()) / coordinate.prior_sd();
  }
  Profile at(double place) const {
    Profile profile;
    profile.set(kRate, coordinate.value(coordinate.prior() + place * coordinate.prior_sd()));
    return profile;
  }
  Evaluate law() const {
    return [this](std::size_t call, const Profile& profile) {
      const double u = place(profile);
      return Seconds(std::exp(call == 0 ? u * u - 0.49 : u / 7));
    };
  }
};

TEST(Fit, TakesTheBestOfSeveralStarts) {
  const TwoValleys valleys;
  FitOptions options;
  options.from = valleys.at(0.7);
  const FitResult one = fit_profile(valleys.data, valleys.law(), Profile(), options);
  EXPECT_NEAR(valleys.place(one.profile), 0.7, 0.1);
  options.starts = 8;
  const FitResult several = fit_profile(valleys.data, valleys.law(), Profile(), options);
  EXPECT_NEAR(valleys.place(several.profile), -0.7, 0.1);
  EXPECT_LT(several.cost, one.cost);
}

TEST(Fit, TakesSessionsAndColdFirstRowsApart) {
  SweepOptions sizes;
  sizes.noise = 0.01;
  Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), sizes);
  std::size_t before = sweeps.data.configurations.size();
  for (Observation& seen : sweeps.data.observations) {
    seen.session = static_cast<int>(seen.configuration % 2);
    seen.first_of_sweep = seen.configuration != before;
    before = seen.configuration;
    seen.time = Seconds(seen.time.value() * (seen.session == 1 ? 1.06 : 1) * (seen.first_of_sweep ? 1.2 : 1));
  }
  const FitResult fit = fit_of(sweeps);
  expect_share(fit.profile.value(kOverhead), 2.7, 0.02);
  expect_share(fit.profile.value(kRate), 22, 0.02);
  ASSERT_EQ(fit.x.size(), 4);
  EXPECT_NEAR(fit.x[2], std::log(1.06), 0.01) << "session 1 against session 0";
  EXPECT_NEAR(fit.x[3], std::log(1.2), 0.02) << "first rows";
}

TEST(Fit, DoesNotDependOnThreads) {
  SweepOptions noisy;
  noisy.noise = 0.05;
  const Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), noisy);
  FitOptions alone;
  alone.threads = 1;
  FitOptions many;
  many.threads = 7;
  const FitResult expected = fit_of(sweeps, alone);
  const FitResult fit = fit_of(sweeps, many);
  EXPECT_EQ(fit.x, expected.x);
  EXPECT_EQ(fit.covariance, expected.covariance);
  EXPECT_EQ(fit.evaluations, expected.evaluations);
}

TEST(Fit, DoesNotDependOnTheOrderOfRows) {
  SweepOptions noisy;
  noisy.noise = 0.05;
  Sweeps sweeps = measured_sweeps(straight_profile(2.7, 22), noisy);
  const FitResult expected = fit_of(sweeps);
  std::reverse(sweeps.data.observations.begin(), sweeps.data.observations.end());
  const FitResult fit = fit_of(sweeps);
  EXPECT_TRUE(fit.x.isApprox(expected.x, 1e-6));  // sums in another order
  EXPECT_TRUE(fit.covariance.isApprox(expected.covariance, 1e-6));
}

}  // namespace
}  // namespace lanecast::support
