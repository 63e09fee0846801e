#include <gtest/gtest.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/topology/routes.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

bool says(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

std::string error_of(const MachineFacts& facts) {
  try {
    machine_from_facts(facts, "box");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Everything of a machine with two GPUs below one switch, stated.
FactsBuilder fully_stated() {
  FactsBuilder built;
  PciFacts& root_port = built.root_port("0000:00:01.0");
  PciFacts& upstream = built.upstream_port("0000:01:00.0", "0000:00:01.0");
  PciFacts& first_port = built.downstream_port("0000:02:00.0", "0000:01:00.0");
  PciFacts& second_port = built.downstream_port("0000:02:04.0", "0000:01:00.0");
  PciFacts& first = built.gpu("0000:03:00.0", "0000:02:00.0");
  PciFacts& second = built.gpu("0000:04:00.0", "0000:02:04.0");
  for (PciFacts* end : {&root_port, &upstream, &first_port, &second_port, &first, &second}) {
    end->max_rate.add(PcieRate::gen4, built.place("LnkCap"));
    end->max_width.add(16, built.place("LnkCap"));
    end->rate.add(PcieRate::gen4, built.place("LnkSta"));
    end->width.add(16, built.place("LnkSta"));
    end->max_payload.add(Bytes(256), built.place("DevCtl"));
    end->max_payload_capability.add(Bytes(512), built.place("DevCap"));
    end->max_read_request.add(Bytes(512), built.place("DevCtl"));
    end->aspm.add(Aspm::off, built.place("LnkCtl"));
    end->acs_redirect.add(false, built.place("ACSCtl"));
    end->numa.add(0, built.place("NUMA node"));
  }
  for (PciFacts* gpu : {&first, &second}) {
    gpu->sm.add(80, built.place("nvidia-smi"));
    gpu->l2.add(Bytes(40U << 20U), built.place("CUDA"));
  }
  CpuFacts& cpu = built.facts.cpus[0];
  cpu.vendor.add("amd", built.place());
  cpu.model.add("AMD EPYC 7543 32-Core Processor", built.place());
  cpu.cores.add("0-31", built.place());
  cpu.socket.add(0, built.place());
  built.facts.iommu_translation.add(false, built.place());
  built.facts.virtualized.add(false, built.place());
  return built;
}

TEST(MachineFromFacts, WhatDumpsStateIsNotAssumed) {
  const ImportedMachine imported = fully_stated().machine();
  // No dump states what host memory carries.
  EXPECT_EQ(imported.machine.assumed, (std::vector<std::string>{"cpus.cpu0.memory_rate"}));
  EXPECT_TRUE(imported.unknown.empty()) << imported.unknown.front();
  EXPECT_TRUE(imported.contradictions.empty());
  EXPECT_TRUE(imported.notes.empty()) << imported.notes.front();
  EXPECT_TRUE(imported.machine.assumptions.empty());
}

TEST(MachineFromFacts, NamesFollowTheShippedMachines) {
  const Machine machine = fully_stated().machine().machine;
  EXPECT_EQ(machine.name, "box");
  EXPECT_EQ(machine.roots[0].name, "root0");
  EXPECT_EQ(machine.roots[0].bus, "0000:00");
  EXPECT_EQ(machine.switches[0].name, "sw0");
  EXPECT_EQ(machine.switches[0].bdf, "0000:01:00.0");
  ASSERT_EQ(machine.links.size(), 3U);
  EXPECT_EQ(machine.links[0].name, "uplink0");
  EXPECT_EQ(machine.links[0].port, "0000:00:01.0");
  EXPECT_EQ(machine.links[2].name, "gpu1");
  EXPECT_EQ(machine.links[2].port, "0000:02:04.0");
  EXPECT_EQ(machine.gpus[1].bdf, "0000:04:00.0");
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::pix);
}

TEST(MachineFromFacts, EachValueSaysWhereItComesFrom) {
  FactsBuilder built = fully_stated();
  built.device("0000:03:00.0").slot.add("7", "box.txt:41 (Physical Slot)");
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.origins.at("links.gpu0.slot").from, "box.txt:41 (Physical Slot)");
  EXPECT_FALSE(imported.origins.at("links.gpu0.slot").assumed);
  EXPECT_EQ(imported.origins.at("cpus.cpu0.memory_rate").from,
            "Milan: eight channels of DDR4-3200 at about 70 %");
}

TEST(MachineFromFacts, WithoutAGpuTheErrorSaysWhatWasFoundAndWhatWouldHelp) {
  FactsBuilder built;
  built.root_port("0000:00:01.0");
  built.adapter("0000:01:00.0", "0000:00:01.0");
  const std::string error = error_of(built.facts);
  EXPECT_NE(error.find("no GPU is among what the dumps show"), std::string::npos);
  EXPECT_NE(error.find("2 PCI functions, 1 network adapter, 0 outputs"), std::string::npos);
  EXPECT_NE(error.find("nvidia-smi -q"), std::string::npos);
  EXPECT_NE(error_of({}).find("no GPU"), std::string::npos);
}

TEST(MachineFromFacts, AGoneGpuStaysInTheMachineAndAllGoneIsAnError) {
  FactsBuilder built = fully_stated();
  built.device("0000:04:00.0").present.add(false, "box.txt:9 (rev ff)");
  const Machine machine = built.machine().machine;
  EXPECT_TRUE(machine.gpus[0].present);
  EXPECT_FALSE(machine.gpus[1].present);
  built.device("0000:03:00.0").present.add(false, "box.txt:3 (rev ff)");
  EXPECT_NE(error_of(built.facts).find("all 2 GPUs are gone"), std::string::npos);
}

TEST(MachineFromFacts, AMatrixThatSkipsAGoneGpuNamesTheOthers) {
  FactsBuilder built;
  for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}) built.bare_gpu(address);
  built.device("0000:02:00.0").present.add(false, "box.txt:9 (rev ff)");
  built.matrix({"GPU0", "GPU1"}, {{"X", "PIX"}, {"PIX", "X"}});
  const Machine machine = built.machine().machine;
  ASSERT_EQ(machine.gpus.size(), 3U);
  EXPECT_EQ(machine.gpus[1].bdf, "0000:02:00.0");
  EXPECT_EQ(pcie_distance(machine, 0, 2), Distance::pix);
}

