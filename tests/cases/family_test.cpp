#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "configs/shipped_profiles.hpp"
#include "tests/cases/family_profile.hpp"
#include "tests/cases/family_tables.hpp"

namespace lanecast::cases {
namespace {

PublishedCase published(const std::string& id, std::vector<PublishedMatrix> matrices = {}) {
  PublishedCase one;
  one.id = id;
  one.matrices = std::move(matrices);
  return one;
}

PublishedMatrix square(const std::string& name, std::size_t gpus, double rate) {
  PublishedMatrix matrix{name, {}};
  for (std::size_t r = 0; r < gpus; ++r) {
    matrix.rows.emplace_back(gpus, rate);
    matrix.rows.back()[r] = std::nullopt;
  }
  return matrix;
}

AllReduceSweep sweep_of(const std::string& id) {
  const std::vector<AllReduceCase>& all = all_reduce_cases();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const AllReduceCase& entry) { return entry.case_id == id; });
  AllReduceSweep sweep{*at, {}};
  for (std::uint64_t size = 64u << 10; size <= 64u << 20; size *= 4)
    sweep.rows.push_back({Bytes(size), 100.0});
  return sweep;
}

TEST(GpuFamilies, HaveEachCaseOnceAndNoneThatNoPhysicsExplains) {
  std::set<std::string> seen;
  for (const UnexplainedCase& one : unexplained_cases()) seen.insert(one.case_id);
  for (const GpuFamily& family : gpu_families()) {
    for (const std::string& id : family.cases) EXPECT_TRUE(seen.insert(id).second) << id;
    for (const OnlyPredicted& one : family.only_predicted) EXPECT_TRUE(seen.insert(one.case_id).second);
  }
}

TEST(GpuFamilies, AreShippedAsProfilesForTheirGpus) {
  for (const GpuFamily& family : gpu_families())
    EXPECT_EQ(load_profile_file(family.profile, "the test").gpus, family.gpus);
}

TEST(GpuFamilies, HaveProfilesWhoseValuesLieInTheirRanges) {
  for (const GpuFamily& family : gpu_families()) {
    const ProfileFile file = load_profile_file(family.profile, "the test");
    const Profile& profile = file.implementations.at("nccl");
    ASSERT_TRUE(profile.fit) << family.profile;
    for (const FittedParameter& one : profile.fit->parameters) {
      EXPECT_GE(one.value, info(one.parameter).low) << family.profile << " " << info(one.parameter).name;
      EXPECT_LE(one.value, info(one.parameter).high) << family.profile << " " << info(one.parameter).name;
    }
  }
}

TEST(StatedFacts, AreWhatTheTableDoesNotListAsNotStated) {
  AllReduceCase entry;
  EXPECT_TRUE(stated_facts(entry).all());
  entry.not_stated = "protocol, channels, NCCL's release";
  EXPECT_TRUE(stated_facts(entry).path());
  EXPECT_FALSE(stated_facts(entry).all());
  entry.not_stated = "link widths, protocol";
  EXPECT_FALSE(stated_facts(entry).path());
}

TEST(CaseProblem, LeavesOutCopiesAcrossSocketsAndCountsAlikeCopiesOnce) {
  // Cards 0 and 1 sit on one socket, 2 and 3 on the other: 4 of 12 cells stay within one, all alike.
  const std::string id = "a100pcie-4x-sys-p2p";
  const std::vector<PublishedCase> cases{published(
      id, {square("Unidirectional P2P=Enabled Bandwidth", 4, 10), square("P2P Connectivity Matrix", 4, 1)})};
  const CaseProblem problem(cases, {}, {id});
  ASSERT_EQ(problem.about().size(), 1u);
  EXPECT_TRUE(problem.about().front().is_copy);
  EXPECT_DOUBLE_EQ(problem.data().observations.front().time.value(), 0.1);  // of 1 GB at 10 GB/s
}

TEST(CaseProblem, KeepsThePriorsWhereMeasuredTimesAreThePredictedOnes) {
  const std::string id = "v100pcie-2x-shm-nccl";
  AllReduceSweep sweep = sweep_of(id);
  const std::vector<double> errors = CaseProblem({published(id)}, {sweep}, {id}).errors(Profile());
  for (std::size_t i = 0; i < errors.size(); ++i) sweep.rows[i].published_us *= 1 + errors[i];
  const CaseProblem problem({published(id)}, {sweep}, {id});
  const CaseFit fit = fit_cases(problem, true);
  EXPECT_TRUE(fit.held.empty());  // one case
  for (const Coordinate& one : fit.fit.coordinates) {
    const double prior = info(one.parameter()).prior;
    EXPECT_NEAR(fit.fit.profile.value(one.parameter()), prior, 0.02 * prior) << info(one.parameter()).name;
  }
}

TEST(CaseProblem, ExplainsTimesThatAnotherShareOfHostMemoryMade) {
  const std::string id = "v100pcie-2x-shm-nccl";
  AllReduceSweep sweep = sweep_of(id);
  Profile truth;
  truth.set(Param::host_joint_share, 0.75);
  const std::vector<double> errors = CaseProblem({published(id)}, {sweep}, {id}).errors(truth);
  for (std::size_t i = 0; i < errors.size(); ++i) sweep.rows[i].published_us *= 1 + errors[i];
  const CaseProblem problem({published(id)}, {sweep}, {id});
  const std::vector<double> after = problem.errors(fit_cases(problem, false).fit.profile);
  for (const double error : after) EXPECT_NEAR(error, 0, 0.03);  // below the spread that a fit starts from
}

}  // namespace
}  // namespace lanecast::cases
