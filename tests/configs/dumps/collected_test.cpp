#include "configs/dumps/collected.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "configs/dumps/collect_script.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/dumps/system_facts.hpp"
#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

constexpr const char* kHead = "# lanecast topo collect, format 1, 2026-11-30T06:25:03Z\n";

constexpr const char* kSmall =
    "# lanecast topo collect, format 1, 2026-11-30T06:25:03Z\n"
    "@ /proc/sys/kernel/hostname\n"
    "box7\n"
    "> /sys/bus/pci/devices/0000:21:00.0 -> /sys/devices/pci0000:20/0000:21:00.0\n"
    "@ /sys/devices/pci0000:20/0000:21:00.0/class\n"
    "0x030200\n"
    "@ /sys/devices/pci0000:20/0000:21:00.0/vendor\n"
    "0x10de\n"
    "@ /sys/devices/pci0000:20/0000:21:00.0/current_link_width\n"
    "16\n"
    "% /sys/devices/pci0000:20/0000:21:00.0/config\n"
    " de 10 35 23 00 00 00 00\n"
    "# complete\n";

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_collected(text, "box.txt", facts);
  return facts;
}

bool has_shell(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  FILE* output = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, output)) > 0;) text.append(part, got);
  EXPECT_EQ(pclose(output), 0) << command;
  return text;
}

/// What the script writes about a folder, run by a shell, "dash".
std::string collected_by(const std::string& shell, const FakeSystem& system) {
  const FakeSystem place;
  place.write("/collect.sh", collect_script());
  return output_of(shell + " " + place.root().string() + "/collect.sh " + system.root().string() + " 2>&1");
}

TEST(Collected, ReadsFilesLinksFoldersAndBytes) {
  const CollectedText text = parse_collected(kSmall);
  EXPECT_EQ(text.format, 1);
  EXPECT_EQ(text.taken, "2026-11-30T06:25:03Z");
  EXPECT_TRUE(text.complete);
  EXPECT_EQ(text.files.read("/proc/sys/kernel/hostname"), "box7\n");
  EXPECT_EQ(text.files.read("/sys/bus/pci/devices/0000:21:00.0/config"),
            std::string("\xde\x10\x35\x23\0\0\0\0", 8));
  EXPECT_EQ(text.files.line_of("/sys/bus/pci/devices/0000:21:00.0/class"), 5);
}

TEST(Collected, NamesTheLineOfEachStatement) {
  const MachineFacts facts = facts_of(kSmall);
  EXPECT_EQ(facts.devices.at("0000:21:00.0").width.all().at(0).from,
            "box.txt:9 (/sys/bus/pci/devices/0000:21:00.0/current_link_width)");
  EXPECT_EQ(facts.taken.all().at(0).value, "2026-11-30T06:25:03Z");
  EXPECT_TRUE(facts.notes.empty());
}

TEST(Collected, TakesBackslashesOffEscapedLines) {
  const CollectedText text =
      parse_collected(std::string(kHead) + "@ /a\n\\@ b\n\\\\c\n\\# d\nplain\n+ /e\n# complete\n");
  EXPECT_EQ(text.files.read("/a"), "@ b\n\\c\n# d\nplain\n");
  EXPECT_EQ(text.files.list("/e"), std::vector<std::string>());
}

TEST(Collected, HandsOutputsOfCommandsOnWithTheirLines) {
  const CollectedText text = parse_collected(
      std::string(kHead) + "# command: nvidia-smi topo -m\n\tGPU0\n\\# legend\n# end\n@ /a\n1\n# complete\n");
  ASSERT_EQ(text.commands.size(), 1U);
  EXPECT_EQ(text.commands[0].command, "nvidia-smi topo -m");
  EXPECT_EQ(text.commands[0].output, "\tGPU0\n# legend\n");
  EXPECT_EQ(text.commands[0].line, 3);
  EXPECT_EQ(text.files.read("/a"), "1\n");
}

TEST(Collected, NotesAnOutputThatItCannotRead) {
  const MachineFacts facts = facts_of(std::string(kHead) + "# command: rocm-smi\nx\n# end\n# complete\n");
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_EQ(facts.notes[0], "box.txt:2: the output of `rocm-smi` is of no kind that is read here");
}

TEST(Collected, TakesLineEndsOfWindowsAndPromptsBeforeTheHead) {
  std::string text = "$ sh collect.sh\n" + std::string(kSmall);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  EXPECT_EQ(values_of(facts_of(text)), values_of(facts_of(kSmall)));
}

TEST(Collected, ATextWithoutTheHeadIsNothing) {
  MachineFacts facts;
  EXPECT_EQ(read_collected("@ /sys/bus/pci/devices/0000:21:00.0/class\n0x030200\n", "box.txt", facts), 0);
  EXPECT_EQ(read_collected("", "box.txt", facts), 0);
  EXPECT_TRUE(facts.notes.empty());
}

TEST(Collected, NotesAFormatOfTheFuture) {
  std::string text = kSmall;
  text.replace(text.find("format 1"), 8, "format 2");
  const MachineFacts facts = facts_of(text);
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("format 2"), std::string::npos);
}

