#include "tests/configs/dumps/lspci_support.hpp"

namespace lanecast {
namespace {

using namespace lspci_test;

const char* const two_cards =
    R"(01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1) (prog-if 00 [VGA controller])
	NUMA node: 0
	Region 1: Memory at 3f000000000 (64-bit, prefetchable) [size=32G]
	Capabilities: [78] Express (v2) Legacy Endpoint, MSI 00
		DevCap:	MaxPayload 256 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us
			MaxPayload 256 bytes, MaxReadReq 512 bytes
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16
		UESta:	DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq- ACSViol-
		CESta:	RxErr+ BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

02:00.0 Ethernet controller: Intel Corporation Ethernet Controller X710 for 10GBASE-T (rev 02)
	Physical Slot: 12
	NUMA node: 0
		LnkCap:	Port #0, Speed 8GT/s, Width x4, ASPM L1, Exit Latency L1 <16us
		LnkSta:	Speed 8GT/s, Width x4
)";

TEST(LspciPaste, PlainListsGiveClassesAndNames) {
  const MachineFacts facts = verbose_facts(
      "00:00.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Device 14a4 (rev 01)\n"
      "21:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
      "22:00.0 Quantum entangler: Example Corp Thing (new) (rev 01)\n"
      "23:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 [Instinct "
      "MI210]\n");
  EXPECT_EQ(only(at(facts, "0000:00:00.0").class_code), 0x060000u);
  EXPECT_EQ(only(at(facts, "0000:00:00.0").device), 0x14a4u);
  EXPECT_EQ(only(at(facts, "0000:21:00.0").class_code), 0x020700u);
  EXPECT_EQ(only(at(facts, "0000:22:00.0").name), "Example Corp Thing (new)");
  EXPECT_TRUE(at(facts, "0000:22:00.0").class_code.empty());
  EXPECT_EQ(only(at(facts, "0000:23:00.0").class_code), 0x120000u);
  EXPECT_EQ(only(at(facts, "0000:23:00.0").vendor), 0x1002u);
}

TEST(LspciPaste, NumbersAreTakenBeforeNames) {
  const MachineFacts facts = verbose_facts(
      "0000:75:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2bb5] (rev a1)\n"
      "10000:e1:00.0 0302: 10de:2331 (rev a1)\n"
      "02:00.0 Class [1234]: Example Corp Thing [1ee0:0001]\n");
  const PciFacts& gpu = at(facts, "0000:75:00.0");
  EXPECT_EQ(only(gpu.class_code), 0x030200u);
  EXPECT_EQ(only(gpu.vendor), 0x10deu);
  EXPECT_EQ(only(gpu.device), 0x2bb5u);
  EXPECT_EQ(only(gpu.name), "NVIDIA Corporation Device 2bb5");
  EXPECT_EQ(only(at(facts, "10000:e1:00.0").class_code), 0x030200u);
  EXPECT_EQ(only(at(facts, "10000:e1:00.0").device), 0x2331u);
  EXPECT_EQ(only(at(facts, "0000:02:00.0").class_code), 0x123400u);
  EXPECT_EQ(only(at(facts, "0000:02:00.0").vendor), 0x1ee0u);
}

TEST(LspciPaste, AnswersOfAllOnesMeanThatTheFunctionIsGone) {
  const MachineFacts facts = verbose_facts(
      "41:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1) (prog-if 00)\n"
      "\t!!! Unknown header type 7f\n"
      "\tKernel driver in use: nvidia\n\n"
      "42:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev ff)\n"
      "43:00.0 SATA controller: Example Corp Revision ff (rev ff)\n"
      "\tCapabilities: [80] Power Management version 3\n");
  EXPECT_EQ(only(at(facts, "0000:41:00.0").present), false);
  EXPECT_EQ(place_of(at(facts, "0000:41:00.0").present), "box.txt:2 (header type 7f)");
  EXPECT_EQ(only(at(facts, "0000:42:00.0").present), false);
  EXPECT_EQ(place_of(at(facts, "0000:42:00.0").present), "box.txt:5 (rev ff)");
  EXPECT_TRUE(at(facts, "0000:43:00.0").present.empty()) << "it answers: ff is its revision";
}

TEST(LspciPaste, HiddenCapabilitiesAreOneNote) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 3D controller: X\n\tCapabilities: <access denied>\n\n"
      "02:00.0 3D controller: X\n\tCapabilities: <access denied>\n");
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_EQ(facts.notes.front().substr(0, 10), "box.txt:2:");
  EXPECT_NE(facts.notes.front().find("sudo lspci -vvv"), std::string::npos);
}

TEST(LspciPaste, AGpuOfAVirtualMachineIsANote) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 VGA compatible controller: X\n\tKernel driver in use: vfio-pci\n\n"
      "02:00.0 Ethernet controller: X\n\tKernel driver in use: vfio-pci\n\n"
      "03:00.0 3D controller: X\n\tKernel driver in use: nvidia\n");
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes.front().find("0000:01:00.0 is bound to the driver vfio-pci"), std::string::npos);
}

TEST(LspciPaste, LessVerboseOutputStatesTheNumaNodeAmongFlags) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 3D controller: X\n\tFlags: bus master, fast devsel, latency 0, IRQ 323, NUMA node 2, IOMMU "
      "group 26\n"
      "02:00.0 3D controller: X\n\tNUMA node: -1\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").numa), 2);
  EXPECT_TRUE(at(facts, "0000:02:00.0").numa.empty()) << "-1 is no statement";
}

TEST(LspciPaste, AFunctionInASleepStateIsAsleep) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 3D controller: X\n\tCapabilities: [60] Power Management version 3\n"
      "\t\tStatus: D3 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").asleep), true);
}

