#include "tests/configs/dumps/lspci_support.hpp"

namespace lanecast {
namespace {

using namespace lspci_test;

// An invented machine: a switch with two GPUs (one with its audio function) and an empty slot below root 80,
// a network adapter and a disk below root 00.
const char* const two_roots = R"(-+-[0000:80]-+-00.0  Advanced Micro Devices, Inc. [AMD] Device 1480
 |           \-01.0-[81-84]----00.0-[82-84]--+-00.0-[83]--+-00.0  NVIDIA Corporation GA102GL [RTX A6000]
 |                                           |            \-00.1  NVIDIA Corporation GA102 High Definition Audio Controller
 |                                           +-04.0-[84]----00.0  NVIDIA Corporation GA102GL [RTX A6000]
 |                                           \-08.0-[85]--
 \-[0000:00]-+-00.0  Intel Corporation Device 09a2
             +-03.1-[01]----00.0  Mellanox Technologies MT2892 Family [ConnectX-6 Dx]
             \-1f.2  Intel Corporation Sata Thing +-[x] \-00.0 -[01]-
)";

TEST(LspciTree, GivesEachFunctionTheBridgeWhoseBranchItContinues) {
  const MachineFacts facts = tree_facts(two_roots);
  EXPECT_EQ(facts.devices.size(), 13u);
  EXPECT_EQ(bridges_above(facts, "0000:83:00.1"),
            (std::vector<std::string>{"0000:82:00.0", "0000:81:00.0", "0000:80:01.0"}));
  EXPECT_EQ(bridges_above(facts, "0000:84:00.0"),
            (std::vector<std::string>{"0000:82:04.0", "0000:81:00.0", "0000:80:01.0"}));
  EXPECT_EQ(bridges_above(facts, "0000:01:00.0"), std::vector<std::string>{"0000:00:03.1"});
  EXPECT_EQ(only(at(facts, "0000:80:01.0").parent), "");
  EXPECT_EQ(only(at(facts, "0000:84:00.0").root_bus), "0000:80");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").root_bus), "0000:00");
  EXPECT_EQ(place_of(at(facts, "0000:84:00.0").parent), "box.txt:4 (lspci -t)");
  EXPECT_TRUE(facts.notes.empty());
}

TEST(LspciTree, GivesBridgesTheirBuses) {
  const MachineFacts facts = tree_facts(two_roots);
  EXPECT_EQ(only(at(facts, "0000:80:01.0").secondary_bus), 0x81);
  EXPECT_EQ(only(at(facts, "0000:80:01.0").subordinate_bus), 0x84);
  EXPECT_EQ(only(at(facts, "0000:82:08.0").secondary_bus), 0x85);
  EXPECT_EQ(only(at(facts, "0000:82:08.0").subordinate_bus), 0x85);
  EXPECT_EQ(only(at(facts, "0000:82:08.0").class_code), 0x060400u);
  EXPECT_TRUE(at(facts, "0000:83:00.0").secondary_bus.empty());
}

TEST(LspciTree, TellsGpusAndAdaptersByTheirNamesAndSaysSo) {
  const MachineFacts facts = tree_facts(two_roots);
  const PciFacts& gpu = at(facts, "0000:83:00.0");
  EXPECT_EQ(only(gpu.name), "NVIDIA Corporation GA102GL [RTX A6000]");
  EXPECT_EQ(only(gpu.vendor), 0x10deu);
  EXPECT_EQ(only(gpu.class_code), 0x030000u);
  EXPECT_EQ(place_of(gpu.class_code), "box.txt:2 (lspci -tv, by its name)");
  EXPECT_TRUE(at(facts, "0000:83:00.1").class_code.empty()) << "an audio function";
  EXPECT_EQ(only(at(facts, "0000:01:00.0").class_code), 0x020000u);
  EXPECT_EQ(only(at(facts, "0000:01:00.0").vendor), 0x15b3u);
  EXPECT_EQ(only(at(facts, "0000:00:00.0").vendor), 0x8086u);
  EXPECT_EQ(only(at(facts, "0000:00:00.0").device), 0x09a2u);
}

TEST(LspciTree, NamesMayHoldWhatDrawsTrees) {
  const MachineFacts facts = tree_facts(two_roots);
  EXPECT_EQ(only(at(facts, "0000:00:1f.2").name), "Intel Corporation Sata Thing +-[x] \\-00.0 -[01]-");
}

TEST(LspciTree, WithoutNamesTheTreeIsTheSame) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-01.0-[01-02]----00.0-[02]----00.0\n"
      "           \\-02.0\n");
  EXPECT_EQ(bridges_above(facts, "0000:02:00.0"), (std::vector<std::string>{"0000:01:00.0", "0000:00:01.0"}));
  EXPECT_EQ(only(at(facts, "0000:00:02.0").parent), "");
  EXPECT_TRUE(at(facts, "0000:02:00.0").name.empty());
}

