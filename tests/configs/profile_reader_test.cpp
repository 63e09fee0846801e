#include "configs/profile_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/configs/profile_example.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

std::string refusal_of(const std::string& text) {
  return refusal([&] { read_profile_file(text, "p.yaml"); });
}

/// The example with one change, which must be possible.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = profile_example();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refusal(const std::string& from, const std::string& to, const std::vector<std::string>& says) {
  const std::string message = refusal_of(changed(from, to));
  for (const std::string& part : says)
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}

TEST(ProfileReader, ReadsNamesAndModels) {
  const ProfileFile file = read_profile_file(profile_example(), "p.yaml");
  EXPECT_EQ(file.name, "box");
  EXPECT_EQ(file.description, "one of everything");
  EXPECT_EQ(file.gpus, (std::vector<std::string>{"H200", "NVIDIA H100 80GB HBM3"}));
  EXPECT_EQ(file.implementations.size(), 2U);
  EXPECT_FALSE(file.transfer);
}

TEST(ProfileReader, SetsWhatAFileStatesAndLeavesTheRestToThePriors) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  EXPECT_EQ(profile.name, "box");
  EXPECT_EQ(profile.value(Param::base_generic), 7.5);
  EXPECT_EQ(profile.value(Param::channel_spread), 0.0625);
  EXPECT_EQ(profile.value(Param::pcie_dllp_share), 0.03125);
  EXPECT_TRUE(profile.from_prior(Param::latency_switch));
  EXPECT_EQ(profile.value(Param::latency_switch), info(Param::latency_switch).prior);
}

TEST(ProfileReader, SaysWhereEachValueIsFrom) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  EXPECT_EQ(profile.origin(Param::base_generic), "profile `box`");
  EXPECT_EQ(profile.origin(Param::pcie_dllp_share), "data sheet");
  EXPECT_EQ(profile.origin(Param::latency_switch), info(Param::latency_switch).source);
}

TEST(ProfileReader, AnUndeterminedValueAtItsPriorStaysAPrior) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  ASSERT_EQ(info(Param::latency_gpu).prior, 560);
  EXPECT_TRUE(profile.from_prior(Param::latency_gpu));
  ASSERT_TRUE(profile.fit);
  EXPECT_FALSE(profile.fit->parameters.at(2).determined);
  EXPECT_EQ(profile.fit->parameters.at(2).note, "not seen");
}

TEST(ProfileReader, ReadsTheRecordOfTheFit) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  ASSERT_TRUE(profile.fit);
  const FitRecord& fit = *profile.fit;
  EXPECT_EQ(fit.date, "2026-11-30");
  EXPECT_EQ(fit.sources.at(0).rows, 40);
  EXPECT_EQ(fit.sources.at(0).digest, "00ff");
  EXPECT_EQ(fit.holdout.at(0).p95_abs_error, 0.08);
  EXPECT_EQ(fit.range.size_to, Bytes(std::uint64_t{1} << 30));
  EXPECT_EQ(fit.range.channels_to, 32);
  EXPECT_EQ(fit.range.kinds, std::vector<std::string>{"ring/simple/p2p-nvlink"});
  EXPECT_EQ(fit.spread.at(0).transport, Transport::shm);
  EXPECT_TRUE(fit.spread.at(0).held_out);
  EXPECT_EQ(fit.parameters.size(), 3U);
}

TEST(ProfileReader, TheCovarianceIsSymmetricInTheOrderOfTheFittedParameters) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("nccl");
  EXPECT_EQ(profile.fit->covariance, (std::vector<double>{0.25, -0.125, 0, -0.125, 0.5, 0, 0, 0, 0}));
}

TEST(ProfileReader, APartThatSaysNothingIsPriors) {
  const Profile profile = read_profile_file(profile_example(), "p.yaml").implementations.at("lanecast");
  EXPECT_FALSE(profile.fit);
  for (std::size_t i = 0; i < parameter_count; ++i) EXPECT_TRUE(profile.from_prior(static_cast<Param>(i)));
}

TEST(ProfileReader, ATransferNamesProfilesInsteadOfValues) {
  const ProfileFile file = read_profile_file(
      "lanecast_profile: 1\nprofile: mixed\ntransfer: {gpu: h200, link: ./box.yaml}\n", "p.yaml");
  ASSERT_TRUE(file.transfer);
  EXPECT_EQ(file.transfer->gpu, "h200");
  EXPECT_EQ(file.transfer->link, "./box.yaml");
  EXPECT_TRUE(file.implementations.empty());
}

TEST(ProfileReader, AFileHasEitherValuesOrATransfer) {
  EXPECT_NE(refusal_of("lanecast_profile: 1\nprofile: a\n").find("neither"), std::string::npos);
  EXPECT_NE(refusal_of("lanecast_profile: 1\nprofile: a\ntransfer: {gpu: b}\nimplementations: {nccl: {}}\n")
                .find("both"),
            std::string::npos);
}

