#include <gtest/gtest.h>

#include <string>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

using namespace literals;

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_table(text, "box.txt", facts);
  return facts;
}

template <class T>
T only(const Statements<T>& statements) {
  EXPECT_EQ(statements.all().size(), 1U);
  return statements.empty() ? T{} : statements.all()[0].value;
}

const std::string table =
    "Mon Mar  4 10:20:30 2024\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |\n"
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n"
    "|   0  Example 90                     Off |   00000000:3B:00.0 Off |                  N/A |\n"
    "| 41%   31C    P8             17W /  450W |       1MiB /  24564MiB |      0%      Default |\n"
    "|                                         |                        |                  N/A |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "|   1  Example Accelerator 900 ...    On  |   00000000:D8:00.0  On |                    0 |\n"
    "| N/A   45C    P0            280W /  350W |   20000MiB /  81559MiB |     98%      Default |\n"
    "|                                         |                        |             Disabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|    1   N/A  N/A      4101      C   /usr/bin/secret                            19990MiB |\n"
    "+-----------------------------------------------------------------------------------------+\n";

TEST(NvidiaSmiTable, ReadsNumbersAddressesAndModels) {
  const MachineFacts facts = facts_of(table);
  ASSERT_EQ(facts.devices.size(), 2U);
  const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 0);
  EXPECT_EQ(only(gpu.gpu_model), "Example 90");
  EXPECT_TRUE(only(gpu.asleep));
  EXPECT_EQ(only(gpu.memory), 24564_MiB);
  EXPECT_EQ(gpu.gpu_index.all()[0].from, "box.txt:9 (nvidia-smi)");
  EXPECT_FALSE(only(facts.devices.at("0000:d8:00.0").asleep));
  EXPECT_EQ(only(facts.devices.at("0000:d8:00.0").memory), 81559_MiB);
  EXPECT_EQ(only(facts.driver), "550.54.14");
  EXPECT_EQ(only(facts.taken), "2024-03-04T10:20:30");
}

TEST(NvidiaSmiTable, DoesNotTakeANameThatTheTableCuts) {
  const MachineFacts facts = facts_of(table);
  EXPECT_TRUE(facts.devices.at("0000:d8:00.0").gpu_model.empty());
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_EQ(facts.notes[0].substr(0, 71),
            "box.txt:13: the table of `nvidia-smi` cuts the name `Example Accelerato");
}

TEST(NvidiaSmiTable, ReadsNarrowTablesOfOlderDriversAndNewWordsOfNewerOnes) {
  const MachineFacts old = facts_of(
      "| NVIDIA-SMI 375.26                 Driver Version: 375.26                    |\n"
      "|   0  Example 80          Off  | 0000:05:00.0     Off |                    0 |\n"
      "| N/A   37C    P0    39W / 300W |      0MiB / 11439MiB |      0%      Default |\n");
  EXPECT_EQ(only(old.devices.at("0000:05:00.0").gpu_model), "Example 80");
  EXPECT_EQ(only(old.devices.at("0000:05:00.0").memory), 11439_MiB);
  EXPECT_EQ(only(old.driver), "375.26");
  EXPECT_EQ(only(facts_of("| NVIDIA-SMI 590.10   KMD Version: 590.10   CUDA UMD Version: 13.1 |\n").driver),
            "590.10");
}

TEST(NvidiaSmiTable, ReadsATableWithinCommentsAndQuotations) {
  std::string quoted;
  for (const char c : "\n" + table) quoted += c == '\n' ? std::string("\n> # ") : std::string(1, c);
  EXPECT_EQ(facts_of(quoted).devices.size(), 2U);
}

TEST(NvidiaSmiTable, AGpuThatShowsOnlyErrorsIsGone) {
  const MachineFacts facts = facts_of(
      "|   3  ERR!                          On  | 00000000:5F:00.0 ERR! |                 ERR! |\n"
      "|ERR!  ERR! ERR!             ERR! / ERR! |     0MiB / 81559MiB |    ERR!         ERR! |\n");
  EXPECT_FALSE(only(facts.devices.at("0000:5f:00.0").present));
  EXPECT_EQ(only(facts.devices.at("0000:5f:00.0").gpu_index), 3);
  EXPECT_TRUE(facts.devices.at("0000:5f:00.0").gpu_model.empty());
}

TEST(NvidiaSmiTable, ReadsTheListAndNoIdentifiers) {
  MachineFacts facts;
  EXPECT_EQ(read_nvidia_smi_table(
                "GPU 0: Example 90 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\nGPU 11: Example "
                "Accelerator 900 (UUID: GPU-2)\n",
                "box.txt", facts),
            2);
  ASSERT_EQ(facts.numbered_gpus.size(), 2U);
  EXPECT_EQ(only(facts.numbered_gpus.at(11)), "Example Accelerator 900");
  EXPECT_EQ(facts.numbered_gpus.at(0).all()[0].from, "box.txt:1 (nvidia-smi -L)");
}

TEST(NvidiaSmiTable, TakesNothingFromTextsOfOtherKinds) {
  for (const char* text :
       {"| 0 | 1 |\n", "| GPU0 | X | PIX |\n", "GPU 0: is broken\n", "GPU 999: Example (UUID: GPU-1)\n",
        "|    1   N/A  N/A      4101      C   /usr/bin/x    19990MiB |\n",
        "|  0    7   0   0  |     19MiB /  4864MiB | 14      0 |  1   0    0    0    0 |\n"}) {
    MachineFacts facts;
    EXPECT_EQ(read_nvidia_smi_table(text, "box.txt", facts), 0) << text;
    EXPECT_TRUE(facts.devices.empty() && facts.numbered_gpus.empty()) << text;
  }
}

TEST(NvidiaSmiTable, NeverStatesAFalseValueWhereTheTextIsCut) {
  const std::string text = table + "GPU 0: Example 90 (UUID: GPU-1)\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    SCOPED_TRACE(length);
    const MachineFacts facts = facts_of(text.substr(0, length));
    for (const auto& [address, gpu] : facts.devices) {
      const bool first = address == "0000:3b:00.0";
      EXPECT_TRUE(first || address == "0000:d8:00.0") << address;
      for (const auto& each : gpu.gpu_model.all()) EXPECT_EQ(each.value, "Example 90");
      for (const auto& each : gpu.asleep.all()) EXPECT_EQ(each.value, first);
      for (const auto& each : gpu.memory.all()) EXPECT_EQ(each.value, first ? 24564_MiB : 81559_MiB);
    }
    for (const auto& each : facts.driver.all()) EXPECT_EQ(each.value, "550.54.14");
    for (const auto& [index, models] : facts.numbered_gpus) EXPECT_EQ(only(models), "Example 90") << index;
  }
}

}  // namespace
}  // namespace lanecast
