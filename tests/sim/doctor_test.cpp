// What `doctor` says a fault costs, with the simulator itself.
#include "model/advice/doctor.hpp"

#include <gtest/gtest.h>

#include <set>

#include "configs/shipped.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

std::vector<Finding> priced(const Machine& machine) {
  std::vector<Finding> findings = examine({machine, std::nullopt, Implementation()});
  add_costs(findings, machine,
            [](const Machine& asked, const std::vector<Call>& calls) { return predict_all(asked, calls); });
  return findings;
}

/// An all-reduce as `lanecast predict` makes it where no flag is given.
Seconds call_time(const Machine& machine, Bytes size) {
  Call call;
  call.size = size;
  return predict_one(machine, call).time;
}

TEST(DoctorOfAGen2Uplink, StatesWhatTheSimulatorPredictsBeforeAndAfter) {
  const Machine healthy = load_machine("rtxpro6000x8-2switch");
  Machine broken = healthy;
  link_named(broken, "uplink0").rate = PcieRate::gen2;
  const std::vector<Finding> findings = priced(broken);
  const Finding& finding = findings.front();
  EXPECT_EQ(finding.code, "LC-LINK-01");
  EXPECT_EQ(finding.where, "link uplink0");
  EXPECT_EQ(finding.status, FindingStatus::fail);
  ASSERT_EQ(finding.cost.size(), 2u);
  for (const FindingCost& cost : finding.cost) {
    EXPECT_EQ(cost.before, call_time(broken, cost.size));
    EXPECT_EQ(cost.after, call_time(healthy, cost.size));
  }
  EXPECT_EQ(finding.cost[0].size, Bytes(1u << 20));
  EXPECT_EQ(finding.cost[1].size, Bytes(256u << 20));
  // Every rank's data crosses the uplink: of 63.0 GB/s it does 8.0, so a long call takes several times as
  // long.
  EXPECT_GT(finding.cost[1].before.value() / finding.cost[1].after.value(), 4);
  EXPECT_LT(finding.cost[1].before.value() / finding.cost[1].after.value(), 63.0 / 8.0);
}

TEST(DoctorOfShippedMachines, FailsNone) {
  for (const std::string& name : shipped_machines()) {
    for (const Finding& finding : examine({load_machine(name), std::nullopt, Implementation()}))
      EXPECT_NE(finding.status, FindingStatus::fail) << name << ": " << finding.code << " " << finding.fact;
  }
}

TEST(DoctorOfShippedMachines, PricesEveryFindingThatItCanMend) {
  for (const std::string& name : shipped_machines()) {
    for (const Finding& finding : priced(load_machine(name))) {
      EXPECT_EQ(finding.cost.size(), finding.mended ? 2u : 0u) << name << ": " << finding.code;
      for (const FindingCost& cost : finding.cost) {
        EXPECT_GT(cost.before.value(), 0) << name;
        EXPECT_GT(cost.after.value(), 0) << name;
      }
    }
  }
}

/// Machines of one kind of card, whose links are healthy.
std::vector<Machine> boxes() { return {one_switch(4), two_switches(2), one_root(4), two_sockets(2)}; }

/// Breaks one link in each way that a link can fail in.
std::vector<Machine> broken_links(const Machine& machine, const std::string& name) {
  std::vector<Machine> broken(5, machine);
  link_named(broken[0], name).rate = PcieRate::gen2;
  link_named(broken[1], name).width = 4;
  link_named(broken[2], name).aspm = Aspm::l1;
  link_named(broken[3], name).replay_rate = 1e-2;
  link_named(broken[4], name).idle = true;
  link_named(broken[4], name).rate = PcieRate::gen1;
  return broken;
}

TEST(DoctorsMendedLinks, AreNeverSlower) {
  const std::set<std::string> of_links{"LC-LINK-01", "LC-LINK-02", "LC-ASPM-01", "LC-REPLAY-01"};
  int priced_findings = 0;
  for (const Machine& box : boxes()) {
    for (const Machine& broken : broken_links(box, "gpu1")) {
      for (const Finding& finding : priced(broken)) {
        if (of_links.count(finding.code) == 0 || finding.cost.empty()) continue;
        ++priced_findings;
        for (const FindingCost& cost : finding.cost) {
          EXPECT_LE(cost.after.value(), cost.before.value() * 1.001)
              << box.name << ": " << finding.code << " at " << cost.size.value() << " B";
        }
      }
    }
  }
  EXPECT_EQ(priced_findings, 20);
}

}  // namespace
}  // namespace lanecast::support
