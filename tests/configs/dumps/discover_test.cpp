#include "configs/dumps/discover.hpp"

#include <gtest/gtest.h>

#include "configs/dumps/live_hwloc.hpp"
#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

TEST(Discover, ReadsTheSystemBelowAnotherRootAndTellsWhen) {
  const FakeSystem system;
  system.write("/proc/sys/kernel/hostname", "box7\n");
  system.function("pci0000:20/0000:20:01.0", "0000:21:00.0", "0x030200", "0x10de");
  const MachineFacts facts = live_facts(system.root().string(), "2026-11-30T06:25:03Z");
  EXPECT_EQ(facts.devices.size(), 1U) << "nothing of the machine that runs the test";
  EXPECT_EQ(facts.host.all().at(0).value, "box7");
  EXPECT_EQ(facts.taken.all().at(0).value, "2026-11-30T06:25:03Z");
  EXPECT_TRUE(facts.notes.empty());
}

TEST(Discover, SaysThatThereIsNoPciBus) {
  const FakeSystem system;
  const MachineFacts facts = live_facts(system.root().string(), "");
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("a container may hide it"), std::string::npos);
  EXPECT_TRUE(facts.taken.empty());
}

TEST(Discover, AnswersOnTheMachineThatRunsTheTest) {
  MachineFacts facts = live_facts("/", "");
  add_live_hwloc(facts);
  EXPECT_FALSE(facts.cpus.empty()) << "every machine has a processor";
}

}  // namespace
}  // namespace lanecast