/// Every statement of a text that ends early stands in the whole text, too: no number is cut to another one.
TEST(Collected, ATextCutAtAnyByteStatesNothingElseThanTheWhole) {
  const std::string whole = kSmall;
  const std::string all = values_of(facts_of(whole));
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    const MachineFacts facts = facts_of(whole.substr(0, length));
    std::istringstream lines(values_of(facts));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(all.find(line + "\n"), std::string::npos) << "cut at byte " << length << ": " << line;
    }
    const bool told = !facts.notes.empty() && facts.notes.back().find("ends early") != std::string::npos;
    const bool has_head = length >= std::string(kHead).size();
    EXPECT_EQ(told, has_head && length + 1 < whole.size()) << "cut at byte " << length;
  }
}

TEST(CollectScript, StatesTheSameAsTheLiveSystemForAnyShell) {
  int shells = 0;
  for (const char* shell : {"sh", "dash", "bash", "busybox sh"}) {
    if (!has_shell(std::string(shell).substr(0, std::string(shell).find(' ')))) continue;
    const unsigned first = 5 * static_cast<unsigned>(shells++);
    for (unsigned seed = first; seed < first + 5; ++seed) {
      const FakeSystem system;
      write_random_system(seed, system);
      MachineFacts live;
      const int functions = add_system_facts(LiveFiles(system.root()), "live", live);
      const std::string text = collected_by(shell, system);
      MachineFacts collected;
      EXPECT_EQ(read_collected(text, "box.txt", collected), functions) << shell << ", seed " << seed;
      EXPECT_EQ(values_of(collected), values_of(live)) << shell << ", seed " << seed;
      EXPECT_EQ(collected.notes.size(), live.notes.size()) << shell << ", seed " << seed;
    }
  }
  EXPECT_GE(shells, 1);
}

TEST(CollectScript, WritesNoIdentifiers) {
  const FakeSystem system;
  write_random_system(3, system);
  system.write("/proc/cmdline", "root=UUID=1234-5678 iommu=pt\n");
  system.write("/proc/driver/nvidia/gpus/0000:01:00.0/information",
               "Model: \t\t Example\nGPU UUID: \t GPU-1111-2222\nBus Location: \t 0000:01:00.0\n");
  system.write("/sys/class/net/eth0/address", "aa:bb:cc:dd:ee:ff\n");
  const std::string text = collected_by("sh", system);
  EXPECT_EQ(text.find("UUID"), std::string::npos);
  EXPECT_EQ(text.find("aa:bb"), std::string::npos);
  EXPECT_NE(text.find("iommu=pt"), std::string::npos);
}

TEST(CollectScript, AsksNvidiaSmiForWhatIdentifiesNoCard) {
  const FakeSystem place;
  place.write("/collect.sh", collect_script());
  place.write("/bin/nvidia-smi",
              "#!/bin/sh\n"
              "case $* in\n"
              "  'topo -m') printf '\\tGPU0\\n# legend\\n' ;;\n"
              "  -q) cat <<END\n"
              "Timestamp : now\n"
              "GPU 00000000:21:00.0\n"
              "    Product Name                  : Example\n"
              "    Serial Number                 : 165000\n"
              "    GPU UUID                      : GPU-1111\n"
              "    BAR1 Memory Usage\n"
              "        Total                     : 1 MiB\n"
              "    Compute Mode                  : Default\n"
              "    Processes\n"
              "        Name                      : /home/someone/secret\n"
              "GPU 00000000:22:00.0\n"
              "    Product Name                  : Other\n"
              "END\n"
              "esac\n");
  const std::filesystem::path tool = place.root() / "bin/nvidia-smi";
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const CollectedText text =
      parse_collected(output_of("PATH=" + tool.parent_path().string() + ":\"$PATH\" sh " +
                                place.root().string() + "/collect.sh 2>/dev/null"));
  EXPECT_TRUE(text.complete);
  ASSERT_GE(text.commands.size(), 3U);
  EXPECT_EQ(text.commands[0].command, "nvidia-smi topo -m");
  EXPECT_EQ(text.commands[0].output, "\tGPU0\n# legend\n");
  EXPECT_EQ(text.commands[1].command, "nvidia-smi topo -p2p r");
  EXPECT_EQ(text.commands[2].command, "nvidia-smi -q");
  EXPECT_EQ(text.commands[2].output,
            "GPU 00000000:21:00.0\n"
            "    Product Name                  : Example\n"
            "    BAR1 Memory Usage\n"
            "        Total                     : 1 MiB\n"
            "GPU 00000000:22:00.0\n"
            "    Product Name                  : Other\n");
}

TEST(CollectScript, PassesShellcheck) {
  if (!has_shell("shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  const FakeSystem place;
  place.write("/collect.sh", collect_script());
  EXPECT_EQ(std::system(("shellcheck " + place.root().string() + "/collect.sh").c_str()), 0);
}

}  // namespace
}  // namespace lanecast
