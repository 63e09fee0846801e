#include "reports/nccl_topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "configs/dumps/import.hpp"
#include "configs/dumps/readers.hpp"
#include "model/topology/routes.hpp"
#include "tests/configs/refusal.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/plausible_machine.hpp"

namespace lanecast {
namespace {

using support::add_cpu;
using support::add_gpu;
using support::add_nvlink;
using support::add_root;
using support::add_switch;
using support::plausible_machine;

/// One GPU at x8 of x16 below a switch, one on the root, an adapter; on an Intel CPU that its model gives
/// away.
Machine small_box() {
  Machine machine;
  const NodeId cpu = add_cpu(machine, "intel");
  machine.cpus[0].model = "Intel(R) Xeon(R) Platinum 8480C";
  machine.cpus[0].cores = "0-3,32-35";
  const NodeId root = add_root(machine, cpu);
  const NodeId chip = add_switch(machine, root);
  machine.switches[0].bdf = "0000:40:00.0";
  add_gpu(machine, chip);
  add_gpu(machine, root);
  machine.gpus[0].bdf = "0000:43:00.0";
  machine.gpus[1].bdf = "0000:03:00.0";
  for (Gpu& gpu : machine.gpus) gpu.model = "NVIDIA A100 80GB PCIe";
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 4);
  support::link_named(machine, "gpu0").width = 8;
  machine.nics.push_back({"mlx5_0", BytesPerSecond(25e9), "", "", "0000:41:00.0"});
  Link port;
  port.name = "nic0";
  port.from = root;
  port.to = {NodeKind::nic, 0};
  port.rate = PcieRate::gen3;
  machine.links.push_back(port);
  return machine;
}

TEST(NcclTopologyFile, HasTheFormThatNcclReads) {
  const NcclTopologyFile file = nccl_topology_xml(small_box());
  EXPECT_EQ(file.xml, R"(<system version="1">
  <cpu numaid="0" affinity="0000000f,0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:03:00.0" class="0x030200" vendor="0x10de" device="0x20b5" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="80" rank="1">
        <nvlink target="0000:43:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:40:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:43:00.0" class="0x030200" vendor="0x10de" device="0x20b5" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0" sm="80" rank="0">
          <nvlink target="0000:03:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
    </pci>
    <pci busid="0000:41:00.0" class="0x020000" link_speed="8.0 GT/s PCIe" link_width="16">
      <nic>
        <net name="mlx5_0" dev="0" speed="200000"/>
      </nic>
    </pci>
  </cpu>
</system>
)");
  EXPECT_TRUE(file.warnings.empty());
}

TEST(NcclTopologyFile, NamesThatNcclsParserWouldBreakOnAreTamed) {
  Machine machine = small_box();
  machine.nics[0].name = "a\"b<c>&d />\n" + std::string(300, 'x');
  const std::string xml = nccl_topology_xml(machine).xml;
  EXPECT_NE(xml.find("<net name=\"a_b_c__d ___x"), std::string::npos) << xml;
  for (std::size_t at = 0, line = 0; at < xml.size(); at = line + 1) {
    line = xml.find('\n', at);
    EXPECT_LT(line - at, 400u);
  }
  EXPECT_EQ(xml.find('&'), std::string::npos) << "NCCL knows no entities";
  EXPECT_EQ(xml.find(" />"), std::string::npos) << "NCCL takes what follows a blank for an attribute";
}

TEST(NcclTopologyFile, GpusThatAreGoneAreLeftOut) {
  Machine machine = small_box();
  machine.gpus[0].present = false;
  const std::string xml = nccl_topology_xml(machine).xml;
  EXPECT_EQ(xml.find("0000:43:00.0"), std::string::npos) << "neither the card nor links to it";
  EXPECT_NE(xml.find("<gpu dev=\"0\" sm=\"80\" rank=\"0\"/>"), std::string::npos)
      << "the others are numbered anew";
}

TEST(NcclTopologyFile, WithoutAddressesTheyAreInventedWithAWarning) {
  Machine machine = support::two_switches(2);
  machine.gpus[0].bdf = "0000:07:00.0";
  const NcclTopologyFile file = nccl_topology_xml(machine);
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_NE(file.warnings[0].find("will not find `gpu1`, `gpu2`, `gpu3`"), std::string::npos)
      << file.warnings[0];
  EXPECT_NE(file.xml.find("<pci busid=\"ffff:ff:01.0\" class=\"0x060400\""), std::string::npos);
  machine.gpus[1].bdf = "0000:07:00.0";  // twice the same: only one can be it
  machine.gpus[2].bdf = "ffff:ff:01.0";
  const std::string xml = nccl_topology_xml(machine).xml;
  MachineFacts facts;
  read_nccl_topology(xml, "topo.xml", facts);
  EXPECT_EQ(facts.devices.size(), 6u) << xml;
}

TEST(NcclTopologyFile, CpusThatNothingGivesAwayAreLeftToNccl) {
  Machine machine = small_box();
  machine.cpus[0].vendor = "unknown";
  machine.cpus[0].model = "";
  machine.cpus[0].cores = "all of them";
  EXPECT_NE(nccl_topology_xml(machine).xml.find("<cpu numaid=\"0\">"), std::string::npos);
  machine.cpus[0].vendor = "arm";
  EXPECT_NE(nccl_topology_xml(machine).xml.find("<cpu numaid=\"0\" arch=\"arm64\">"), std::string::npos);
}

TEST(NcclTopologyFile, TooManyElementsAreRefused) {
  EXPECT_NE(refusal([] { nccl_topology_xml(support::one_root(200)); }).find("NCCL reads 255 at most"),
            std::string::npos);
  EXPECT_EQ(refusal([] { nccl_topology_xml(support::one_root(126)); }), "") << "1 + 1 + 2 x 126";
  EXPECT_NE(refusal([] { nccl_topology_xml(support::one_root(1000)); }), "")
      << "more than addresses on one bus";
}

TEST(NcclTopologyFile, AmdsGpusGetRcclsForm) {
  Machine machine = small_box();
  for (Gpu& gpu : machine.gpus) gpu.model = "AMD Instinct MI210", gpu.sm = 0;
  const std::string xml = nccl_topology_xml(machine).xml;
  EXPECT_NE(xml.find("<system version=\"2\">"), std::string::npos);
  EXPECT_NE(xml.find("class=\"0x038000\" vendor=\"0x1002\" device=\"0x740f\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<xgmi target=\"0000:43:00.0\" count=\"4\" tclass=\"0x038000\"/>"), std::string::npos);
}

template <class T>
std::optional<T> only(const Statements<T>& statements) {
  return statements.all().size() == 1 ? std::optional(statements.all().front().value) : std::nullopt;
}

const std::string& address_of(const Machine& machine, NodeId id) {
  const auto at = static_cast<std::size_t>(id.index);
  if (id.kind == NodeKind::gpu) return machine.gpus[at].bdf;
  return id.kind == NodeKind::nic ? machine.nics[at].bdf : machine.switches[at].bdf;
}

using NvlinkEnds = std::multiset<std::string>;

/// What each GPU that is present states of its NVLinks.
NvlinkEnds nvlink_ends(const Machine& machine) {
  NvlinkEnds ends;
  for (const Link& link : machine.links) {
    if (link.kind != LinkKind::nvlink) continue;
    const auto name = [&](NodeId id) {
      return id.kind == NodeKind::gpu ? address_of(machine, id) : std::string();
    };
    const auto gone = [&](NodeId id) {
      return id.kind == NodeKind::gpu && !machine.gpus[static_cast<std::size_t>(id.index)].present;
    };
    if (gone(link.from) || gone(link.to)) continue;
    for (const auto& [from, to] : {std::pair(link.from, link.to), std::pair(link.to, link.from)}) {
      if (from.kind == NodeKind::gpu)
        ends.insert(name(from) + ">" + name(to) + " " + std::to_string(link.count));
    }
  }
  return ends;
}

TEST(NcclTopologyFile, ReadBackItStatesExactlyTheTree) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Machine machine = plausible_machine(seed, {.degraded = true});
    ASSERT_TRUE(check_machine(machine).empty());
    const NcclTopologyFile file = nccl_topology_xml(machine);
    EXPECT_TRUE(file.warnings.empty());
    MachineFacts facts;
    read_nccl_topology(file.xml, "topo.xml", facts);
    EXPECT_TRUE(facts.notes.empty());
    EXPECT_EQ(facts.cpus.size(), machine.cpus.size());
    for (const Cpu& cpu : machine.cpus) {
      EXPECT_EQ(only(facts.cpus.at(*cpu.numa).cores), cpu.cores);
      EXPECT_EQ(only(facts.cpus.at(*cpu.numa).vendor), cpu.vendor);
      EXPECT_EQ(only(facts.cpus.at(*cpu.numa).model), cpu.model);
    }
    std::size_t devices = 0;
    for (const Link& link : machine.links) {
      const bool gone =
          link.to.kind == NodeKind::gpu && !machine.gpus[static_cast<std::size_t>(link.to.index)].present;
      if (link.kind != LinkKind::pcie || gone) continue;
      ++devices;
      const std::string& address = address_of(machine, link.to);
      ASSERT_EQ(facts.devices.count(address), 1u) << address;
      const PciFacts& device = facts.devices.at(address);
      const bool below_switch = link.from.kind == NodeKind::pcie_switch;
      EXPECT_EQ(only(device.ancestor),
                below_switch ? std::optional(address_of(machine, link.from)) : std::nullopt);
      EXPECT_EQ(only(device.link_max_rate), link.rate) << "the status, so that NCCL sees a slow link";
      EXPECT_EQ(only(device.link_max_width), link.width);
      EXPECT_EQ(only(device.numa), machine.cpus[static_cast<std::size_t>(*cpu_of(machine, link.to))].numa);
    }
    EXPECT_EQ(facts.devices.size(), devices);
    for (std::size_t i = 0; i < machine.nics.size(); ++i) {
      EXPECT_EQ(only(facts.devices.at(machine.nics[i].bdf).nic_name), machine.nics[i].name);
      EXPECT_EQ(only(facts.devices.at(machine.nics[i].bdf).nic_rate), machine.nics[i].rate);
    }
    int index = 0;
    for (const Gpu& gpu : machine.gpus) {
      if (!gpu.present) continue;
      EXPECT_EQ(only(facts.devices.at(gpu.bdf).gpu_index), index++);
      EXPECT_EQ(only(facts.devices.at(gpu.bdf).gpu_model), gpu.model);
      EXPECT_EQ(only(facts.devices.at(gpu.bdf).sm), gpu.sm);
    }
    NvlinkEnds nvlinks;
    for (const NvlinkFacts& link : facts.nvlinks)
      nvlinks.insert(link.from + ">" + link.to + " " + std::to_string(link.count));
    EXPECT_EQ(nvlinks, nvlink_ends(machine));
  }
}