TEST(LspciPaste, IndentationLineEndsAndQuotationsDoNotMatter) {
  const std::string text = two_cards;
  const MachineFacts plain = verbose_facts(text);
  std::string blanks = text;
  for (std::size_t at = blanks.find('\t'); at != std::string::npos; at = blanks.find('\t')) {
    blanks.replace(at, 1, "        ");
  }
  std::string stripped;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    stripped += line.substr(std::min(line.find_first_not_of('\t'), line.size())) + "\n";
  }
  for (const std::string& changed :
       {blanks, stripped, with_lines(text, "", "\r\n"), with_lines(text, "> ", "\n"),
        with_lines(text, "    ", "\n"), with_lines(text, "", "\n\n")}) {
    const MachineFacts facts = verbose_facts(changed);
    EXPECT_TRUE(is_part(facts, plain) && is_part(plain, facts)) << changed;
  }
}

TEST(LspciPaste, ExcerptsBelongToTheFunctionThatThePromptAsksFor) {
  const MachineFacts facts = verbose_facts(
      "GPU #0\n```\n$ sudo lspci -vvv -s 01:00.0 | grep Lnk\n"
      "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s, Width x8\n```\n"
      "\t\tLnkSta:\tSpeed 32GT/s, Width x2\n"
      "# lspci -s0000:02:00.0 -vv\n\t\tLnkSta:\tSpeed 5GT/s, Width x4\n"
      "# lspci -vvs 03:00.0 -k\n# lspci -s 04:\n\t\tLnkSta:\tSpeed 5GT/s, Width x4\n");
  EXPECT_EQ(facts.devices.size(), 2u);
  EXPECT_EQ(only(at(facts, "0000:01:00.0").width), 8);
  EXPECT_EQ(only(at(facts, "0000:02:00.0").width), 4);
}

TEST(LspciPaste, LinesThatAreNotOfAFunctionEndIt) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 3D controller: X\n\tNUMA node: 0\nThe other card, from memory:\n\t\tLnkSta:\tSpeed 8GT/s, "
      "Width x8\n");
  EXPECT_TRUE(at(facts, "0000:01:00.0").width.empty());
}

TEST(LspciPaste, EachReaderLeavesTheOthersLines) {
  const std::string tree =
      "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation AD102 [GeForce RTX 4090]\n"
      "           \\-02.0-[02]----00.0  Intel Corporation Ethernet Controller X710 for 10GBASE-T\n";
  for (const std::string& text :
       {tree + two_cards, two_cards + tree, "$ lspci -tv\n" + tree + "$ sudo lspci -vvv\n" + two_cards}) {
    MachineFacts facts;
    EXPECT_EQ(read_lspci_tree(text, "box.txt", facts), 4);
    EXPECT_EQ(read_lspci_verbose(text, "box.txt", facts), 2);
    EXPECT_EQ(only(at(facts, "0000:01:00.0").parent), "0000:00:01.0");
    EXPECT_EQ(only(at(facts, "0000:01:00.0").width), 16);
    EXPECT_EQ(only(at(facts, "0000:01:00.0").name), "NVIDIA Corporation AD102 [GeForce RTX 4090]");
    EXPECT_TRUE(is_part(verbose_facts(two_cards), facts));
  }
}

TEST(LspciPaste, AListCutAnywhereStatesNothingThatTheWholeDoesNot) {
  const std::string text = two_cards;
  const MachineFacts whole = verbose_facts(text);
  std::size_t stated = 0;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const MachineFacts facts = verbose_facts(text.substr(0, length));
    ASSERT_TRUE(is_part(facts, whole)) << text.substr(0, length);
    ASSERT_GE(functions_and_parents(facts), stated) << text.substr(0, length);
    stated = functions_and_parents(facts);
  }
}

TEST(LspciPaste, TextsThatNeverRepeatThemselvesAreNotKeptWhole) {
  std::string names;
  std::string functions;
  for (int i = 0; i < 70000; ++i) {
    names += "01:00.0 3D controller: Card " + std::to_string(i) + "\n\tCapabilities: <access denied>\n";
    functions += std::to_string(1000 + i / 8 % 9000) + ":" + std::to_string(10 + i / 72000) + ":00." +
                 std::to_string(i % 8) + " 3D controller: X\n";
  }
  const MachineFacts many_names = verbose_facts(names + std::string(1 << 20, 'x'));
  EXPECT_EQ(at(many_names, "0000:01:00.0").name.all().size(), 16u);
  EXPECT_EQ(many_names.notes.size(), 1u);
  EXPECT_EQ(verbose_facts(functions).devices.size(), 65536u);
}

TEST(LspciPaste, OtherTextIsNone) {
  MachineFacts facts;
  for (const std::string text :
       {"", "GPU 00000000:01:00.0\n    PCI\n        Bus Id : 00000000:01:00.0\n", "00000000:01:00.0, 4, 16\n",
        "0000:21:00.0 mlx5_0 (MT4129) ConnectX-7 fw: 28.39 port 1 (ACTIVE)\n", "\t\tLnkSta:\tSpeed 8GT/s\n",
        "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation X\n", "NUMA node(s): 2\nNUMA node: 3\n",
        "01:00.0: no blank\n01:20.0 3D controller: X\nzz:00.0 3D controller: X\n", "12:30:45.6 Error: X\n"}) {
    EXPECT_EQ(read_lspci_verbose(text, "box.txt", facts), 0) << text;
  }
  EXPECT_TRUE(facts.devices.empty());
  EXPECT_TRUE(facts.notes.empty());
}

}  // namespace
}  // namespace lanecast
