#include "configs/machine_reader.hpp"

#include <gtest/gtest.h>

#include "configs/explain.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const char* const whole_file = R"(lanecast: 1
machine: box
description: "a box"
source: here
profile: generic
cpus:
  - {name: cpu0, vendor: intel, model: "Xeon", socket: 0, memory_rate: 100 GB/s, source: "lab"}
  - {name: cpu1, socket: 1}
roots:
  - {name: root0, cpu: cpu0, p2p_rate: 25 GB/s, p2p_port_rate: 12 GB/s, latency: 275 ns}
  - {name: root1, cpu: cpu1}
switches:
  - {name: sw0, model: "PLX PEX8747", acs: on, latency: 150 ns}
gpus:
  - {name: gpu0, model: "Tesla V100-PCIE-16GB", sm: 70, present: true, p2p: true, l2: 6 MiB, bdf: "0000:02:00.0"}
  - {name: gpu1, present: false, p2p: off}
nvswitches: [{name: nvsw0}]
nics: [{name: nic0, rate: 200 Gbit/s}]
links:
  - {name: uplink0, from: root0, to: sw0, rate: gen3, width: x8, max_rate: gen4, max_width: x16, mps: 128 B,
     mrrs: 4 KiB, replay_rate: 1e-4, aspm: L1, latency: 20 ns, source: "lspci"}
  - {name: gpu0, from: sw0, to: gpu0, rate: gen3, width: x16}
  - {name: gpu1, from: root1, to: gpus.gpu1, rate: gen5, width: x4}
  - {name: nic0, from: sw0, to: nic0, rate: gen3, width: x16}
  - {name: nv0, kind: nvlink, from: gpu0, to: nvsw0, count: 6, rate: 25 GB/s}
  - {name: upi0, kind: socket, from: cpu0, to: cpu1, rate: 20 GB/s, latency: 150 ns}
p2p: {enabled: true, level: PXB, iommu: off}
assumptions:
  - "slot wiring is not stated"
)";

TEST(MachineReader, ReadsEveryNode) {
  const Machine machine = read_machine_text(whole_file, "box.yaml");
  EXPECT_EQ(machine.name, "box");
  EXPECT_EQ(machine.description, "a box");
  EXPECT_EQ(machine.source, "here");
  EXPECT_EQ(machine.profile, "generic");
  ASSERT_EQ(machine.cpus.size(), 2U);
  EXPECT_EQ(machine.cpus[0].vendor, "intel");
  EXPECT_EQ(machine.cpus[0].model, "Xeon");
  EXPECT_EQ(machine.cpus[1].socket, 1);
  EXPECT_EQ(machine.cpus[0].memory_rate, BytesPerSecond(100e9));
  EXPECT_EQ(machine.cpus[0].source, "lab");
  ASSERT_EQ(machine.roots.size(), 2U);
  EXPECT_EQ(machine.roots[1].cpu, 1);
  EXPECT_EQ(machine.roots[0].p2p_rate, BytesPerSecond(25e9));
  EXPECT_EQ(machine.roots[0].p2p_port_rate, BytesPerSecond(12e9));
  EXPECT_EQ(machine.roots[0].latency, Seconds(275e-9));
  EXPECT_EQ(machine.roots[1].latency, std::nullopt);
  EXPECT_EQ(machine.switches.at(0).model, "PLX PEX8747");
  EXPECT_TRUE(machine.switches.at(0).acs);
  EXPECT_EQ(machine.switches.at(0).latency, Seconds(150e-9));
  EXPECT_EQ(machine.gpus.at(0).model, "Tesla V100-PCIE-16GB");
  EXPECT_EQ(machine.gpus.at(0).sm, 70);
  EXPECT_EQ(machine.gpus.at(0).p2p, true);
  EXPECT_EQ(machine.gpus.at(0).l2, Bytes(6U << 20));
  EXPECT_EQ(machine.gpus.at(0).bdf, "0000:02:00.0");
  EXPECT_FALSE(machine.gpus.at(1).present);
  EXPECT_EQ(machine.gpus.at(1).p2p, false);
  EXPECT_EQ(machine.nvswitches.at(0).name, "nvsw0");
  EXPECT_EQ(machine.nics.at(0).rate, BytesPerSecond(25e9));
  EXPECT_EQ(machine.assumptions, std::vector<std::string>{"slot wiring is not stated"});
}