/// What the file can say of a machine, a line each: what it leaves out is not here.
std::multiset<std::string> tree_of(const Machine& machine) {
  std::multiset<std::string> lines;
  for (const Cpu& cpu : machine.cpus)
    lines.insert("cpu " + std::to_string(cpu.numa.value_or(-1)) + " " + cpu.vendor + " " + cpu.model + " " +
                 cpu.cores);
  for (const Gpu& gpu : machine.gpus)
    lines.insert(gpu.name + " " + gpu.bdf + " " + gpu.model + " " + std::to_string(gpu.sm));
  for (const PcieSwitch& chip : machine.switches) lines.insert("switch " + chip.bdf);
  for (const Nic& nic : machine.nics)
    lines.insert(nic.name + " " + nic.bdf + " " + std::to_string(nic.rate.value()));
  for (const Link& link : machine.links) {
    if (link.kind == LinkKind::socket) continue;
    const auto end = [&](NodeId id) {
      if (id.kind == NodeKind::root)
        return "numa " +
               std::to_string(
                   *machine
                        .cpus[static_cast<std::size_t>(machine.roots[static_cast<std::size_t>(id.index)].cpu)]
                        .numa);
      return id.kind == NodeKind::nvswitch ? std::string("nvswitch") : address_of(machine, id);
    };
    if (link.kind == LinkKind::nvlink) {
      lines.insert("nvlink " + std::min(end(link.from), end(link.to)) + " " +
                   std::max(end(link.from), end(link.to)) + " x" + std::to_string(link.count));
    } else {
      lines.insert(end(link.from) + " - " + end(link.to) + " " + to_string(link.rate) + " x" +
                   std::to_string(link.width) + " of " + to_string(link.max_rate) + " x" +
                   std::to_string(link.max_width));
    }
  }
  return lines;
}

/// The lines that only one of the two has: gtest itself cuts long sets.
std::string difference_of(const std::multiset<std::string>& a, const std::multiset<std::string>& b) {
  std::vector<std::string> lines;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(lines));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(NcclTopologyFile, ImportAfterExportIsIdentityAsFarAsTheFormatGoes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Machine machine = plausible_machine(seed);
    const ImportedMachine read =
        import_dumps({{"topo.xml", nccl_topology_xml(machine).xml}}, std::nullopt, "plausible");
    EXPECT_TRUE(check_machine(read.machine).empty());
    EXPECT_TRUE(read.contradictions.empty());
    EXPECT_EQ(difference_of(tree_of(read.machine), tree_of(machine)), "");
    if (HasFailure()) break;
    for (std::size_t a = 0; a < machine.gpus.size(); ++a) {
      for (std::size_t b = 0; b < machine.gpus.size(); ++b) {
        const auto one = static_cast<int>(a);
        const auto other = static_cast<int>(b);
        EXPECT_EQ(distance(read.machine, one, other), distance(machine, one, other));
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