TEST(ProfileReader, AnotherFormatIsRefusedWithTheWayOn) {
  expect_refusal("lanecast_profile: 1", "lanecast_profile: 2",
                 {"the file has format 2; this lanecast reads format 1", "p.yaml:1:19", "a newer lanecast"});
  expect_refusal("lanecast_profile: 1", "lanecast_profile: 0", {"format 0", "docs/profile-file.md"});
  expect_refusal("lanecast_profile: 1\n", "", {"does not say its format", "write `lanecast_profile: 1`"});
}

TEST(ProfileReader, NamesTheNearestKeyAndParameter) {
  expect_refusal("gpu.channel_spread: {", "gpu.chanel_spread: {",
                 {"unknown key `gpu.chanel_spread`", "did you mean `gpu.channel_spread`?", "p.yaml:26:7"});
  expect_refusal("  lanecast: {}", "  nicl: {}", {"unknown key `nicl`", "did you mean `nccl`?"});
  expect_refusal("note: \"not seen\"", "nota: \"not seen\"", {"did you mean `note`?"});
}

TEST(ProfileReader, AValueOutsideItsRangeIsRefusedWithTheRange) {
  ASSERT_EQ(info(Param::channel_spread).high, 0.2);
  expect_refusal("value: 0.0625, low: 0.05, high: 0.07", "value: 0.5, low: 0.05, high: 0.7",
                 {"`gpu.channel_spread` is 0.5", "take a value from 0 to 0.2", "p.yaml:26:35"});
}

TEST(ProfileReader, AQuantityNeedsItsOwnUnit) {
  expect_refusal("value: 7.5, unit: us", "value: 7.5", {"its unit is missing", "write `unit: us`"});
  expect_refusal("value: 7.5, unit: us", "value: 7.5, unit: ns", {"the unit of `gpu.base_generic` is us"});
}

TEST(ProfileReader, AnIntervalHasTwoEndsAroundTheValue) {
  expect_refusal("low: 7.25, high: 7.75", "low: 7.25", {"an interval has two ends"});
  expect_refusal("low: 7.25, high: 7.75", "low: 7.6, high: 7.75", {"7.5 is not from `low` to `high`"});
  expect_refusal("value: 0.03125,", "value: 0.03125, note: guess,", {"`note` is for fitted values"});
}

TEST(ProfileReader, ACovarianceHasARowOfTheRightLengthForEachName) {
  expect_refusal("        - [0.25]\n", "", {"`rows` has 1 rows for 2 names"});
  expect_refusal("- [-0.125, 0.5]", "- [-0.125]", {"row 2 has 1 numbers", "write 2"});
  expect_refusal("[gpu.base_generic, gpu.channel_spread]", "[gpu.base_generic, pcie.dllp_share]",
                 {"no interval for `pcie.dllp_share`"});
  expect_refusal("[gpu.base_generic, gpu.channel_spread]", "[gpu.base_generic, gpu.base_generic]",
                 {"occurs twice"});
}

TEST(ProfileReader, ACovarianceIsPositiveDefinite) {
  // [[0.25, c], [c, 0.5]] is so for c^2 < 0.125: c = 0.36 is above, 0.35 below
  expect_refusal("- [-0.125, 0.5]", "- [-0.36, 0.5]", {"not positive definite", "row 2", "p.yaml:33:11"});
  EXPECT_EQ(refusal_of(changed("- [-0.125, 0.5]", "- [-0.35, 0.5]")), "");
  expect_refusal("- [0.25]", "- [-0.25]", {"not positive definite: row 1"});
}

TEST(ProfileReader, AllProblemsAreToldInOneGoByLine) {
  const std::string message = refusal_of(
      "lanecast_profile: 1\nprofile: a b\nimplementations:\n  nccl:\n    date: today\n    parameters:\n"
      "      gpu.base_generic: {value: 99, unit: us}\n      nvlink.speed: {value: 1}\n");
  std::size_t last = 0;
  for (const char* line : {"p.yaml:2:", "p.yaml:5:", "p.yaml:7:", "p.yaml:8:"}) {
    const std::size_t at = message.find(line);
    ASSERT_NE(at, std::string::npos) << line << "\n" << message;
    EXPECT_GT(at, last);
    last = at;
  }
}

TEST(ProfileReader, WhateverStandsInPlaceOfAValueIsAnErrorAndNoCrash) {
  const std::string text = profile_example();
  for (std::size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at + 1)) {
    const std::size_t end = text.find_first_of(",}\n", at);
    for (const char* other : {"", "[]", "{}", "-1", "\"x\"", "nan", "1e999", "[[[]]]"}) {
      const std::string faulty = text.substr(0, at + 2) + other + text.substr(end);
      const std::string message = refusal_of(faulty);
      EXPECT_EQ(message.find("not kind usage"), std::string::npos) << message;
    }
  }
  for (std::size_t length = 0; length < text.size(); length += 7) refusal_of(text.substr(0, length));
}

}  // namespace
}  // namespace lanecast
