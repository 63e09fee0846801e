#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "configs/shipped.hpp"
#include "model/advice/ring_order.hpp"
#include "model/predict/plan_call.hpp"
#include "model/predict/schedule_traffic.hpp"

namespace lanecast {
namespace {

constexpr double kLastChunks = 1e-6;  // relative: those of a call aren't full

/// What links allow a large call by the ring in this order.
BytesPerSecond planned_limit(const Machine& machine, const Implementation& nccl,
                             const std::vector<int>& order) {
  Call call;
  call.size = Bytes(order.size() << 32);
  call.algorithm = Algorithm::ring;
  call.protocol = Protocol::simple;
  call.ranks = order;
  call.order_given = true;
  const SchedulePlan plan = plan_call(machine, Profile(), nccl, call, 1);
  const LinkLimit limit = link_limit(plan.network, resource_wire_bytes(plan));
  return (call.size / limit.time) * busbw_factor(call.collective, static_cast<int>(order.size()));
}

TEST(ShippedMachines, AllowARingWhatThePlannedCallIsToldInAnyOrder) {
  const Implementation nccl = implementation_from_string("nccl");
  std::minstd_rand random(2);
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    std::vector<int> order = present_gpus(machine);
    for (int i = 0; order.size() > 1 && i < 4; ++i) {
      const double planned = planned_limit(machine, nccl, order).value();
      EXPECT_NEAR(ring_load(machine, Profile(), nccl, {}, order).busbw.value() / planned, 1.0, kLastChunks)
          << name;
      for (std::size_t k = order.size() - 1; k > 0; --k) std::swap(order[k], order[random() % (k + 1)]);
    }
  }
}

TEST(ShippedMachines, HaveABestRingThatNoOrderOfIndicesBeats) {
  const Implementation nccl = implementation_from_string("nccl");
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    const std::vector<int> gpus = present_gpus(machine);
    if (gpus.size() < 2) continue;
    const RingOrders orders = best_ring_order(machine, Profile(), nccl, {}, gpus);
    EXPECT_TRUE(orders.exact) << name;
    EXPECT_GE(orders.best.busbw, orders.as_is.busbw) << name;
    EXPECT_GE(orders.as_is.busbw, orders.worst.busbw) << name;
    EXPECT_FALSE(explain(orders).empty()) << name;
  }
}

}  // namespace
}  // namespace lanecast
