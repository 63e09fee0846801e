#include "model/profile/transfer.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

/// Every parameter a little off its prior, and a fit over one parameter of each group with full covariance.
Profile fitted(const std::string& name, double share, double variance) {
  Profile profile;
  profile.name = name;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    profile.set(parameter, info(parameter).low + share * (info(parameter).high - info(parameter).low), name);
  }
  FitRecord fit;
  for (const Param parameter : {Param::base_generic, Param::latency_root, Param::band_latency}) {
    fit.parameters.push_back({parameter, profile.value(parameter), 0, 1, true, ""});
  }
  fit.covariance = {variance, 0.1, 0.2, 0.1, 2 * variance, 0.3, 0.2, 0.3, 3 * variance};
  fit.sources.push_back({name + ".csv", "", "", 1});
  fit.holdout.push_back({"all", "1 fold", 1, 0.1, 0.2, 0.9});
  profile.fit = fit;
  return profile;
}

TEST(Transfer, EachParameterIsThatOfItsGroupsLender) {
  const Profile both = transferred("both", fitted("gpu", 0.25, 1), fitted("link", 0.5, 1));
  EXPECT_EQ(both.name, "both");
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const bool of_gpu = group_of(parameter) == ParameterGroup::gpu;
    EXPECT_EQ(both.origin(parameter), of_gpu ? "gpu" : "link") << info(parameter).name;
  }
}

TEST(Transfer, TheWiderBandHoldsWhoeverLendsIt) {
  const Profile narrow = fitted("narrow", 0.25, 1);
  const Profile wide = fitted("wide", 0.5, 1);
  EXPECT_EQ(transferred("a", narrow, wide).origin(Param::band_bandwidth), "wide");
  EXPECT_EQ(transferred("b", wide, narrow).origin(Param::band_bandwidth), "wide");
}

TEST(Transfer, CovariancesStandSideBySideWithoutTermsAcross) {
  const Profile both = transferred("both", fitted("gpu", 0.25, 1), fitted("link", 0.5, 8));
  ASSERT_TRUE(both.fit);
  ASSERT_EQ(both.fit->parameters.size(), 2U);
  EXPECT_EQ(both.fit->parameters[0].parameter, Param::base_generic);
  EXPECT_EQ(both.fit->parameters[1].parameter, Param::latency_root);
  EXPECT_EQ(both.fit->covariance, (std::vector<double>{1, 0, 0, 16}));
}

TEST(Transfer, TheRangeIsWhatBothCover) {
  Profile gpu = fitted("gpu", 0.25, 1);
  Profile link = fitted("link", 0.5, 1);
  gpu.fit->range = {2, 4, Bytes(8), Bytes(1024), 1, 8, {"ring/ll/shm", "ring/simple/shm"}, {}, {"graph"}, {}};
  link.fit->range = {4, 8, Bytes(64), Bytes(4096), 16, 32, {"ring/ll/shm"}, {"gen4 x16"}, {"graph"}, {}};
  const CalibratedRange both = transferred("both", gpu, link).fit->range;
  EXPECT_EQ(both.ranks_from, 4);
  EXPECT_EQ(both.ranks_to, 4);
  EXPECT_EQ(both.size_from, Bytes(64));
  EXPECT_EQ(both.size_to, Bytes(1024));
  EXPECT_EQ(both.channels_to, 0);  // 1 to 8 and 16 to 32 don't meet
  EXPECT_EQ(both.kinds, std::vector<std::string>{"ring/ll/shm"});
  EXPECT_TRUE(both.links.empty());
  EXPECT_EQ(both.launches, std::vector<std::string>{"graph"});
}

TEST(Transfer, OfTwoSpreadsForTheSameCallsTheLargerStays) {
  Profile gpu = fitted("gpu", 0.25, 1);
  Profile link = fitted("link", 0.5, 1);
  gpu.fit->spread = {{Protocol::ll, Transport::shm, Launch::graph, Bytes(1), Bytes(2), 0.05, 1, false}};
  link.fit->spread = {{Protocol::ll, Transport::shm, Launch::graph, Bytes(1), Bytes(2), 0.02, 1, false},
                      {Protocol::ll, Transport::p2p, Launch::graph, Bytes(1), Bytes(2), 0.01, 1, false}};
  const auto spread = transferred("both", gpu, link).fit->spread;
  ASSERT_EQ(spread.size(), 2U);
  EXPECT_EQ(spread[0].spread, 0.05);
  EXPECT_EQ(transferred("both", link, gpu).fit->spread[0].spread, 0.05);
}

TEST(Transfer, NamesAllSourcesAndClaimsNoHoldoutErrors) {
  const FitRecord fit = *transferred("both", fitted("gpu", 0.25, 1), fitted("link", 0.5, 1)).fit;
  ASSERT_EQ(fit.sources.size(), 2U);
  EXPECT_EQ(fit.sources[0].file, "gpu.csv");
  EXPECT_TRUE(fit.holdout.empty());
}

TEST(Transfer, OfTwoGenericProfilesIsGeneric) {
  const Profile both = transferred("both", Profile(), Profile());
  EXPECT_FALSE(both.fit);
  for (std::size_t i = 0; i < parameter_count; ++i) EXPECT_TRUE(both.from_prior(static_cast<Param>(i)));
}

}  // namespace
}  // namespace lanecast
