#include "configs/dumps/live_difference.hpp"

#include <gtest/gtest.h>

#include "configs/dumps/import.hpp"
#include "configs/dumps/system_facts.hpp"
#include "model/error.hpp"
#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

using Differences = std::vector<std::string>;

/// A box with two GPUs below a switch, running and in the file alike.
class LiveDifference : public testing::Test {
 protected:
  LiveDifference() {
    system_.write("/proc/sys/kernel/hostname", "box7\n");
    system_.function("pci0000:20", "0000:20:01.0", "0x060400", "0x1022");
    upstream_ = system_.function("pci0000:20/0000:20:01.0", "0000:21:00.0", "0x060400", "0x1000");
    const std::string above = "pci0000:20/0000:20:01.0/0000:21:00.0";
    system_.function(above, "0000:22:04.0", "0x060400", "0x1000");
    system_.function(above, "0000:22:08.0", "0x060400", "0x1000");
    gpu0_ = system_.function(above + "/0000:22:04.0", "0000:23:00.0", "0x030200", "0x10de");
    gpu1_ = system_.function(above + "/0000:22:08.0", "0000:24:00.0", "0x030200", "0x10de");
    for (const std::string& folder : {upstream_, gpu0_, gpu1_}) set_link(folder, "16.0 GT/s PCIe", "16");
    describe();
  }

  void set_link(const std::string& folder, const std::string& speed, const std::string& width) const {
    system_.write(folder + "/current_link_speed", speed + "\n");
    system_.write(folder + "/current_link_width", width + "\n");
  }

  void describe() {
    machine_.host = "box7";
    machine_.roots.resize(1);
    machine_.switches.resize(1);
    machine_.switches[0].bdf = "0000:21:00.0";
    machine_.gpus.resize(2);
    const NodeId root{NodeKind::root, 0};
    const NodeId card{NodeKind::pcie_switch, 0};
    add_link("uplink", root, card, "0000:20:01.0");
    for (int i = 0; i < 2; ++i) {
      Gpu& gpu = machine_.gpus[static_cast<std::size_t>(i)];
      gpu.name = "gpu" + std::to_string(i);
      gpu.bdf = i == 0 ? "0000:23:00.0" : "0000:24:00.0";
      add_link(gpu.name, card, {NodeKind::gpu, i}, i == 0 ? "0000:22:04.0" : "0000:22:08.0");
    }
  }

  void add_link(const std::string& name, NodeId from, NodeId to, const std::string& port) {
    Link link;
    link.name = name;
    link.from = from;
    link.to = to;
    link.port = port;
    link.rate = PcieRate::gen4;
    machine_.links.push_back(link);
  }

  Differences differences() const { return differences_from_live(machine_, LiveFiles(system_.root())); }

  FakeSystem system_;
  Machine machine_;
  std::string upstream_;
  std::string gpu0_;
  std::string gpu1_;
};

TEST_F(LiveDifference, ThereIsNoneWhileNothingChanges) { EXPECT_EQ(differences(), Differences{}); }

TEST_F(LiveDifference, ThereIsNoneToAnotherHost) {
  system_.remove("/sys/bus/pci/devices/0000:24:00.0");
  machine_.host = "box8";
  EXPECT_EQ(differences(), Differences{});
  machine_.host = "";
  EXPECT_EQ(differences(), Differences{}) << "a machine that nobody read from a live one";
}

TEST_F(LiveDifference, NamesAGpuThatIsGone) {
  system_.remove("/sys/bus/pci/devices/0000:24:00.0");
  EXPECT_EQ(differences(), Differences{"GPU `gpu1` (0000:24:00.0) is gone"});
  machine_.gpus[1].present = false;
  EXPECT_EQ(differences(), Differences{}) << "the file knows";
}

TEST_F(LiveDifference, ACardThatFellOffTheBusIsGoneThoughItsFolderStays) {
  system_.write(gpu1_ + "/config", std::string(64, static_cast<char>(0xff)));
  EXPECT_EQ(differences(), Differences{"GPU `gpu1` (0000:24:00.0) is gone"});
  system_.write(gpu1_ + "/power/runtime_status", "suspended\n");
  EXPECT_EQ(differences(), Differences{}) << "a sleeping card may read so, too";
}

TEST_F(LiveDifference, NamesAGpuThatIsBack) {
  machine_.gpus[1].present = false;
  EXPECT_EQ(differences(), Differences{"GPU `gpu1` (0000:24:00.0) is back: the file says that it is gone"});
}

TEST_F(LiveDifference, NamesANewGpu) {
  system_.function("pci0000:20/0000:20:02.0", "0000:30:00.0", "0x030200", "0x10de");
  EXPECT_EQ(differences(), Differences{"the GPU at 0000:30:00.0 is not in the file"});
}