TEST(LspciTree, NumbersBesideNamesAreExact) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation GH100 [H100 PCIe] [10de:2331]\n"
      "           +-02.0  10de:20f1\n"
      "           +-03.0  NVIDIA Corporation Device [10de:2bb5]\n"
      "           \\-04.0  Device 1ee0:1234\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").name), "NVIDIA Corporation GH100 [H100 PCIe]");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").device), 0x2331u);
  EXPECT_EQ(place_of(at(facts, "0000:01:00.0").vendor), "box.txt:1 (lspci -tv)");
  EXPECT_EQ(only(at(facts, "0000:00:02.0").vendor), 0x10deu);
  EXPECT_EQ(only(at(facts, "0000:00:02.0").device), 0x20f1u);
  EXPECT_EQ(only(at(facts, "0000:00:03.0").name), "NVIDIA Corporation Device 2bb5") << "as without -nn";
  EXPECT_EQ(only(at(facts, "0000:00:04.0").vendor), 0x1ee0u);
}

TEST(LspciTree, DomainsMayHaveMoreThanFourDigits) {
  const MachineFacts facts = tree_facts(
      "-+-[0000:00]---00.0\n"
      " \\-[10000:e0]---06.0-[e1]----00.0\n");
  EXPECT_EQ(bridges_above(facts, "10000:e1:00.0"), std::vector<std::string>{"10000:e0:06.0"});
  EXPECT_EQ(only(at(facts, "10000:e1:00.0").root_bus), "10000:e0");
}

TEST(LspciTree, DomainsOfTheirOwnMayFollowAsTreesOfTheirOwn) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-00.0\n"
      "           \\-01.0-[01]----00.0\n"
      "-[0004:00]---00.0-[01]----00.0\n");
  EXPECT_EQ(bridges_above(facts, "0000:01:00.0"), std::vector<std::string>{"0000:00:01.0"});
  EXPECT_EQ(bridges_above(facts, "0004:01:00.0"), std::vector<std::string>{"0004:00:00.0"});
}

TEST(LspciTree, BusesWithoutDomainsAreOfDomainZero) {
  const MachineFacts facts = tree_facts("-[00]-+-00.0\n      \\-01.0-[01]----00.0\n");
  EXPECT_EQ(bridges_above(facts, "0000:01:00.0"), std::vector<std::string>{"0000:00:01.0"});
}

// What pciutils 3.9 prints of bridges that have no bus yet, and of buses whose own bridge it cannot find.
TEST(LspciTree, ABusWhoseBridgeIsNotSeenHasAnAncestorOnly) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-02.0--\n"
      "           \\-03.0-[05-09]--+-[0000:05]---01.0\n"
      "                           \\-[0000:07]---00.0\n");
  EXPECT_TRUE(at(facts, "0000:00:02.0").secondary_bus.empty());
  EXPECT_EQ(only(at(facts, "0000:05:01.0").parent), "0000:00:03.0") << "on the bridge's own bus";
  EXPECT_TRUE(at(facts, "0000:07:00.0").parent.empty());
  EXPECT_EQ(only(at(facts, "0000:07:00.0").ancestor), "0000:00:03.0");
  EXPECT_EQ(only(at(facts, "0000:07:00.0").root_bus), "0000:00");
}

