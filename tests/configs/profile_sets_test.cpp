#include "configs/profile_sets.hpp"

#include <gtest/gtest.h>

#include "configs/profile_reader.hpp"
#include "tests/configs/profile_example.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

std::string refusal_of(const std::string& assignment) {
  Profile profile;
  return refusal([&] { apply_profile_sets(profile, {assignment}); });
}

TEST(ProfileSets, SetAParameterForOneRun) {
  Profile profile;
  apply_profile_sets(profile, {"profile.gpu.channel_spread=0.05", "profile.latency.switch=130 ns"});
  EXPECT_EQ(profile.value(Param::channel_spread), 0.05);
  EXPECT_EQ(profile.origin(Param::channel_spread), "command line");
  EXPECT_EQ(profile.value(Param::latency_switch), 130);
}

TEST(ProfileSets, TheLastOneHolds) {
  Profile profile;
  apply_profile_sets(profile, {"profile.latency.switch=130", "profile.latency.switch=140"});
  EXPECT_EQ(profile.value(Param::latency_switch), 140);
}

TEST(ProfileSets, LeaveTheMachinesAlone) {
  const std::vector<std::string> sets{"links.gpu0.width=x8", "profile.duplex.host=0.1", "p2p.enabled=false"};
  EXPECT_EQ(machine_sets(sets), (std::vector<std::string>{"links.gpu0.width=x8", "p2p.enabled=false"}));
  Profile profile;
  apply_profile_sets(profile, sets);
  EXPECT_EQ(profile.value(Param::duplex_host), 0.1);
}

TEST(ProfileSets, AValueOutsideTheRangeIsRefusedWithTheRange) {
  ASSERT_EQ(info(Param::channel_spread).high, 0.2);
  EXPECT_EQ(refusal_of("profile.gpu.channel_spread=0.5"),
            "`gpu.channel_spread` is 0.5\n  at --set profile.gpu.channel_spread=0.5\n"
            "  mend: take a value from 0 to 0.2");
}

TEST(ProfileSets, WhatIsNoParameterOrNoNumberIsRefused) {
  EXPECT_NE(refusal_of("profile.gpu.chanel_spread=0.1").find("did you mean `profile.gpu.channel_spread`?"),
            std::string::npos);
  for (const char* value : {"", "x", "-1", "nan", "1e999", "0.1 us", "0.1,0.2"}) {
    EXPECT_NE(refusal_of("profile.gpu.channel_spread=" + std::string(value)).find("not a number"),
              std::string::npos)
        << value;
  }
  EXPECT_NE(refusal_of("profile.latency.switch=0.13 us").find("not a number"), std::string::npos);
  EXPECT_NE(refusal_of("profile.gpu.channel_spread").find("not PATH=VALUE"), std::string::npos);
}

TEST(ProfileSets, WhatIsSetIsFittedNoMore) {
  Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  ASSERT_EQ(profile.fit->parameters.size(), 3U);
  apply_profile_sets(profile, {"profile.gpu.base_generic=8"});
  ASSERT_EQ(profile.fit->parameters.size(), 2U);
  EXPECT_EQ(profile.fit->parameters[0].parameter, Param::channel_spread);
  EXPECT_EQ(profile.fit->covariance, (std::vector<double>{0.5, 0, 0, 0}));
}

}  // namespace
}  // namespace lanecast
