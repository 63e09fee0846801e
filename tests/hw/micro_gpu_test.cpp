#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

#include "hw/device_discovery.hpp"
#include "hw/measure/micro.hpp"

namespace lanecast {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Comma-separated, for whoever wants to look at the figures: LANECAST_MICRO_CSV names the file.
void write_csv(const std::string& file, const std::vector<MicroResult>& results) {
  std::ofstream out(file);
  out << "name,source,destination,threads,blocks,size_bytes,GBps,us,session,iterations,repeats,spread\n";
  for (const MicroResult& r : results) {
    out << r.name << ',' << r.source << ',' << r.destination << ',' << r.threads << ',' << r.blocks << ','
        << r.size.value() << ',';
    if (r.GBps) out << *r.GBps;
    out << ',';
    if (r.us) out << *r.us;
    out << ',' << r.session << ',';
    if (r.iterations) out << *r.iterations;
    out << ',' << r.repeats << ',';
    if (r.spread) out << *r.spread;
    out << '\n';
  }
}

/// The suite is run once for all tests: on all GPUs, `quick` unless LANECAST_MICRO_SUITE says `full`.
class MicroOnGpus : public testing::Test {
 protected:
  static std::vector<MicroResult>& results() {
    static std::vector<MicroResult> all;
    return all;
  }

  static void SetUpTestSuite() {
    const CudaDevices found = discover_cuda_devices();
    MicroPlan plan;
    for (std::size_t i = 0; i < found.devices.size(); ++i) plan.devices.push_back(static_cast<int>(i));
    plan.suite = suite_from_string(variable("LANECAST_MICRO_SUITE")).value_or(Suite::quick);
    const std::string file = variable("LANECAST_MICRO_CSV");
    const auto each = [&](const MicroResult& result) { results().push_back(result); };
    if (!plan.devices.empty()) run_micro(plan, each);
    if (!file.empty()) write_csv(file, results());
  }

  void SetUp() override {
    const CudaDevices found = discover_cuda_devices();
    if (!found.problem.empty()) GTEST_SKIP() << found.problem;
    ASSERT_FALSE(results().empty());
  }

  static std::vector<MicroResult> named(const std::string& name) {
    std::vector<MicroResult> some;
    for (const MicroResult& result : results()) {
      if (result.name == name) some.push_back(result);
    }
    return some;
  }
};

TEST_F(MicroOnGpus, GiveEveryPointARateOrATimeAboveZero) {
  for (const MicroResult& result : results()) {
    EXPECT_TRUE(result.GBps.value_or(1) > 0 && result.us.value_or(1) > 0) << result.name;
    EXPECT_TRUE(result.GBps || result.us) << result.name;
  }
}

TEST_F(MicroOnGpus, SeeLinesFlyInMicroseconds) {
  for (const char* name : {"flight_ll", "flight_ll128", "flight_ll_host", "flight_ll128_host"}) {
    for (const MicroResult& result : named(name)) {
      EXPECT_GT(result.us.value_or(0), 0.2) << name << ' ' << result.threads;
      EXPECT_LT(result.us.value_or(99), 20) << name << ' ' << result.threads;
    }
  }
}

TEST_F(MicroOnGpus, MoveNoMoreBothWaysThanBothWaysApart) {
  std::map<std::pair<std::string, std::string>, double> alone;
  for (const MicroResult& r : named("ce_copy")) {
    double& best = alone[{r.source, r.destination}];
    best = std::max(best, r.GBps.value_or(0));
  }
  for (const MicroResult& r : named("ce_duplex")) {
    const double one_way = alone[{r.source, r.destination}];
    EXPECT_LE(r.GBps.value_or(0), 1.05 * one_way) << r.source << " to " << r.destination;
  }
}

TEST_F(MicroOnGpus, MoveNoLessWithMoreBlocks) {
  // 70 %: some memories are slower when many blocks ask at once, none by more than that.
  for (const char* name : {"sm_store", "sm_load", "sm_copy", "sm_reduce", "sm_push", "sm_pull"}) {
    std::map<std::tuple<std::string, std::string, int>, std::map<int, double>> by_blocks;
    for (const MicroResult& r : named(name)) {
      by_blocks[{r.source, r.destination, r.threads}][r.blocks] = r.GBps.value_or(0);
    }
    for (const auto& [key, rates] : by_blocks) {
      double best = 0;
      for (const auto& [blocks, rate] : rates) {
        EXPECT_GE(rate, 0.7 * best) << name << ' ' << std::get<0>(key) << ' ' << std::get<1>(key) << ' '
                                    << blocks;
        best = std::max(best, rate);
      }
    }
  }
}

TEST_F(MicroOnGpus, TakeLongerForMoreKernelsInAGraph) {
  for (const MicroResult& result : named("graph_node")) EXPECT_GT(result.us.value_or(0), 0) << result.source;
}

TEST_F(MicroOnGpus, StopBetweenPointsWhenAsked) {
  int left = 3;
  MicroPlan plan;
  plan.devices = {0};
  plan.stop = [&] { return left-- == 0; };
  EXPECT_EQ(run_micro(plan, {}).size(), 3U) << "the first points have one flow each";
}

}  // namespace
}  // namespace lanecast
