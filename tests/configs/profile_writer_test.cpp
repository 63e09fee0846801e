#include "configs/profile_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "configs/profile_reader.hpp"
#include "tests/configs/profile_example.hpp"

namespace lanecast {
namespace {

/// A profile file with awkward numbers and texts, from a seed.
class RandomProfile {
 public:
  explicit RandomProfile(unsigned seed) : random_(seed) {}

  ProfileFile file() {
    ProfileFile file;
    file.name = "random";
    file.description = "quotes \" and \\, a # and a: b, lines\nand tabs\t";
    file.gpus = {"H200", "yes", "2080", ""};
    for (const char* name : {"nccl", "lanecast"}) {
      if (share() < 0.8 || file.implementations.empty()) file.implementations.emplace(name, part());
    }
    return file;
  }

 private:
  double share() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int number() { return std::uniform_int_distribution<int>(0, 100000)(random_); }

  Profile part() {
    Profile profile;
    profile.name = "random";
    FitRecord fit;
    for (std::size_t i = 0; i < parameter_count; ++i) {
      const auto parameter = static_cast<Param>(i);
      const ParameterInfo& about = info(parameter);
      const double value = about.low + share() * (about.high - about.low);
      if (share() < 0.3) continue;
      profile.set(parameter, value, share() < 0.5 ? "profile `random`" : "a, \"source\"");
      if (share() < 0.3) continue;
      fit.parameters.push_back({parameter, value, value * share(), value * (1 + share()), share() < 0.8,
                                share() < 0.5 ? "" : "note: {this}"});
    }
    fill_covariance(fit);
    fit.spread.push_back({Protocol::ll128, Transport::shm, Launch::graph, Bytes(1), Bytes(1025),
                          share() * 1e-12, number(), true});
    fit.range = {
        2, 8, Bytes(8), Bytes(1U << 30), 1, number(), {"ring/ll/shm"}, {"gen5 x16"}, {}, {"all_reduce"}};
    fit.sources.push_back({"a b.csv", "0123", "", number()});
    fit.holdout.push_back({"simple p2p", "5 folds", number(), share(), share(), share()});
    fit.date = "2026-11-30";
    fit.command = "lanecast calibrate 'a b.csv'";
    profile.fit = fit;
    return profile;
  }

  /// F F^T with a random F and a little on the diagonal, over all parameters but the last.
  void fill_covariance(FitRecord& fit) {
    const std::size_t count = fit.parameters.size();
    std::vector<double> f(count * count);
    for (double& x : f) x = (share() - 0.5) * std::pow(10.0, -6 * share());
    fit.covariance.assign(count * count, 0);
    for (std::size_t i = 0; i + 1 < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = i == j ? 0.01 : 0;
        for (std::size_t k = 0; k < count; ++k) sum += f[i * count + k] * f[j * count + k];
        fit.covariance[i * count + j] = fit.covariance[j * count + i] = sum;
      }
    }
  }

  std::mt19937 random_;
};

void expect_same_values(const Profile& a, const Profile& b) {
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    EXPECT_EQ(a.value(parameter), b.value(parameter)) << info(parameter).name;
    EXPECT_EQ(a.from_prior(parameter), b.from_prior(parameter)) << info(parameter).name;
    EXPECT_EQ(a.origin(parameter), b.origin(parameter)) << info(parameter).name;
  }
}

void expect_same_fit(const FitRecord& a, const FitRecord& b) {
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    EXPECT_EQ(a.parameters[i].parameter, b.parameters[i].parameter);
    EXPECT_EQ(a.parameters[i].value, b.parameters[i].value);
    EXPECT_EQ(a.parameters[i].low, b.parameters[i].low);
    EXPECT_EQ(a.parameters[i].high, b.parameters[i].high);
    EXPECT_EQ(a.parameters[i].determined, b.parameters[i].determined);
    EXPECT_EQ(a.parameters[i].note, b.parameters[i].note);
  }
  EXPECT_EQ(a.covariance, b.covariance);
  EXPECT_EQ(a.spread.at(0).spread, b.spread.at(0).spread);
  EXPECT_EQ(a.spread.at(0).protocol, b.spread.at(0).protocol);
  EXPECT_EQ(a.spread.at(0).to, b.spread.at(0).to);
  EXPECT_EQ(a.range.channels_to, b.range.channels_to);
  EXPECT_EQ(a.range.kinds, b.range.kinds);
  EXPECT_EQ(a.holdout.at(0).coverage, b.holdout.at(0).coverage);
  EXPECT_EQ(a.sources.at(0).file, b.sources.at(0).file);
  EXPECT_EQ(a.command, b.command);
}

TEST(ProfileWriter, WhatItWritesIsReadBackBitByBit) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const ProfileFile file = RandomProfile(seed).file();
    const ProfileFile back = read_profile_file(write_profile(file), "p.yaml");
    EXPECT_EQ(back.description, file.description);
    EXPECT_EQ(back.gpus, file.gpus);
    ASSERT_EQ(back.implementations.size(), file.implementations.size());
    for (const auto& [name, part] : file.implementations) {
      expect_same_values(part, back.implementations.at(name));
      ASSERT_TRUE(back.implementations.at(name).fit);
      expect_same_fit(*part.fit, *back.implementations.at(name).fit);
    }
  }
}

TEST(ProfileWriter, WritingWhatWasReadChangesNothingTheSecondTime) {
  const std::string once = write_profile(read_profile_file(profile_example(), "p.yaml"));
  EXPECT_EQ(write_profile(read_profile_file(once, "p.yaml")), once);
}

TEST(ProfileWriter, EachQuantityStandsBesideItsUnit) {
  const std::string text = write_profile(read_profile_file(profile_example(), "p.yaml"));
  EXPECT_NE(text.find("gpu.base_generic: {value: 7.5, unit: us, low: 7.25, high: 7.75}"), std::string::npos)
      << text;
  EXPECT_NE(text.find("size_to: 1 GiB"), std::string::npos) << text;
}

TEST(ProfileWriter, SmallNumbersAreNumbersToYaml11Too) {
  ProfileFile file = read_profile_file(profile_example(), "p.yaml");
  file.implementations.at("nccl").fit->spread.at(0).spread = 1e-20;  // `1e-20` without a point would be text
  EXPECT_NE(write_profile(file).find("spread: 1.0e-20"), std::string::npos);
}

TEST(ProfileWriter, ATransferIsWrittenAsItWasRead) {
  const ProfileFile file{"mixed", "", {}, {}, ProfileTransfer{"h200", "./box.yaml"}};
  const ProfileFile back = read_profile_file(write_profile(file), "p.yaml");
  ASSERT_TRUE(back.transfer);
  EXPECT_EQ(back.transfer->gpu, "h200");
  EXPECT_EQ(back.transfer->link, "./box.yaml");
}

}  // namespace
}  // namespace lanecast