TEST(MachineFromFacts, MatricesAndAddressesMeetInTheOrderOfAddresses) {
  FactsBuilder built;
  built.bare_gpu("0000:c1:00.0", "NVIDIA A40");
  built.bare_gpu("0000:21:00.0", "NVIDIA L40S");
  built.bare_gpu("10000:01:00.0", "NVIDIA L4");
  built.matrix({"GPU0", "GPU1", "GPU2"}, {{"X", "NODE", "SYS"}, {"NODE", "X", "SYS"}, {"SYS", "SYS", "X"}});
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.gpus[0].model, "NVIDIA L40S");
  EXPECT_EQ(machine.gpus[2].model, "NVIDIA L4");
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::node);
}

TEST(MachineFromFacts, NumbersThatDumpsGiveGoBeforeAddresses) {
  FactsBuilder built;
  built.bare_gpu("0000:43:00.0", "first").gpu_index.add(0, "topo.xml:3 (dev)");
  built.bare_gpu("0000:03:00.0", "second").gpu_index.add(1, "topo.xml:9 (dev)");
  EXPECT_EQ(built.machine().machine.gpus[0].model, "first");
  built.bare_gpu("0000:05:00.0", "third");
  EXPECT_EQ(built.machine().machine.gpus[0].model, "second") << "one has no number: by address";
}

TEST(MachineFromFacts, NcclFilesPutAllOfANumaNodeOnOneRoot) {
  FactsBuilder built;
  for (int i = 0; i < 4; ++i) {
    PciFacts& gpu = built.bare_gpu("000" + std::to_string(i + 1) + ":00:00.0", "");
    gpu.numa.add(i / 2, "topo.xml:3 (numaid of the enclosing cpu)");
  }
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.roots.size(), 2U);
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::phb);
  EXPECT_EQ(pcie_distance(imported.machine, 1, 2), Distance::sys);
  EXPECT_TRUE(is_assumed(imported.machine, "links.gpu0.from"));
}

TEST(MachineFromFacts, TheSameAddressesWithAMatrixFollowTheMatrix) {
  FactsBuilder built;
  for (int i = 0; i < 3; ++i) {
    built.bare_gpu("000" + std::to_string(i + 1) + ":00:00.0", "")
        .numa.add(0, "topo.xml:3 (numaid of the enclosing cpu)");
  }
  built.matrix({"GPU0", "GPU1", "GPU2"}, {{"X", "PHB", "NODE"}, {"PHB", "X", "NODE"}, {"NODE", "NODE", "X"}});
  const Machine machine = built.machine().machine;
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::phb);
  EXPECT_EQ(pcie_distance(machine, 0, 2), Distance::node);
}

TEST(MachineFromFacts, AMatrixAndATreeMeetAndADifferenceIsAContradiction) {
  FactsBuilder built = fully_stated();
  built.matrix({"GPU0", "GPU1"}, {{"X", "PIX"}, {"PIX", "X"}});
  EXPECT_TRUE(built.machine().contradictions.empty());
  built.facts.matrices.clear();
  built.matrix({"GPU0", "GPU1"}, {{"X", "SYS"}, {"SYS", "X"}});
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::pix);
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "distance of gpu0 and gpu1");
}

