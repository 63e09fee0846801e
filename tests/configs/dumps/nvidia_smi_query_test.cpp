#include <gtest/gtest.h>

#include <string>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

using namespace literals;

/// One GPU's section, with what a test wants to vary.
struct Section {
  std::string address = "00000000:3B:00.0";
  std::string model = "Example Accelerator 900";
  std::string generation =
      "            Max                           : 4\n            Current                       : 1\n";
  std::string state = "P8";
  std::string replays = "41";
};

std::string section(const Section& with) {
  return "GPU " + with.address + "\n    Product Name                          : " + with.model +
         "\n    Product Architecture                  : Example\n    Serial Number                         : "
         "1320000000\n"
         "    GPU UUID                              : GPU-11111111\n    Minor Number                         "
         " : 5\n"
         "    GPU Virtualization Mode\n        Virtualization Mode               : None\n    PCI\n"
         "        Device Id                         : 0x20B010DE\n        Bus Id                            "
         ": " +
         with.address + "\n        GPU Link Info\n            PCIe Generation\n" + with.generation +
         "            Link Width\n                Max                       : 16x\n"
         "                Current                   : 8x\n        Bridge Chip\n            Type              "
         "            : "
         "N/A\n        Replays Since Reset               : " +
         with.replays + "\n    Performance State                     : " + with.state +
         "\n    FB Memory Usage\n        Total                             : 81559 MiB\n"
         "        Reserved                          : 551 MiB\n    BAR1 Memory Usage\n"
         "        Total                             : 131072 MiB\n    Conf Compute Protected Memory Usage\n"
         "        Total                             : 0 MiB\n    Processes\n        Process ID               "
         "         : "
         "4101\n            Name                          : /usr/bin/secret\n";
}

std::string head(int attached) {
  return "\n==============NVSMI LOG==============\n\nTimestamp                                 : Mon Mar  4 "
         "10:20:30 "
         "2024\nDriver Version                            : 550.54.14\nCUDA Version                          "
         "    : "
         "12.4\n\nAttached GPUs                             : " +
         std::to_string(attached) + "\n";
}

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_query(text, "box.txt", facts);
  return facts;
}

/// The only statement; the test fails where there is none or several.
template <class T>
T only(const Statements<T>& statements) {
  EXPECT_EQ(statements.all().size(), 1U);
  return statements.empty() ? T{} : statements.all()[0].value;
}

TEST(NvidiaSmiQuery, ReadsTheMachineAndEachGpu) {
  Section second;
  second.address = "00000000:D8:00.0";
  second.state = "P0";
  const MachineFacts facts = facts_of(head(2) + section({}) + "\n" + section(second));
  EXPECT_EQ(only(facts.driver), "550.54.14");
  EXPECT_EQ(only(facts.taken), "2024-03-04T10:20:30");
  EXPECT_FALSE(only(facts.virtualized));
  ASSERT_EQ(facts.devices.size(), 2U);
  const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 0);
  EXPECT_EQ(only(gpu.gpu_model), "Example Accelerator 900");
  EXPECT_EQ(only(gpu.vendor), 0x10deU);
  EXPECT_EQ(only(gpu.device), 0x20b0U);
  EXPECT_EQ(only(gpu.rate), PcieRate::gen1);
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen4);
  EXPECT_TRUE(gpu.max_rate.empty()) << "`Max` is what card and slot can do together";
  EXPECT_EQ(only(gpu.width), 8);
  EXPECT_EQ(only(gpu.link_max_width), 16);
  EXPECT_EQ(only(gpu.replays), 41U);
  EXPECT_TRUE(only(gpu.asleep));
  EXPECT_EQ(only(gpu.memory), 81559_MiB);
  EXPECT_EQ(only(gpu.bar1), 131072_MiB);
  EXPECT_EQ(only(facts.devices.at("0000:d8:00.0").gpu_index), 1);
  EXPECT_FALSE(only(facts.devices.at("0000:d8:00.0").asleep));
  EXPECT_TRUE(facts.notes.empty());
}

TEST(NvidiaSmiQuery, SaysWhichLineStatesAValue) {
  const MachineFacts facts = facts_of(head(1) + section({}));
  const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
  EXPECT_EQ(gpu.gpu_index.all()[0].from, "box.txt:9 (nvidia-smi -q)");
  EXPECT_EQ(gpu.gpu_model.all()[0].from, "box.txt:10 (Product Name)");
  EXPECT_EQ(gpu.rate.all()[0].from, "box.txt:23 (PCIe Generation, Current)");
}