TEST(LspciTree, APartOfATreeBeginsAtItsBridge) {
  const MachineFacts facts = tree_facts(
      "0000:3a:00.0-[3b-3d]----00.0-[3c-3d]--+-04.0-[3c]----00.0\n"
      "                                      \\-08.0-[3d]----00.0\n");
  EXPECT_EQ(bridges_above(facts, "0000:3d:00.0"),
            (std::vector<std::string>{"0000:3c:08.0", "0000:3b:00.0", "0000:3a:00.0"}));
  EXPECT_TRUE(at(facts, "0000:3a:00.0").parent.empty());
}

TEST(LspciTree, LineEndsQuotationsAndPromptsDoNotMatter) {
  const MachineFacts plain = tree_facts(two_roots);
  const std::string text = two_roots;
  for (const std::string& changed :
       {with_lines(text, "", "\r\n"), with_lines(text, "> ", "\n"), with_lines(text, "    ", "\n"),
        with_lines(text, "\t", "\n"), "## Tree\n```\nuser@box:~$ lspci -tv\n" + text + "```\nDone.\n",
        "$ lspci -tv\n" + text + "$ lspci -tv\n" + text}) {
    const MachineFacts facts = tree_facts(changed);
    EXPECT_EQ(facts.devices.size(), plain.devices.size()) << changed;
    EXPECT_TRUE(is_part(facts, plain) && is_part(plain, facts)) << changed;
    EXPECT_TRUE(facts.notes.empty()) << changed;
  }
}

TEST(LspciTree, BoxDrawingCharactersAreLines) {
  const MachineFacts facts = tree_facts(
      "─┬─[0000:80]───01.0─[81]────00.0  NVIDIA Corporation GA100 [A100 PCIe 80GB]\n"
      " └─[0000:00]─┬─00.0\n"
      "             ├─03.1─[01]──┬─00.0\n"
      "             │            └─00.1\n"
      "             └─1f.0\n");
  EXPECT_EQ(facts.devices.size(), 7u);
  EXPECT_EQ(bridges_above(facts, "0000:01:00.1"), std::vector<std::string>{"0000:00:03.1"});
  EXPECT_EQ(only(at(facts, "0000:81:00.0").class_code), 0x030000u);
}

TEST(LspciTree, HardWrappedLinesAreJoined) {
  const MachineFacts plain = tree_facts(two_roots);
  for (const std::size_t width : {50u, 64u, 80u}) {
    std::istringstream lines(two_roots);
    std::string wrapped;
    for (std::string line; std::getline(lines, line);) {
      for (std::size_t begin = 0; begin < line.size(); begin += width)
        wrapped += line.substr(begin, width) + "\n";
    }
    const MachineFacts facts = tree_facts(wrapped);
    EXPECT_TRUE(is_part(facts, plain) && is_part(plain, facts)) << wrapped;
  }
}

TEST(LspciTree, ANameBrokenWithinItsBracketsIsJoined) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation GA100 [A100\n"
      "PCIe 80GB]\n"
      "           \\-02.0\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").name), "NVIDIA Corporation GA100 [A100 PCIe 80GB]");
  EXPECT_EQ(only(at(facts, "0000:00:02.0").parent), "");
}

TEST(LspciTree, CutNamesTellNoMoreThanTheyHold) {
  const auto class_of = [](const std::string& name) {
    return only(at(tree_facts("-[0000:00]---01.0  " + name + "\n"), "0000:00:01.0").class_code).value_or(0);
  };
  EXPECT_EQ(class_of("NVIDIA Corporation GA102 [GeForce RT"), 0x030000u);
  EXPECT_EQ(class_of("NVIDIA Corporation GA100 [A100 NVSw"), 0u) << "may be an NVSwitch";
  EXPECT_EQ(class_of("NVIDIA Corporation GA100 [A100 NVSwitch]"), 0x068000u);
  EXPECT_EQ(class_of("NVIDIA Corporation GA102 High Def"), 0u);
  EXPECT_EQ(class_of("NVIDIA Corporation TU104 USB Type-C UCSI Controller"), 0u);
  EXPECT_EQ(class_of("NVIDIA Corporation TU104 USB 3.1 Host Controller"), 0u);
  EXPECT_EQ(class_of("NVIDIA Corporation GM107 High Definition Audio Controller [GeForce 940MX]"), 0u);
  EXPECT_EQ(class_of("NVIDIA Corporation MCP79 Ethernet"), 0x020000u);
  EXPECT_EQ(class_of("NVIDIA Corporation GH100[H100 SXM5 80GB]"), 0x030000u);
  EXPECT_EQ(class_of("NVIDIA Corporation Device 2bb5"), 0u);
  EXPECT_EQ(class_of("Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX]"), 0x030000u);
  EXPECT_EQ(class_of("Advanced Micro Devices, Inc. [AMD/ATI] Vega 20 HDMI Audio [Radeon VII]"), 0u);
  EXPECT_EQ(class_of("Intel Corporation Ponte Vecchio XT [Data Center GPU Max 1550]"), 0x038000u);
  EXPECT_EQ(class_of("Mellanox Technologies MT28841"), 0x020000u);
  EXPECT_EQ(class_of("Mellanox Technologies MT28908 Family [ConnectX-6 PCIe Bridge]"), 0u);
  EXPECT_EQ(class_of("ASPEED Technology, Inc. ASPEED Graphics Family"), 0u);
}

