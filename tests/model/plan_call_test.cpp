#include "model/predict/plan_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

bool has(const std::vector<std::string>& codes, const char* code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

SchedulePlan planned(const Machine& machine, const Call& call) {
  return plan_call(machine, Profile(), implementation_from_string("nccl"), call, 1);
}

TEST(OpenProtocolProperty, IsNeverLl128OverPcie) {  // facts.md A6, design.md section 3
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (std::uint64_t size = 8; size <= 1 << 26; size *= 8) {
      Call call;
      call.size = Bytes(size);
      const SchedulePlan plan = planned(machine, call);
      const bool pcie = std::any_of(plan.resolved.links().begin(), plan.resolved.links().end(),
                                    [](const Connection& link) { return !link.nvlink; });
      if (!pcie) continue;
      EXPECT_NE(plan.resolved.protocol, Protocol::ll128) << "seed " << seed << ", " << size << " B";
    }
  }
}

TEST(OpenProtocol, IsLlForSmallCallsAndSimpleForLargeOnesOverPcie) {
  Call call;
  call.size = 1_KiB;
  EXPECT_EQ(planned(support::one_switch(4), call).resolved.protocol, Protocol::ll);
  call.size = 256_MiB;
  EXPECT_EQ(planned(support::one_switch(4), call).resolved.protocol, Protocol::simple);
}

TEST(OpenProtocol, PassesOverProtocolsThatTheForcedChunkDoesNotFit) {
  Call call;
  call.size = 64_MiB;
  call.chunk = 4_MiB;
  call.buffsize = 4_MiB;  // LL would need 8 MiB on the wire
  EXPECT_EQ(planned(support::one_switch(4), call).resolved.protocol, Protocol::simple);
}

TEST(OneRank, CrossesNoLink) {
  Call call;
  call.size = 1_MiB;
  call.ranks = {2};
  const SchedulePlan plan = planned(support::one_switch(4), call);
  Prediction prediction = describe(Profile(), plan);
  finish(support::one_switch(4), Profile(), plan, plan.start, prediction);
  EXPECT_EQ(prediction.ring_order, std::vector<int>{2});
  EXPECT_FALSE(prediction.bottleneck.has_value());
  EXPECT_FALSE(prediction.limit_busbw.has_value());
  EXPECT_EQ(prediction.busbw_factor, 0.0);
}

TEST(Prediction, NamesTheTransportOfTheRing) {
  const auto transport = [](const Machine& machine) {
    Call call;
    call.size = 1_MiB;
    return describe(Profile(), planned(machine, call)).transport;
  };
  EXPECT_EQ(transport(support::one_switch(4)), "p2p");
  EXPECT_EQ(transport(support::own_roots(4)), "shm");
  EXPECT_EQ(transport(support::two_switches(2)), "mixed");
}

TEST(Prediction, SaysWhetherAnythingWasFitted) {
  Call call;
  call.size = 1_MiB;
  const SchedulePlan plan = planned(support::one_switch(2), call);
  Profile profile;
  EXPECT_TRUE(has(codes_of(describe(profile, plan).warnings), "LC-PROFILE-01"));
  profile.set(Param::latency_switch, 110);
  EXPECT_FALSE(has(codes_of(describe(profile, plan).warnings), "LC-PROFILE-01"));
}

TEST(Prediction, HasABandThatNeverGoesBelowTheLimit) {
  for (const Bytes size : {1_KiB, 1_MiB, 256_MiB}) {
    Call call;
    call.size = size;
    const SchedulePlan plan = planned(support::one_switch(4), call);
    const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
    Prediction prediction = describe(Profile(), plan);
    finish(support::one_switch(4), Profile(), plan, limit.time * 1.01, prediction);
    EXPECT_LE(prediction.time_low, prediction.time);
    EXPECT_GE(prediction.time_high, prediction.time);
    EXPECT_GE(prediction.time_low, limit.time);
    EXPECT_LT(prediction.busbw(), *prediction.limit_busbw);
    EXPECT_NEAR(prediction.busbw() / *prediction.limit_busbw, 1 / 1.01, 1e-12);
    EXPECT_NEAR(prediction.bottleneck->utilization, 1 / 1.01, 1e-12);
  }
}

TEST(Prediction, BandIsThatOfLatencyForSmallCallsAndOfBandwidthForLargeOnes) {
  const Profile profile;
  const auto width = [&](Bytes size) {
    Call call;
    call.size = size;
    const SchedulePlan plan = planned(support::one_switch(4), call);
    Prediction prediction = describe(profile, plan);
    finish(support::one_switch(4), profile, plan, Seconds(10), prediction);
    return prediction.time_high / prediction.time - 1;
  };
  EXPECT_NEAR(width(64_KiB), profile.value(Param::band_latency), 1e-12);
  EXPECT_NEAR(width(8_B), profile.value(Param::band_latency), 1e-12);
  EXPECT_NEAR(width(4_MiB), profile.value(Param::band_bandwidth), 1e-12);
  EXPECT_NEAR(width(1_GiB), profile.value(Param::band_bandwidth), 1e-12);
  // halfway in the logarithm of the size
  EXPECT_NEAR(width(512_KiB), 0.5 * (width(64_KiB) + width(4_MiB)), 1e-12);
}

TEST(BusbwFactor, IsThatOfNcclTests) {  // facts.md B1
  for (const int n : {2, 3, 8}) {
    EXPECT_DOUBLE_EQ(busbw_factor(Collective::all_reduce, n), 2.0 * (n - 1) / n);
    EXPECT_DOUBLE_EQ(busbw_factor(Collective::all_gather, n), (n - 1.0) / n);
    EXPECT_DOUBLE_EQ(busbw_factor(Collective::reduce_scatter, n), (n - 1.0) / n);
    EXPECT_DOUBLE_EQ(busbw_factor(Collective::broadcast, n), 1.0);
    EXPECT_DOUBLE_EQ(busbw_factor(Collective::reduce, n), 1.0);
  }
}

TEST(CallNames, GoBothWays) {
  for (const char* name : {"float", "half", "bfloat16", "double", "int32", "int64", "uint8"}) {
    ASSERT_TRUE(datatype_from_string(name).has_value()) << name;
    EXPECT_STREQ(to_string(*datatype_from_string(name)), name);
  }
  for (const char* name : {"sum", "prod", "max", "min", "avg"}) {
    EXPECT_STREQ(to_string(*reduce_op_from_string(name)), name);
  }
  for (const char* name : {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"}) {
    EXPECT_STREQ(to_string(*collective_from_string(name)), name);
  }
  for (const char* name : {"simple", "ll", "ll128"}) {
    EXPECT_STREQ(to_string(*protocol_from_string(name)), name);
  }
  EXPECT_EQ(datatype_from_string("f16"), Datatype::float16);
  EXPECT_FALSE(datatype_from_string("float8").has_value());
  EXPECT_FALSE(reduce_op_from_string("SUM").has_value());
  EXPECT_FALSE(collective_from_string("alltoall").has_value());
}

}  // namespace
}  // namespace lanecast
