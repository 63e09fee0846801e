#include "tests/configs/dumps/lspci_support.hpp"

namespace lanecast {
namespace {

using namespace lspci_test;

// An invented machine: a GPU at x8 below a switch whose downstream port redirects requests.
const char* const slow_gpu =
    R"(42:00.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0) (prog-if 00 [Normal decode])
	Physical Slot: 7-1
	NUMA node: 1
	IOMMU group: 12
	Bus: primary=42, secondary=43, subordinate=44, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), IntMsgNum 0
		DevCap:	MaxPayload 512 bytes, PhantFunc 0
			ExtTag+ RBE+
		DevCtl:	CorrErr- NonFatalErr- FatalErr- UnsupReq-
			RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+
			MaxPayload 256 bytes, MaxReadReq 128 bytes
		LnkCap:	Port #4, Speed 16GT/s, Width x16, ASPM L0s L1, Exit Latency L0s <4us, L1 <32us
			ClockPM- Surprise+ LLActRep+ BwNot+ ASPMOptComp+
		LnkCtl:	ASPM Disabled; LnkDisable- CommClk-
		LnkSta:	Speed 16GT/s, Width x8
			TrErr- Train- SlotClk- DLActive+ BWMgmt+ ABWMgmt-
		LnkCap2: Supported Link Speeds: 2.5-16GT/s, Crosslink- Retimer+ 2Retimers+ DRS-
		LnkCtl2: Target Link Speed: 16GT/s, EnterCompliance- SpeedDis-
	Capabilities: [100 v2] Advanced Error Reporting
		UESta:	DLP- SDES+ TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP-
			ECRC+ UnsupReq+ ACSViol+ UncorrIntErr- BlockedTLP+ AtomicOpBlocked- TLPBlockedErr-
			PoisonTLPBlocked- DMWrReqBlocked- IDECheck- MisIDETLP- PCRC_CHECK- TLPXlatBlocked-
		UEMsk:	DLP+ SDES+ TLP+ FCP+ CmpltTO+ CmpltAbrt+ UnxCmplt+ RxOF+ MalfTLP+
			ECRC+ UnsupReq+ ACSViol+ UncorrIntErr+ BlockedTLP- AtomicOpBlocked- TLPBlockedErr-
		CESta:	RxErr- BadTLP+ BadDLLP- Rollover- Timeout+ AdvNonFatalErr+ CorrIntErr+ HeaderOF-
		CEMsk:	RxErr+ BadTLP+ BadDLLP+ Rollover+ Timeout+ AdvNonFatalErr+ CorrIntErr- HeaderOF-
	Capabilities: [148 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-
	Kernel driver in use: pcieport

43:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)
	Subsystem: NVIDIA Corporation Device 1533
	Status: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
	NUMA node: 1
	Region 0: Memory at b4000000 (32-bit, non-prefetchable) [size=16M]
	Region 1: Memory at 38040000000 (64-bit, prefetchable) [size=128G]
	Region 3: Memory at 3a040000000 (64-bit, prefetchable) [size=32M]
	Capabilities: [60] Power Management version 3
		Flags: PMEClk- DSI- D1- D2- AuxCurrent=0mA PME(D0+,D1-,D2-,D3hot+,D3cold-)
		Status: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-
	Capabilities: [78] Express (v2) Endpoint, MSI 00
		DevCap:	MaxPayload 256 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us
			MaxPayload 256 bytes, MaxReadReq 512 bytes
		LnkCap:	Port #0, Speed 16GT/s, Width x16, ASPM not supported
		LnkCtl:	ASPM Disabled; RCB 64 bytes, LnkDisable- CommClk+
		LnkSta:	Speed 2.5GT/s (downgraded), Width x8 (downgraded)
	Capabilities: [bcc v1] Single Root I/O Virtualization (SR-IOV)
		Region 1: Memory at 00003b0000000000 (64-bit, prefetchable) [size=256G]
	Kernel driver in use: nvidia
)";

TEST(LspciVerbose, ReadsTheLinkFromBothOfItsEnds) {
  const MachineFacts facts = verbose_facts(slow_gpu);
  const PciFacts& port = at(facts, "0000:42:00.0");
  EXPECT_EQ(only(port.max_rate), PcieRate::gen4);
  EXPECT_EQ(only(port.max_width), 16);
  EXPECT_EQ(only(port.rate), PcieRate::gen4);
  EXPECT_EQ(only(port.width), 8) << "lspci prints no (downgraded) of a downstream port";
  EXPECT_EQ(place_of(port.width), "box.txt:15 (LnkSta)");
  const PciFacts& gpu = at(facts, "0000:43:00.0");
  EXPECT_EQ(only(gpu.rate), PcieRate::gen1);
  EXPECT_EQ(only(gpu.width), 8);
  EXPECT_EQ(only(gpu.max_width), 16);
}