TEST(LspciTree, AFunctionWithoutIdsIsGone) {
  const MachineFacts facts = tree_facts(
      "-[0000:00]-+-01.0-[01]----00.0  Illegal Vendor ID Device ffff\n"
      "           \\-02.0-[02]----00.0  NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev ff)\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").present), false);
  EXPECT_EQ(only(at(facts, "0000:02:00.0").present), false);
  EXPECT_TRUE(at(facts, "0000:00:01.0").present.empty());
}

TEST(LspciTree, ATextThatBeginsWithinTheTreeLeavesWhatIsAboveUnknown) {
  const std::string text = two_roots;
  const MachineFacts facts =
      tree_facts(text.substr(text.find(" |                                           +-04")));
  EXPECT_EQ(facts.notes.size(), 1u);
  EXPECT_EQ(facts.notes.front().substr(0, 10), "box.txt:1:");
  EXPECT_TRUE(at(facts, "0000:84:00.0").parent.empty());
  EXPECT_TRUE(at(facts, "0000:84:00.0").root_bus.empty());
  EXPECT_EQ(facts.devices.count("0000:82:04.0"), 0u) << "its bus is not shown";
  EXPECT_EQ(only(at(facts, "0000:01:00.0").parent), "0000:00:03.1") << "from the next root on all is known";
}

TEST(LspciTree, LinesAfterAGapAreNotHungBelowAnotherRoot) {
  const std::string text = two_roots;
  std::string gap = text;
  const std::size_t begin = gap.find(" |           \\-01.0");
  gap.erase(begin, gap.find(" |                                           +-04") - begin);
  const MachineFacts facts = tree_facts(gap);
  EXPECT_EQ(facts.notes.size(), 1u);
  EXPECT_TRUE(is_part(facts, tree_facts(text)));
}

TEST(LspciTree, ATreeCutAnywhereStatesNothingThatTheWholeDoesNot) {
  const std::string text = two_roots;
  const MachineFacts whole = tree_facts(text);
  std::size_t stated = 0;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const MachineFacts facts = tree_facts(text.substr(0, length));
    ASSERT_TRUE(is_part(facts, whole)) << text.substr(0, length);
    ASSERT_GE(functions_and_parents(facts), stated) << text.substr(0, length);
    stated = functions_and_parents(facts);
  }
}

TEST(LspciTree, OtherTextIsNone) {
  MachineFacts facts;
  for (const std::string text :
       {"", "\n\n",
        "01:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB]\n\tLnkSta: Speed 8GT/s\n",
        "+-----------+\n| GPU  Name |\n|===+=======|\n+-- 00.0\n", "- [ ] task\n+-00.0x\n-[zz:00]-+-00.0\n",
        "box:1:2 [0] NCCL INFO Channel 00/02 : 0 1\n", "-[0000:00]-\n"}) {
    EXPECT_EQ(read_lspci_tree(text, "box.txt", facts), 0) << text;
  }
  EXPECT_TRUE(facts.devices.empty());
  EXPECT_TRUE(facts.notes.empty());
}

}  // namespace
}  // namespace lanecast
