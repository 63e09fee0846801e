// Calls whose channels go different ways around: what each ring must keep, alone and together.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

using namespace literals;

/// Large enough for all channels of the cube mesh, which has rings of four orders.
SchedulePlan mesh_plan(Bytes size, Protocol protocol = Protocol::simple) {
  Call call = ring_call(size, protocol);
  call.in_place = true;
  return plan_of(cube_mesh(), call);
}

TEST(DifferentRings, AreInUse) {
  const SchedulePlan plan = mesh_plan(64_MiB);
  EXPECT_EQ(plan.resolved.channels, 12);
  EXPECT_GT(plan.rings.size(), 1u);
  EXPECT_EQ(plan.rings.size(), plan.resolved.rings.size());
}

TEST(DifferentRings, CarryWhatTheirChannelsSend) {
  // an all-reduce sends 2(n-1)/n of each channel's share over each hop of its ring
  const SchedulePlan plan = mesh_plan(96_MiB);
  std::map<std::string, double> expected;
  for (std::size_t c = 0; c < plan.resolved.work.size(); ++c) {
    const double share = 4.0 * static_cast<double>(plan.resolved.work[c].front().count);
    for (std::size_t p = 0; p < 8; ++p) {
      const FlowCost& cost = plan.positions(c)[p].flow(TurnAction::reduce_send);
      for (const int r : plan.network.lanes[static_cast<std::size_t>(cost.lane)].resources) {
        const Resource& resource = plan.network.resources[static_cast<std::size_t>(r)];
        expected[resource.link + resource.direction] += share * 14 / 8 * cost.wire_per_payload;
      }
    }
  }
  const Simulated simulated = simulate_isolated(plan, true);
  for (std::size_t r = 0; r < plan.network.resources.size(); ++r) {
    const Resource& resource = plan.network.resources[r];
    const double bytes = expected[resource.link + resource.direction];
    EXPECT_NEAR(simulated.wire_bytes[r], bytes, bytes * 1e-9) << resource.link << " " << resource.direction;
  }
}

TEST(DifferentRings, FoldToTheSameTime) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    const SchedulePlan plan = mesh_plan(256_MiB, protocol);
    const double exact = simulate_isolated(plan, true).seconds;
    const double folded = simulate_isolated(plan, false).seconds;
    EXPECT_NEAR(folded, exact, exact * 1e-3) << to_string(protocol);
  }
}

TEST(DifferentRings, TogetherBeatOneOrderOnAllChannels) {
  // one order leaves NVLinks idle: 0 3 2 1 5 6 7 4 uses the double links only
  Call call = ring_call(256_MiB);
  const Prediction searched = predict_one(cube_mesh(), call);
  call.ranks = {0, 3, 2, 1, 5, 6, 7, 4};
  call.order_given = true;
  EXPECT_LT(searched.time, predict_one(cube_mesh(), call).time);
  EXPECT_LE(busbw_GBps(searched), searched.limit_busbw->value() / 1e9);
}

}  // namespace
}  // namespace lanecast::support