TEST(NvidiaSmiQuery, PartsCardAndPortWhereTheDriverDoes) {
  Section five;
  five.generation = "  Max : 4\n  Current : 4\n  Device Current : 4\n  Device Max : 5\n  Host Max : 4\n";
  const PciFacts gpu = facts_of(section(five)).devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.max_rate), PcieRate::gen5);
  EXPECT_EQ(only(gpu.host_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.rate), PcieRate::gen4);
  five.generation = "  Max : 5\n  Current : 5\n  Device Max : 5\n  Host Max : N/A\n";
  EXPECT_TRUE(facts_of(section(five)).devices.at("0000:3b:00.0").host_max_rate.empty())
      << "a virtual machine";
}

TEST(NvidiaSmiQuery, WordsForNothingAreNoValues) {
  for (const char* word : {"N/A", "[N/A]", "ERR!", "[Not Supported]", "Unknown Error",
                           "Requested functionality has been deprecated"}) {
    Section with{"00000000:3B:00.0", word, std::string("  Max : ") + word + "\n  Current : " + word + "\n",
                 word, word};
    const PciFacts gpu = facts_of(section(with)).devices.at("0000:3b:00.0");
    EXPECT_TRUE(gpu.gpu_model.empty() && gpu.rate.empty() && gpu.link_max_rate.empty()) << word;
    EXPECT_TRUE(gpu.asleep.empty() && gpu.replays.empty() && gpu.present.empty()) << word;
    EXPECT_EQ(only(gpu.width), 8);
  }
}

TEST(NvidiaSmiQuery, ReadsTheSameWithoutIndentFromAMailAndFromWindows) {
  const std::string text = head(1) + section({});
  std::string flat;
  std::string quoted;
  std::string crlf;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool in_indent =
        text[i] == ' ' && (i == 0 || text[i - 1] == '\n' || (!flat.empty() && flat.back() == '\n'));
    if (!in_indent) flat += text[i];
    quoted += i == 0 || text[i - 1] == '\n' ? std::string("> ") + text[i] : std::string(1, text[i]);
    crlf += text[i] == '\n' ? "\r\n" : std::string(1, text[i]);
  }
  for (const std::string& each : {flat, quoted, crlf}) {
    SCOPED_TRACE(each);
    const MachineFacts facts = facts_of(each);
    const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
    EXPECT_EQ(only(gpu.rate), PcieRate::gen1);
    EXPECT_EQ(only(gpu.width), 8);
    EXPECT_EQ(only(gpu.memory), 81559_MiB);
    EXPECT_EQ(only(gpu.gpu_index), 0);
    EXPECT_EQ(only(facts.driver), "550.54.14");
  }
}

TEST(NvidiaSmiQuery, NumbersGpusOnlyWhereAllAreShown) {
  EXPECT_TRUE(facts_of(head(2) + section({})).devices.at("0000:3b:00.0").gpu_index.empty())
      << "nvidia-smi -q -i";
  EXPECT_TRUE(facts_of(section({})).devices.at("0000:3b:00.0").gpu_index.empty()) << "no head";
  const MachineFacts twice = facts_of(head(1) + section({}) + head(1) + section({}));
  EXPECT_EQ(only(twice.devices.at("0000:3b:00.0").gpu_index), 0) << "the same machine, read twice";
  Section second;
  second.address = "00000000:D8:00.0";
  const MachineFacts one_by_one = facts_of(head(2) + section(second) + head(2) + section({}));
  EXPECT_TRUE(one_by_one.devices.at("0000:3b:00.0").gpu_index.empty()) << "-i 1, then -i 0";
}

TEST(NvidiaSmiQuery, DoesNotTakeTheShareOfAMigDeviceForTheGpusMemory) {
  const std::string mig =
      "    MIG Mode\n        Current : Enabled\n    MIG Device\n        Index : 0\n        FB Memory Usage\n"
      "            Total : 4864 MiB\n        BAR1 Memory Usage\n            Total : 8191 MiB\n"
      "    Accounting Mode : Disabled\n";
  std::string text = section({});
  text.insert(text.find("    PCI\n"), mig);
  const PciFacts gpu = facts_of(text).devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.memory), 81559_MiB);
  EXPECT_EQ(only(gpu.bar1), 131072_MiB);
}

TEST(NvidiaSmiQuery, TellsVirtualMachinesFromTheirHosts) {
  const auto mode = [](const std::string& word) {
    return only(facts_of("GPU 00000000:00:06.0\n    Virtualization Mode : " + word + "\n").virtualized);
  };
  EXPECT_TRUE(mode("Pass-Through"));
  EXPECT_TRUE(mode("VGPU"));
  EXPECT_FALSE(mode("Host VGPU"));
  EXPECT_FALSE(mode("None"));
}