TEST(MachineReader, ReadsEveryKindOfLink) {
  const Machine machine = read_machine_text(whole_file, "box.yaml");
  ASSERT_EQ(machine.links.size(), 6U);
  const Link& uplink = machine.links[0];
  EXPECT_EQ(uplink.from, (NodeId{NodeKind::root, 0}));
  EXPECT_EQ(uplink.to, (NodeId{NodeKind::pcie_switch, 0}));
  EXPECT_EQ(uplink.rate, PcieRate::gen3);
  EXPECT_EQ(uplink.width, 8);
  EXPECT_EQ(uplink.max_rate, PcieRate::gen4);
  EXPECT_EQ(uplink.max_width, 16);
  EXPECT_EQ(uplink.mps, Bytes(128));
  EXPECT_EQ(uplink.mrrs, Bytes(4096));
  EXPECT_EQ(uplink.replay_rate, 1e-4);
  EXPECT_EQ(uplink.aspm, Aspm::l1);
  EXPECT_EQ(uplink.latency, Seconds(20e-9));
  EXPECT_EQ(uplink.source, "lspci");
  EXPECT_EQ(machine.links[2].to, (NodeId{NodeKind::gpu, 1}));
  EXPECT_EQ(machine.links[4].kind, LinkKind::nvlink);
  EXPECT_EQ(machine.links[4].count, 6);
  EXPECT_EQ(machine.links[4].lane_rate, BytesPerSecond(25e9));
  EXPECT_EQ(machine.links[5].kind, LinkKind::socket);
  EXPECT_EQ(machine.links[5].to, (NodeId{NodeKind::cpu, 1}));
  EXPECT_EQ(machine.p2p.level, Distance::pxb);
  EXPECT_FALSE(machine.p2p.iommu);
}

TEST(MachineReader, CapabilityIsStatusWhereTheFileDoesNotSayIt) {
  const Machine machine = read_machine_text(whole_file, "box.yaml");
  EXPECT_EQ(machine.links[2].max_rate, PcieRate::gen5);
  EXPECT_EQ(machine.links[2].max_width, 4);
}

TEST(MachineReader, DefaultsAreThoseOfTheStructs) {
  const Machine machine = read_machine_text(whole_file, "box.yaml");
  const Link plain;
  EXPECT_EQ(machine.links[1].mps, plain.mps);
  EXPECT_EQ(machine.links[1].mrrs, plain.mrrs);
  EXPECT_EQ(machine.links[1].aspm, plain.aspm);
  EXPECT_EQ(machine.links[1].latency, std::nullopt);
  EXPECT_EQ(machine.cpus[1].memory_rate, Cpu{}.memory_rate);
}

TEST(MachineReader, SectionsMayStandInAnyOrder) {
  const Machine machine = read_machine_text(
      "links: [{name: l, from: r, to: g, rate: gen3, width: x16}]\ngpus: [{name: g}]\nroots: [{name: r, cpu: "
      "c}]\n"
      "cpus: [{name: c}]\nmachine: m\nlanecast: 1\n",
      "box.yaml");
  EXPECT_EQ(machine.links.at(0).to, (NodeId{NodeKind::gpu, 0}));
}

TEST(MachineReader, ANameOfTwoKindsIsToldApartByItsSection) {
  const std::string head =
      "lanecast: 1\nmachine: m\ncpus: [{name: a}]\nroots: [{name: a, cpu: a}]\ngpus: [{name: a}]\nlinks:\n";
  const Machine machine = read_machine_text(
      head + "  - {name: a, from: roots.a, to: gpus.a, rate: gen3, width: x16}\n", "box.yaml");
  EXPECT_EQ(machine.links.at(0).from, (NodeId{NodeKind::root, 0}));
  EXPECT_EQ(refusal_of_text(head + "  - {name: a, from: roots.a, to: a, rate: gen3, width: x16}\n"),
            "`to` is `a`: both a cpu and a root have this name\n  at box.yaml:7:34 (links[0].to)\n"
            "  mend: write `cpus.a` or `roots.a`");
}

TEST(Explain, SaysWhereEachValueComesFrom) {
  const std::vector<Explanation> rows = explain(read_machine_document_text(whole_file, "box.yaml"));
  const auto row = [&](const std::string& path) {
    for (const Explanation& each : rows) {
      if (each.path == path) return each.value + " from " + each.origin;
    }
    return std::string("no row");
  };
  EXPECT_EQ(row("machine"), "box from box.yaml:2:10");
  EXPECT_EQ(row("links.uplink0.width"), "x8 from box.yaml:20:62");
  EXPECT_EQ(row("links.gpu0.mps"), "256 B from default");
  EXPECT_EQ(row("links.gpu0.max_width"), "x16 from default");
  EXPECT_EQ(row("links.nv0.rate"), "25 GB/s from box.yaml:25:70");
  EXPECT_EQ(row("links.nv0.width"), "no row");
  EXPECT_EQ(row("gpus.gpu1.l2"), "unknown: no gain from it from default");
  EXPECT_EQ(row("p2p.level"), "PXB from box.yaml:27:29");
}

}  // namespace
}  // namespace lanecast