TEST(MachineFromFacts, RootsOfATreeGetTheirNumaNodesFromTheMatrix) {
  // `lspci -tv` has no NUMA nodes.
  FactsBuilder built;
  for (const char* bus : {"0000:20", "0000:40", "0000:a0"}) {
    const std::string port = std::string(bus) + ":01.1";
    built.root_port(port);
    std::string below = bus;
    below.back() = '1';
    built.gpu(below + ":00.0", port);
  }
  TopoMatrix& matrix = built.matrix({"GPU0", "GPU1", "GPU2"},
                                    {{"X", "NODE", "SYS"}, {"NODE", "X", "SYS"}, {"SYS", "SYS", "X"}});
  matrix.numa = {0, 0, 1};
  const ImportedMachine imported = built.machine();
  EXPECT_TRUE(imported.contradictions.empty());
  ASSERT_EQ(imported.machine.cpus.size(), 2U);
  EXPECT_EQ(imported.machine.cpus[1].numa, 1);
  EXPECT_EQ(imported.machine.roots[2].cpu, 1);
  EXPECT_EQ(imported.origins.at("roots.root2.cpu").from, matrix.from);
}

TEST(MachineFromFacts, GpusOfAMatrixHangBesideTheOnesThatATreeShows) {
  // `lspci` of one card and its switch, and the matrix of all three.
  FactsBuilder built;
  built.root_port("0000:00:01.0");
  built.upstream_port("0000:01:00.0", "0000:00:01.0");
  built.downstream_port("0000:02:00.0", "0000:01:00.0");
  built.gpu("0000:03:00.0", "0000:02:00.0");
  built.matrix({"GPU0", "GPU1", "GPU2"}, {{"X", "PIX", "PXB"}, {"PIX", "X", "PXB"}, {"PXB", "PXB", "X"}});
  const ImportedMachine imported = built.machine();
  EXPECT_TRUE(imported.contradictions.empty());
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::pix);
  EXPECT_EQ(pcie_distance(imported.machine, 0, 2), Distance::pxb);
  EXPECT_TRUE(says(imported.notes, "names 3 GPUs, the other dumps list 1"));
}

TEST(MachineFromFacts, AdaptersOfAMatrixAreFoundByNameElseByOrder) {
  FactsBuilder built = fully_stated();
  PciFacts& adapter = built.adapter("0000:05:00.0", "0000:02:08.0");
  built.downstream_port("0000:02:08.0", "0000:01:00.0");
  adapter.nic_name.add("mlx5_3", built.place());
  TopoMatrix& matrix =
      built.matrix({"GPU0", "GPU1", "NIC0"}, {{"X", "PIX", "PIX"}, {"PIX", "X", "PIX"}, {"PIX", "PIX", "X"}});
  matrix.adapters["NIC0"] = "mlx5_3";
  const ImportedMachine named = built.machine();
  EXPECT_EQ(named.machine.nics.size(), 1U);
  EXPECT_TRUE(named.contradictions.empty());
  built.facts.matrices[0].adapters.clear();
  adapter.nic_name = {};
  const ImportedMachine ordered = built.machine();
  EXPECT_EQ(ordered.machine.nics.size(), 1U);
  EXPECT_TRUE(says(ordered.notes, "in the order of their addresses"));
}

TEST(MachineFromFacts, TwoFunctionsOfACardAreOneAdapterAndTheirDistanceIsNoContradiction) {
  FactsBuilder built = fully_stated();
  built.downstream_port("0000:02:08.0", "0000:01:00.0");
  built.adapter("0000:05:00.0", "0000:02:08.0").nic_name.add("mlx5_0", "a:1");
  built.adapter("0000:05:00.1", "0000:02:08.0").nic_name.add("mlx5_1", "a:2");
  TopoMatrix& matrix =
      built.matrix({"GPU0", "NIC0", "NIC1"}, {{"X", "PIX", "PIX"}, {"PIX", "X", "PIX"}, {"PIX", "PIX", "X"}});
  matrix.adapters = {{"NIC0", "mlx5_0"}, {"NIC1", "mlx5_1"}};
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.nics.size(), 1U);
  EXPECT_TRUE(imported.contradictions.empty());
}

TEST(MachineFromFacts, GpusOnBusZeroItselfAreThoseOfAVirtualMachine) {
  FactsBuilder built;
  built.bare_gpu("0000:00:06.0");
  built.bare_gpu("0000:00:07.0");
  built.matrix({"GPU0", "GPU1"}, {{"X", "SYS"}, {"SYS", "X"}});
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.virtualized, true);
  EXPECT_TRUE(is_assumed(imported.machine, "virtualized"));
  EXPECT_TRUE(imported.contradictions.empty()) << "the matrix cannot know";
  EXPECT_TRUE(says(imported.notes, "a virtual machine"));
}

TEST(MachineFromFacts, UnknownValuesAreGroupedWithTheCommandThatWouldTell) {
  FactsBuilder built;
  for (int i = 1; i <= 4; ++i) built.bare_gpu("0000:0" + std::to_string(i) + ":00.0");
  EXPECT_TRUE(says(built.machine().unknown, "place in the PCIe tree of gpu0 to gpu3: run `lspci -tv`"));
}

TEST(MachineFromFacts, TextsOfDumpsCannotReachTheTerminal) {
  FactsBuilder built = fully_stated();
  built.facts.host.add("box\x1b[31m", "a:1");
  built.device("0000:03:00.0").slot.add("7\n8", "a:2");
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.host.find('\x1b'), std::string::npos);
  EXPECT_EQ(machine.links[1].slot.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace lanecast
