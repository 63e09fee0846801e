#include <gtest/gtest.h>

#include <algorithm>

#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nccl_topology(text, "topo.xml", facts);
  return facts;
}

std::string system(const std::string& body) { return "<system version=\"1\">\n" + body + "</system>\n"; }

/// Two GPUs below a switch of node 0, a third and an adapter on node 1.
const std::string small_box = system(R"(
  <cpu numaid="0" affinity="00000000,0000ffff" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="17">
    <pci busid="0000:40:00.0" class="0x060400" vendor="0x1000" device="0xc010" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:42:00.0" class="0x030200" vendor="0x10de" device="0x2235" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="86" rank="0" gdr="1"><nvlink target="0000:43:00.0" count="4" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:43:00.0" class="0x030200" vendor="0x10de" device="0x2235" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0x1" sm="86" rank="1" gdr="1"><nvlink target="0000:42:00.0" count="4" tclass="0x030200"/></gpu>
      </pci>
    </pci>
    <nic><net name="lo9" dev="1" speed="10000"/></nic>
  </cpu>
  <cpu numaid="1" affinity="ffff0000,00000000" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="17">
    <pci busid="0000:C1:00.0" class="0x03" link_speed="8 GT/s" link_width="0"><gpu dev="2" sm="86"/></pci>
    <pci busid="0000:c2:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_3" dev="0" speed="200000" port="1"/><net name="mlx5_3" dev="1" speed="200000" port="2"/></nic>
    </pci>
  </cpu>
)");

TEST(NcclTopology, NestingIsTheTree) {
  const MachineFacts facts = facts_of(small_box);
  ASSERT_EQ(facts.devices.size(), 5u);
  EXPECT_EQ(only(facts.devices.at("0000:42:00.0").ancestor), "0000:40:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").ancestor), "0000:40:00.0");
  EXPECT_TRUE(facts.devices.at("0000:40:00.0").ancestor.empty()) << "the root port above is not in the file";
  EXPECT_TRUE(facts.devices.at("0000:c1:00.0").ancestor.empty());
  EXPECT_TRUE(facts.devices.at("0000:42:00.0").parent.empty())
      << "NCCL leaves out the switch's downstream port";
}

TEST(NcclTopology, TheEnclosingCpuIsTheNumaNode) {
  const MachineFacts facts = facts_of(small_box);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").numa), 0);
  EXPECT_EQ(only(facts.devices.at("0000:c1:00.0").numa), 1);
  EXPECT_EQ(only(facts.cpus.at(0).cores), "0-15");
  EXPECT_EQ(only(facts.cpus.at(1).cores), "48-63") << "the first group of a mask is the highest";
  EXPECT_EQ(only(facts.cpus.at(1).vendor), "amd");
  EXPECT_EQ(only(facts.cpus.at(1).model), "AMD EPYC 9004 (Genoa)") << "family 0x19 = 15 + 10, model 0x11";
}