TEST(LspciVerbose, ReadsWhatTheFunctionIsAndWhereItSits) {
  const MachineFacts facts = verbose_facts(slow_gpu);
  const PciFacts& port = at(facts, "0000:42:00.0");
  EXPECT_EQ(only(port.port), PciePort::downstream_port);
  EXPECT_EQ(only(port.secondary_bus), 0x43);
  EXPECT_EQ(only(port.subordinate_bus), 0x44);
  EXPECT_EQ(only(port.numa), 1);
  EXPECT_EQ(only(port.slot), "7-1");
  EXPECT_EQ(only(port.class_code), 0x060400u);
  EXPECT_EQ(only(port.vendor), 0x1000u);
  EXPECT_EQ(only(port.name), "Broadcom / LSI PEX890xx PCIe Gen 5 Switch");
  const PciFacts& gpu = at(facts, "0000:43:00.0");
  EXPECT_EQ(only(gpu.port), PciePort::endpoint);
  EXPECT_EQ(only(gpu.class_code), 0x030200u);
  EXPECT_EQ(only(gpu.name), "NVIDIA Corporation GA100 [A100 PCIe 80GB]");
  EXPECT_TRUE(gpu.present.empty());
  EXPECT_TRUE(gpu.asleep.empty());
}

TEST(LspciVerbose, ReadsPayloadsFromTheLinesThatContinueDevCtl) {
  const MachineFacts facts = verbose_facts(slow_gpu);
  const PciFacts& port = at(facts, "0000:42:00.0");
  EXPECT_EQ(only(port.max_payload_capability), Bytes(512));
  EXPECT_EQ(only(port.max_payload), Bytes(256));
  EXPECT_EQ(only(port.max_read_request), Bytes(128));
  EXPECT_EQ(only(at(facts, "0000:43:00.0").max_read_request), Bytes(512))
      << "an excerpt without DevCtl's line";
}

TEST(LspciVerbose, ReadsPowerSavingAndItsExitLatency) {
  const MachineFacts facts = verbose_facts(slow_gpu);
  EXPECT_EQ(only(at(facts, "0000:42:00.0").aspm), Aspm::off);
  EXPECT_EQ(only(at(facts, "0000:42:00.0").l1_exit), Seconds(32 * 1e-6));
  EXPECT_TRUE(at(facts, "0000:43:00.0").l1_exit.empty())
      << "the device's acceptable latency is another value";
  const auto aspm = [](const std::string& words) {
    return only(at(verbose_facts("01:00.0 3D controller: X\n\t\tLnkCtl:\tASPM " + words + "; RCB 64 bytes\n"),
                   "0000:01:00.0")
                    .aspm);
  };
  EXPECT_EQ(aspm("L1 Enabled"), Aspm::l1);
  EXPECT_EQ(aspm("L0s Enabled"), Aspm::l0s);
  EXPECT_EQ(aspm("L0s L1 Enabled"), Aspm::l1);
  EXPECT_EQ(aspm("unknown"), std::nullopt);
}

TEST(LspciVerbose, RedirectionOfRequestsOrCompletionsIsAcs) {
  EXPECT_EQ(only(at(verbose_facts(slow_gpu), "0000:42:00.0").acs_redirect), true);
  const auto acs = [](const std::string& flags) {
    return only(
        at(verbose_facts("01:00.0 PCI bridge: X\n\t\tACSCtl:\tSrcValid+ " + flags + "\n"), "0000:01:00.0")
            .acs_redirect);
  };
  EXPECT_EQ(acs("TransBlk- ReqRedir- CmpltRedir- UpstreamFwd+"), false);
  EXPECT_EQ(acs("TransBlk- ReqRedir- CmpltRedir+"), true);
  EXPECT_EQ(acs("TransBlk- ReqRedir-"), std::nullopt) << "the other flag is not shown";
}

TEST(LspciVerbose, CountsErrorBitsOfTheLinkAndNotTheOthers) {
  const MachineFacts facts = verbose_facts(slow_gpu);
  const PciFacts& port = at(facts, "0000:42:00.0");
  EXPECT_EQ(only(port.corrected_errors), 2u) << "BadTLP and Timeout";
  EXPECT_EQ(only(port.uncorrected_errors), 2u) << "SDES, and ECRC on the line that continues";
  EXPECT_EQ(place_of(port.corrected_errors), "box.txt:25 (CESta)");
  EXPECT_TRUE(at(facts, "0000:43:00.0").corrected_errors.empty()) << "no such capability is shown";
}