TEST_F(LiveDifference, GraphicsOfTheProcessorOrTheConsoleAreNoNewGpus) {
  system_.function("pci0000:00", "0000:00:02.0", "0x030000", "0x8086");
  system_.function("pci0000:00", "0000:00:03.0", "0x030000", "0x10de");
  system_.function("pci0000:00/0000:00:1c.0", "0000:02:00.0", "0x030000", "0x1a03");
  EXPECT_EQ(differences(), Differences{});
}

TEST_F(LiveDifference, NamesANarrowerOrWiderLink) {
  set_link(gpu1_, "16.0 GT/s PCIe", "8");
  EXPECT_EQ(differences(), Differences{"link `gpu1` is x8 now, x16 in the file"});
  machine_.links[2].width = 4;
  EXPECT_EQ(differences(), Differences{"link `gpu1` is x8 now, x4 in the file"});
}

TEST_F(LiveDifference, OneEndThatSaysWhatTheFileSaysIsEnough) {
  set_link(gpu1_, "16.0 GT/s PCIe", "8");
  system_.write("/sys/bus/pci/devices/0000:22:08.0/current_link_width", "16\n");
  EXPECT_EQ(differences(), Differences{});
  set_link(gpu1_, "Unknown", "0");
  system_.write("/sys/bus/pci/devices/0000:22:08.0/current_link_width", "4\n");
  EXPECT_EQ(differences(), Differences{"link `gpu1` is x4 now, x16 in the file"});
}

TEST_F(LiveDifference, AnIdleCardsLowerRateIsNone) {
  set_link(gpu1_, "2.5 GT/s PCIe", "16");
  system_.write(gpu1_ + "/max_link_speed", "32.0 GT/s PCIe\n");
  EXPECT_EQ(differences(), Differences{});
}

TEST_F(LiveDifference, NamesAGpusLinkThatCanDoNoBetter) {
  set_link(gpu1_, "8.0 GT/s PCIe", "16");
  system_.write("/sys/bus/pci/devices/0000:22:08.0/max_link_speed", "8.0 GT/s PCIe\n");
  EXPECT_EQ(differences(), Differences{"link `gpu1` is at most gen3 now, gen4 in the file"});
}

TEST_F(LiveDifference, NamesASlowerUplinkAndAFasterLink) {
  set_link(upstream_, "5.0 GT/s PCIe", "16");
  EXPECT_EQ(differences(), Differences{"link `uplink` is gen2 now, gen4 in the file"});
  set_link(upstream_, "16.0 GT/s PCIe", "16");
  set_link(gpu0_, "32.0 GT/s PCIe", "16");
  EXPECT_EQ(differences(), Differences{"link `gpu0` is gen5 now, gen4 in the file"});
}

TEST_F(LiveDifference, NamesACardBelowAnotherPort) {
  machine_.links[2].port = "0000:22:0c.0";
  EXPECT_EQ(differences(),
            Differences{"link `gpu1` is below port 0000:22:08.0 now, below 0000:22:0c.0 in the file"});
}

TEST_F(LiveDifference, AssumedAndUnknownValuesAreNotCompared) {
  set_link(gpu1_, "Unknown", "0");
  set_link(gpu0_, "32.0 GT/s PCIe", "8");
  machine_.assumed = {"links.gpu0.rate", "links.gpu0.width"};
  EXPECT_EQ(differences(), Differences{});
}

TEST_F(LiveDifference, ASleepingCardsLinkIsNotCompared) {
  set_link(gpu1_, "2.5 GT/s PCIe", "1");
  system_.write(gpu1_ + "/power/runtime_status", "suspended\n");
  EXPECT_EQ(differences(), Differences{});
}

TEST_F(LiveDifference, GpusWithoutAddressesMayBeAnyOfThoseThatAreThere) {
  machine_.gpus[0].bdf = "";
  machine_.gpus[1].bdf = "";
  EXPECT_EQ(differences(), Differences{});
}

/// A machine just read from a system does not differ from it.
TEST(LiveDifferenceOfRandomSystems, ThereIsNoneToTheMachineThatWasJustRead) {
  int machines = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const FakeSystem system;
    write_random_system(seed, system);
    const LiveFiles live(system.root());
    for (const std::string& name : live.list("/sys/bus/pci/devices").value_or(Differences())) {
      system.remove("/sys/bus/pci/devices/" + name +
                    "/config");  // its random bytes contradict the other files
    }
    MachineFacts facts;
    add_system_facts(live, "live", facts);
    Machine machine;
    try {
      machine = machine_from_facts(facts, "box").machine;
    } catch (const Error&) {
      continue;  // no GPU among its cards
    }
    ++machines;
    EXPECT_EQ(differences_from_live(machine, live), Differences{}) << "seed " << seed;
  }
  EXPECT_GE(machines, 8);
}

}  // namespace
}  // namespace lanecast