TEST(NcclTopology, LinksAreWhatTheyCouldDo) {
  const MachineFacts facts = facts_of(small_box);
  const PciFacts& narrow = facts.devices.at("0000:43:00.0");
  EXPECT_EQ(only(narrow.link_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(narrow.link_max_width), 8);
  EXPECT_TRUE(narrow.rate.empty());
  EXPECT_EQ(narrow.link_max_width.all().front().from, "topo.xml:8 (link_width)");
  EXPECT_EQ(only(facts.devices.at("0000:c1:00.0").link_max_rate), PcieRate::gen3)
      << "older kernels write 8 GT/s";
  EXPECT_TRUE(facts.devices.at("0000:c1:00.0").link_max_width.empty()) << "0 is unknown";
}

TEST(NcclTopology, GpusHaveNumberCapabilityAndModel) {
  const MachineFacts facts = facts_of(small_box);
  const PciFacts& gpu = facts.devices.at("0000:43:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 1) << "dev may be hexadecimal";
  EXPECT_EQ(only(gpu.sm), 86);
  EXPECT_EQ(only(gpu.gpu_model), "NVIDIA A40");
  EXPECT_EQ(only(gpu.class_code), 0x030200u);
  EXPECT_EQ(only(facts.devices.at("0000:c1:00.0").class_code), 0x030000u) << "0x03 is the upper byte";
}

TEST(NcclTopology, NvlinksAreStatedByEachEnd) {
  const MachineFacts facts = facts_of(small_box);
  ASSERT_EQ(facts.nvlinks.size(), 2u);
  EXPECT_EQ(facts.nvlinks[0].from, "0000:42:00.0");
  EXPECT_EQ(facts.nvlinks[0].to, "0000:43:00.0");
  EXPECT_EQ(facts.nvlinks[1].from, "0000:43:00.0");
  EXPECT_EQ(facts.nvlinks[1].count, 4);
}

TEST(NcclTopology, PortsOfOneAdapterAreOneAdapter) {
  const MachineFacts facts = facts_of(small_box);
  EXPECT_EQ(only(facts.devices.at("0000:c2:00.0").nic_name), "mlx5_3");
  EXPECT_EQ(only(facts.devices.at("0000:c2:00.0").nic_rate), BytesPerSecond(50e9)) << "two ports of 200 Gb/s";
  EXPECT_TRUE(noted(facts, "network without a PCI place, no adapter (virtual or not visible): lo9"));
}

std::string one_gpu(const std::string& links) {
  return system("<cpu numaid=\"0\"><pci busid=\"0000:0a:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"90\">" +
                links + "</gpu></pci></cpu>");
}

TEST(NcclTopology, LinksToAllNvswitchesAreOneEntry) {
  const MachineFacts facts = facts_of(one_gpu(R"(<nvlink target="0000:d2:00.0" count="2" tclass="0x068000"/>
      <nvlink target="0000:d3:00.0" count="3" tclass="0x068000"/>)"));
  ASSERT_EQ(facts.nvlinks.size(), 1u);
  EXPECT_EQ(facts.nvlinks[0].to, "");
  EXPECT_EQ(facts.nvlinks[0].count, 5);
  for (const char* hidden : {"fffffff:ff:ff.0", "fffffff:ffff:ff"}) {
    const MachineFacts guest =
        facts_of(one_gpu(std::string("<nvlink target=\"") + hidden + "\" count=\"18\"/>"));
    ASSERT_EQ(guest.nvlinks.size(), 1u) << hidden;
    EXPECT_EQ(guest.nvlinks[0].to, "");
    EXPECT_EQ(guest.nvlinks[0].count, 18);
  }
}

TEST(NcclTopology, AnAddressOfZerosAndOneFIsAGpu) {
  const MachineFacts facts =
      facts_of(one_gpu(R"(<nvlink target="0000:0f:00.0" count="4" tclass="0x030200"/>)"));
  ASSERT_EQ(facts.nvlinks.size(), 1u);
  EXPECT_EQ(facts.nvlinks[0].to, "0000:0f:00.0");
}

TEST(NcclTopology, NvlinksThatLeadNowhereAreNoted) {
  const auto links_and_note = [](const std::string& link, const std::string& words) {
    const MachineFacts facts = facts_of(one_gpu(link));
    EXPECT_TRUE(noted(facts, words)) << link;
    return facts.nvlinks.size();
  };
  EXPECT_EQ(links_and_note(R"(<nvlink target="0000:0a:00.0" count="12" tclass="0x030200"/>)",
                           "lead back to itself"),
            0u);
  EXPECT_EQ(
      links_and_note(R"(<nvlink target="0000:00:01.0" count="3" tclass="0x068001"/>)", "NVLink to the CPU"),
      0u);
  EXPECT_EQ(links_and_note(R"(<nvlink target="over there" count="3"/>)", "`over there` is no PCI address"),
            0u);
  EXPECT_EQ(links_and_note(R"(<nvlink target="0000:0b:00.0" tclass="0x030200"/>)", "no usable count"), 0u);
  EXPECT_EQ(links_and_note(R"(<nvlink target="0000:0b:00.0" count="-1"/>)", "no usable count (`-1`)"), 0u);
  EXPECT_EQ(links_and_note(R"(<c2c bw="44712" count="10"/>)", "C2C"), 0u);
}

TEST(NcclTopology, RcclsFilesNameTheirOwnLinksAndGpus) {
  const MachineFacts facts = facts_of(R"(<system version="2"><cpu numaid="0">
    <pci busid="0000:11:00.0" class="0x038000" vendor="0x1002" device="0x74a1">
      <gpu dev="0" sm="104" gcn="942" arch="38911" rank="0"><xgmi target="0000:12:00.0" count="1" tclass="0x038000"/></gpu>
    </pci>
    <pci busid="0000:12:00.0" class="0x038000"><gpu dev="1" sm="64" gcn="906" arch="38911"/></pci>
  </cpu></system>)");
  EXPECT_TRUE(facts.notes.empty());
  ASSERT_EQ(facts.nvlinks.size(), 1u);
  EXPECT_EQ(facts.nvlinks[0].to, "0000:12:00.0");
  EXPECT_EQ(only(facts.devices.at("0000:11:00.0").gpu_model), "AMD Instinct MI300X");
  EXPECT_EQ(only(facts.devices.at("0000:12:00.0").gpu_model), "AMD Instinct MI60 / MI50");
  EXPECT_TRUE(facts.devices.at("0000:11:00.0").sm.empty()) << "RCCL counts compute units there";
}

TEST(NcclTopology, WithoutNumaNumbersMakerAndModelStillHold) {
  const MachineFacts facts = facts_of(system(R"(
    <cpu host_hash="0x1" numaid="-1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="207">
      <pci busid="0000:00:06.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="0"/></cpu>)"));
  EXPECT_TRUE(facts.devices.at("0000:00:06.0").numa.empty());
  EXPECT_EQ(only(facts.cpus.at(0).vendor), "intel");
  EXPECT_EQ(only(facts.cpus.at(0).model), "Intel Xeon 8500 series (Emerald Rapids)");
}

TEST(NcclTopology, OtherArchitecturesAreTheirMakers) {
  EXPECT_EQ(only(facts_of(system(R"(<cpu numaid="0" arch="arm64"/>)")).cpus.at(0).vendor), "arm");
  EXPECT_EQ(only(facts_of(system(R"(<cpu numaid="0" arch="ppc64"/>)")).cpus.at(0).vendor), "ibm");
  EXPECT_TRUE(facts_of(system(R"(<cpu numaid="0"/>)")).cpus.at(0).vendor.empty());
}

TEST(NcclTopology, BareFunctionsAreNamedSinceNothingTellsWhatTheyAre) {
  const MachineFacts facts = facts_of(system(R"(<cpu numaid="1"><pci busid="0000:00:1b.0"/></cpu>)"));
  EXPECT_EQ(only(facts.devices.at("0000:00:1b.0").numa), 1);
  EXPECT_TRUE(facts.devices.at("0000:00:1b.0").class_code.empty());
  EXPECT_TRUE(
      noted(facts, "PCI functions without a class, GPUs or network adapters by place only: 0000:00:1b.0"));
}

TEST(NcclTopology, OfSeveralComputersOnlyTheFirstIsTaken) {
  const MachineFacts facts = facts_of(system(R"(
    <cpu host_hash="0xa" numaid="0"><pci busid="0000:01:00.0" class="0x030200"/></cpu>
    <cpu host_hash="0xb" numaid="0"><pci busid="0000:02:00.0" class="0x030200"/></cpu>)"));
  EXPECT_EQ(facts.devices.size(), 1u);
  EXPECT_TRUE(noted(facts, "another computer (host_hash `0xb`)"));
}

TEST(NcclTopology, OddValuesAreLeftOutOneByOne) {
  const MachineFacts facts = facts_of(system(R"(
    <cpu numaid="0" affinity="xyz"><pci busid="nowhere" class="0x060400">
      <pci busid="0000:03:00.0" class="what" vendor="0xffff" device="0xffff" link_speed="Unknown" link_width="63">
        <gpu dev="seven" sm="many"/></pci></pci></cpu>)"));
  ASSERT_EQ(facts.devices.size(), 1u);
  const PciFacts& device = facts.devices.at("0000:03:00.0");
  EXPECT_TRUE(device.class_code.empty() && device.vendor.empty() && device.link_max_rate.empty() &&
              device.link_max_width.empty());
  EXPECT_TRUE(device.gpu_index.empty() && device.sm.empty());
  EXPECT_EQ(only(device.numa), 0);
  EXPECT_TRUE(noted(facts, "no usable busid (`nowhere`)"));
  EXPECT_TRUE(noted(facts, "affinity mask `xyz` is not readable"));
}

TEST(NcclTopology, FusedNetworksCountOnlyAlone) {
  const auto adapter = [](const std::string& nets) {
    return facts_of(system("<cpu numaid=\"0\"><pci busid=\"0000:05:00.0\" class=\"0x020000\"><nic>" + nets +
                           "</nic></pci></cpu>"))
        .devices.at("0000:05:00.0");
  };
  const std::string fused = R"(<net name="mlx5_0+mlx5_1" speed="800000"/>)";
  EXPECT_EQ(only(adapter(fused).nic_name), "mlx5_0+mlx5_1");
  EXPECT_EQ(only(adapter(fused + R"(<net name="mlx5_0" speed="400000" net="0"/>)").nic_name), "mlx5_0");
  EXPECT_TRUE(adapter(R"(<net name="eth7" speed="-1"/>)").nic_rate.empty());
}

TEST(NcclTopology, DeepNestingEndsSomewhere) {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\">";
  for (int i = 0; i < 20000; ++i) text += "<pci busid=\"0000:01:00.0\">";
  EXPECT_TRUE(noted(facts_of(text), "bridges deep"));
}

TEST(NcclTopology, OtherXmlIsRefusedByName) {
  EXPECT_NE(refusal([] { facts_of("<topology version=\"2.0\"/>"); }).find("<topology>"), std::string::npos);
  EXPECT_NE(refusal([] { facts_of("no XML"); }), "");
}

TEST(NcclTopology, CutAnywhereItStatesNothingFalse) {
  const MachineFacts whole = facts_of(small_box);
  for (std::size_t length = 0; length < small_box.size(); ++length) {
    MachineFacts part;
    if (!refusal([&] { read_nccl_topology(small_box.substr(0, length), "topo.xml", part); }).empty())
      continue;
    for (const auto& [address, device] : part.devices) {
      ASSERT_EQ(whole.devices.count(address), 1u) << length;
      const PciFacts& full = whole.devices.at(address);
      EXPECT_TRUE(within(device.class_code, full.class_code) &&
                  within(device.link_max_rate, full.link_max_rate) &&
                  within(device.link_max_width, full.link_max_width) &&
                  within(device.ancestor, full.ancestor) && within(device.numa, full.numa) &&
                  within(device.gpu_index, full.gpu_index) && within(device.sm, full.sm) &&
                  within(device.gpu_model, full.gpu_model) && within(device.nic_name, full.nic_name))
          << length << " " << address;
    }
    for (const auto& [numa, cpu] : part.cpus) {
      ASSERT_EQ(whole.cpus.count(numa), 1u) << length;
      EXPECT_TRUE(within(cpu.cores, whole.cpus.at(numa).cores) &&
                  within(cpu.model, whole.cpus.at(numa).model));
    }
    for (const NvlinkFacts& link : part.nvlinks) {
      EXPECT_TRUE(std::any_of(whole.nvlinks.begin(), whole.nvlinks.end(), [&](const NvlinkFacts& other) {
        return link.from == other.from && link.to == other.to && link.count == other.count;
      })) << length;
    }
    const bool whole_text = length + 1 == small_box.size();  // without its last line end
    EXPECT_EQ(noted(part, "what stands before it was taken"), !whole_text) << length;
  }
}

}  // namespace
}  // namespace lanecast