TEST(LspciVerbose, TheWindowIntoAGpuIsItsLargestPrefetchableRegion) {
  EXPECT_EQ(only(at(verbose_facts(slow_gpu), "0000:43:00.0").bar1), Bytes(std::uint64_t{128} << 30));
  const auto bar1 = [](const std::string& lines) {
    return only(at(verbose_facts("01:00.0 VGA compatible controller: X\n" + lines), "0000:01:00.0").bar1);
  };
  EXPECT_EQ(bar1("\tMemory at f0000000 (64-bit, prefetchable) [size=256M]\n"), Bytes(256 << 20)) << "-v";
  EXPECT_EQ(bar1("\tRegion 0: Memory at f0000000 (32-bit, non-prefetchable) [size=16M]\n"), std::nullopt);
  EXPECT_EQ(bar1("\t\tBAR 1: current size: 64GB, supported: 64MB 64GB\n"), Bytes(std::uint64_t{64} << 30));
  EXPECT_EQ(bar1("\tCapabilities: [x v1] Virtual Resizable BAR\n\t\tBAR 1: current size: 64GB\n"),
            std::nullopt);
  EXPECT_TRUE(at(verbose_facts("01:00.0 Ethernet controller: X\n"
                               "\tRegion 0: Memory at f0000000 (64-bit, prefetchable) [size=32M]\n"),
                 "0000:01:00.0")
                  .bar1.empty());
}

TEST(LspciVerbose, AWindowWithoutAnAddressIsANote) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 VGA compatible controller: X\n"
      "\tRegion 1: Memory at <unassigned> (64-bit, prefetchable) [disabled] [size=32G]\n");
  EXPECT_TRUE(at(facts, "0000:01:00.0").bar1.empty());
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_NE(facts.notes.front().find("Above 4G Decoding"), std::string::npos);
}

TEST(LspciVerbose, OldWordsOfTheLinkStateMeanTheSame) {
  const MachineFacts facts = verbose_facts(
      "01:00.0 3D controller: X\n"
      "\tCapabilities: [60] Express Legacy Endpoint, MSI 00\n"
      "\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x16, ASPM L0s L1, Latency L0 <512ns, L1 <1us\n"
      "\t\tLnkSta:\tSpeed 5GT/s (ok), Width x4 (downgraded)\n"
      "02:00.0 3D controller: X\n"
      "\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1, Exit Latency L1 unlimited\n"
      "\t\tLnkSta:\tSpeed 16GT/s (overdriven), Width x8\n"
      "03:00.0 PCI bridge: X\n"
      "\t\tLnkSta:\tSpeed unknown, Width x0\n");
  EXPECT_EQ(only(at(facts, "0000:01:00.0").port), PciePort::endpoint);
  EXPECT_EQ(only(at(facts, "0000:01:00.0").rate), PcieRate::gen2);
  EXPECT_EQ(only(at(facts, "0000:01:00.0").width), 4);
  EXPECT_EQ(only(at(facts, "0000:01:00.0").l1_exit), Seconds(1e-6));
  EXPECT_EQ(only(at(facts, "0000:02:00.0").rate), PcieRate::gen4);
  EXPECT_TRUE(at(facts, "0000:02:00.0").l1_exit.empty());
  EXPECT_TRUE(at(facts, "0000:03:00.0").rate.empty());
  EXPECT_TRUE(at(facts, "0000:03:00.0").width.empty());
}

TEST(LspciVerbose, KnowsTheRolesOfExpressFunctions) {
  const auto port = [](const std::string& words) {
    return only(at(verbose_facts("01:00.0 PCI bridge: X\n\tCapabilities: [5c] Express " + words + "\n"),
                   "0000:01:00.0")
                    .port);
  };
  EXPECT_EQ(port("(v2) Root Port (Slot+), MSI 00"), PciePort::root_port);
  EXPECT_EQ(port("(v2) Upstream Port, IntMsgNum 0"), PciePort::upstream_port);
  EXPECT_EQ(port("(v1) Downstream Port (Slot-), MSI 00"), PciePort::downstream_port);
  EXPECT_EQ(port("(v2) Legacy Endpoint, MSI 00"), PciePort::endpoint);
  EXPECT_EQ(port("(v2) Root Complex Integrated Endpoint, MSI 00"), PciePort::integrated_endpoint);
  EXPECT_EQ(port("(v1) PCI-Express to PCI/PCI-X Bridge, MSI 00"), PciePort::other);
}

}  // namespace
}  // namespace lanecast