TEST(NvidiaSmiQuery, ALostGpuIsGone) {
  const MachineFacts old = facts_of(
      "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to "
      "recover this "
      "GPU\n");
  EXPECT_FALSE(only(old.devices.at("0000:3b:00.0").present));
  ASSERT_EQ(old.notes.size(), 1U);
  EXPECT_NE(old.notes[0].find("box.txt:1: the driver cannot reach GPU 0000:3b:00.0 (GPU is lost."),
            std::string::npos);
  const MachineFacts numbered =
      facts_of("Unable to determine the device handle for GPU3: 0000:5F:00.0: Unknown Error\n");
  EXPECT_FALSE(only(numbered.devices.at("0000:5f:00.0").present));
  EXPECT_EQ(only(numbered.devices.at("0000:5f:00.0").gpu_index), 3);
  const MachineFacts glued = facts_of(
      "Unable to determine the device handle for GPU0000:C3:00.0: GPU is lost.  Reboot the system\n");
  EXPECT_FALSE(only(glued.devices.at("0000:c3:00.0").present));
  const MachineFacts in_section = facts_of("GPU 00000000:3B:00.0\n    Product Name : GPU is lost\n");
  EXPECT_FALSE(only(in_section.devices.at("0000:3b:00.0").present));
}

TEST(NvidiaSmiQuery, AGpuThatMayNotBeReadIsNotGone) {
  const MachineFacts facts =
      facts_of("Unable to determine the device handle for GPU0: 0000:3B:00.0: Insufficient Permissions\n");
  EXPECT_TRUE(facts.devices.at("0000:3b:00.0").present.empty());
  EXPECT_EQ(facts.notes.size(), 1U);
  const MachineFacts nameless = facts_of("Unable to determine the device handle for GPU2: Unknown Error\n");
  EXPECT_TRUE(nameless.devices.empty());
  EXPECT_EQ(nameless.notes.size(), 1U);
}

TEST(NvidiaSmiQuery, FindsTheGpuOfASectionThatLostItsFirstLine) {
  const std::string text = section({});
  const MachineFacts facts = facts_of(text.substr(text.find("    PCI\n")));
  EXPECT_EQ(only(facts.devices.at("0000:3b:00.0").width), 8);
  const MachineFacts nowhere = facts_of(text.substr(text.find("            Link Width")));
  EXPECT_TRUE(nowhere.devices.empty());
  ASSERT_EQ(nowhere.notes.size(), 1U);
  EXPECT_NE(nowhere.notes[0].find("box.txt:2: values of `nvidia-smi -q` stand without the line `GPU"),
            std::string::npos);
}

TEST(NvidiaSmiQuery, TakesNothingFromTextsOfOtherKinds) {
  for (const char* text :
       {"Product Name: Example Server\nDriver Version : 1.0\nTimestamp : Mon Mar  4 10:20:30 2024\n",
        "GPU 0: Example (UUID: GPU-1)\n", "GPU0 X PIX\nGPU1 PIX X\n", "GPU 3B\n"}) {
    MachineFacts facts;
    EXPECT_EQ(read_nvidia_smi_query(text, "box.txt", facts), 0) << text;
    EXPECT_TRUE(facts.devices.empty() && facts.driver.empty() && facts.taken.empty()) << text;
  }
  const MachineFacts mixed = facts_of(section({}) + "System Information\n\tProduct Name: Example Server\n");
  EXPECT_EQ(only(mixed.devices.at("0000:3b:00.0").gpu_model), "Example Accelerator 900");
}

TEST(NvidiaSmiQuery, BoundsGpusAndValues) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "GPU 0000" + std::to_string(1000 + i) + ":01:00.0\nTimestamp : Mon Mar  4 10:20:30 " +
            std::to_string(1000 + i) + "\n";
  }
  const MachineFacts facts = facts_of(text);
  EXPECT_EQ(facts.devices.size(), 128U);
  EXPECT_EQ(facts.taken.all().size(), 64U);
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_EQ(facts.notes[0],
            "box.txt: only the first 128 GPUs were read; mend: give the files of one machine");
}

TEST(NvidiaSmiQuery, NeverStatesAFalseValueWhereTheTextIsCut) {
  Section with;
  with.state = "P12";
  with.replays = "4100";
  const std::string text = head(1) + section(with);
  const PciFacts whole = facts_of(text).devices.at("0000:3b:00.0");
  for (std::size_t length = 0; length < text.size(); ++length) {
    SCOPED_TRACE(length);
    const MachineFacts facts = facts_of(text.substr(0, length));
    for (const auto& [address, cut] : facts.devices) {
      EXPECT_EQ(address, "0000:3b:00.0");
      for (const auto& each : cut.gpu_model.all()) EXPECT_EQ(each.value, only(whole.gpu_model));
      for (const auto& each : cut.width.all()) EXPECT_EQ(each.value, 8);
      for (const auto& each : cut.link_max_width.all()) EXPECT_EQ(each.value, 16);
      for (const auto& each : cut.replays.all()) EXPECT_EQ(each.value, 4100U);
      for (const auto& each : cut.memory.all()) EXPECT_EQ(each.value, 81559_MiB);
      for (const auto& each : cut.asleep.all()) EXPECT_TRUE(each.value);
    }
  }
}

}  // namespace
}  // namespace lanecast
