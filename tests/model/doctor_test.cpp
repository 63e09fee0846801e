// Costs and order of findings, and what holds on any machine.
#include "model/advice/doctor.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/configs/random_machine.hpp"
#include "tests/model/doctor_examples.hpp"

namespace lanecast::support {
namespace {

/// Answers by the sum of the links' raw rates, so that better links are faster, and keeps what it was asked.
struct FakePredictor {
  std::vector<Machine> machines;
  std::vector<std::vector<std::uint64_t>> sizes;

  Predictor function() {
    return [this](const Machine& machine, const std::vector<Call>& calls) {
      machines.push_back(machine);
      sizes.emplace_back();
      std::vector<Prediction> predictions;
      for (const Call& call : calls) {
        sizes.back().push_back(call.size.value());
        Prediction prediction;
        prediction.call = call;
        double rate = 0;
        for (const Link& link : machine.links) rate += pcie_raw_rate(link.rate, link.width).value();
        prediction.time = Seconds(static_cast<double>(call.size.value()) / rate);
        predictions.push_back(prediction);
      }
      return predictions;
    };
  }
};

TEST(DoctorsCosts, AreThoseOfTheMachineAsItIsAndWithOneFaultMended) {
  Machine machine = healthy();
  link_named(machine, "gpu1").width = 8;
  std::vector<Finding> findings = examined(machine);
  FakePredictor fake;
  add_costs(findings, machine, fake.function());
  ASSERT_EQ(fake.machines.size(), 2u);
  EXPECT_EQ(fake.machines[0], machine);
  EXPECT_EQ(fake.machines[1], healthy());
  EXPECT_EQ(fake.sizes[0], (std::vector<std::uint64_t>{1u << 20, 256u << 20}));
  const auto call_time = [&](const Machine& on, std::uint64_t size) {
    Call call;
    call.size = Bytes(size);
    return FakePredictor().function()(on, {call})[0].time;
  };
  const Finding& finding = findings.front();
  ASSERT_EQ(finding.cost.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t size = i == 0 ? 1u << 20 : 256u << 20;
    EXPECT_EQ(finding.cost[i].size, Bytes(size));
    EXPECT_EQ(finding.cost[i].before, call_time(machine, size));
    EXPECT_EQ(finding.cost[i].after, call_time(healthy(), size));
  }
}

TEST(DoctorsCosts, AskForTheSameMachineOnce) {
  Machine machine = healthy();
  Link& link = link_named(machine, "gpu3");  // a slot with eight lanes for a card with sixteen
  link.width = link.max_width = 8;
  std::vector<Finding> findings = examined(machine);
  EXPECT_EQ(troubles(machine), (Codes{"LC-LINK-03", "LC-SLOT-01"}));
  FakePredictor fake;
  add_costs(findings, machine, fake.function());
  EXPECT_EQ(fake.machines.size(), 2u) << "both are mended by the same slot";
}

TEST(DoctorsCosts, AskForNothingWhereNothingIsWrong) {
  std::vector<Finding> findings = examined(healthy());
  FakePredictor fake;
  add_costs(findings, healthy(), fake.function());
  EXPECT_TRUE(fake.machines.empty());
}

TEST(DoctorsCosts, AreHonestAboutAFaultThatCostsNothing) {
  Machine machine = healthy();
  link_named(machine, "gpu0").aspm = Aspm::l1;  // the fake knows no sleep
  std::vector<Finding> findings = examined(machine);
  FakePredictor fake;
  add_costs(findings, machine, fake.function());
  ASSERT_EQ(findings.front().cost.size(), 2u);
  EXPECT_EQ(findings.front().cost[1].before, findings.front().cost[1].after);
}

TEST(DoctorsOrder, IsFailWarnSkipPassAndWithinByWhatMendingSaves) {
  Machine machine = healthy();
  link_named(machine, "gpu1").width = 8;        // saves 15.8 GB/s of the sum
  link_named(machine, "gpu2").width = 1;        // saves 29.5
  link_named(machine, "gpu3").aspm = Aspm::l1;  // a warning
  link_named(machine, "gpu0").replays.reset();  // unknown
  std::vector<Finding> findings = examined(machine);
  add_costs(findings, machine, FakePredictor().function());
  EXPECT_EQ(findings[0].where, "link gpu2");
  EXPECT_EQ(findings[1].where, "link gpu1");
  EXPECT_EQ(findings[2].code, "LC-ASPM-01");
  EXPECT_EQ(findings[3].status, FindingStatus::skip);
  EXPECT_EQ(findings.back().status, FindingStatus::pass);
}

/// What must hold of every list of findings.
void expect_sound(const std::vector<Finding>& findings, const Codes& every_code, const std::string& machine) {
  Codes codes;
  for (const Finding& finding : findings) {
    codes.insert(finding.code);
    EXPECT_FALSE(finding.where.empty() || finding.fact.empty()) << machine << " " << finding.code;
    EXPECT_EQ(finding.mend.empty(), finding.status == FindingStatus::pass) << machine << " " << finding.code;
    if (!finding.mended) continue;
    EXPECT_TRUE(finding.status == FindingStatus::fail || finding.status == FindingStatus::warn);
    for (const MachineProblem& problem : check_machine(*finding.mended))
      ADD_FAILURE() << machine << " mended for " << finding.code << ": " << problem.path << " "
                    << problem.text;
  }
  EXPECT_EQ(codes, every_code) << machine << ": each rule says something";
}

Codes codes_of(const std::vector<Finding>& findings) {
  Codes codes;
  for (const Finding& finding : findings) codes.insert(finding.code);
  return codes;
}

TEST(DoctorProperty, EveryRuleSaysSomethingOnAnyMachineAndMendsItToAMachine) {
  const Codes every_code = codes_of(examined(healthy()));
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Machine built = random_machine(seed), other = random_machine(seed + 1);
    expect_sound(examined(built), every_code, built.name);
    expect_sound(examined(built, other), every_code, built.name);
    const Machine odd = lanecast::random_machine(seed), older = lanecast::random_machine(seed + 1);
    expect_sound(examined(odd), every_code, "odd machine " + std::to_string(seed));
    expect_sound(examined(odd, older), every_code, "odd machine " + std::to_string(seed));
  }
}

TEST(DoctorProperty, AFaultThatIsMendedIsFoundNoMore) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Machine machine = random_machine(seed);
    for (const Finding& finding : examined(machine)) {
      if (!finding.mended) continue;
      for (const Finding& still : examined_for(finding.code, *finding.mended)) {
        EXPECT_FALSE(still.status == finding.status && still.where == finding.where &&
                     still.fact == finding.fact)
            << machine.name << ": " << finding.code << " " << finding.where;
      }
    }
  }
}

TEST(DoctorProperty, AssumedValuesNeverPass) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Machine machine = random_machine(seed);
    for (const Link& link : machine.links) machine.assumed.push_back("links." + link.name);
    for (const PcieSwitch& part : machine.switches) machine.assumed.push_back("switches." + part.name);
    machine.assumed.emplace_back("p2p.iommu");
    for (const Finding& finding : examined(machine)) {
      const bool rests_on_links = finding.code.rfind("LC-LINK-01", 0) == 0 || finding.code == "LC-ASPM-01" ||
                                  finding.code == "LC-MPS-01" || finding.code == "LC-SLOT-01" ||
                                  finding.code == "LC-IOMMU-01";
      if (!rests_on_links) continue;
      EXPECT_EQ(finding.status, FindingStatus::skip) << machine.name << " " << finding.code;
    }
  }
}

}  // namespace
}  // namespace lanecast::support
