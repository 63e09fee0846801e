#include "configs/dumps/hosts_from_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

/// GPUs on root ports of their own, in the NUMA nodes given.
FactsBuilder box(const std::vector<int>& nodes) {
  FactsBuilder built;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string domain = "000" + std::to_string(i);
    built.root_port(domain + ":20:01.0");
    built.gpu(domain + ":21:00.0", domain + ":20:01.0").numa.add(nodes[i], built.place("NUMA node"));
  }
  return built;
}

std::vector<Link> socket_links(const Machine& machine) {
  std::vector<Link> found;
  std::copy_if(machine.links.begin(), machine.links.end(), std::back_inserter(found),
               [](const Link& link) { return link.kind == LinkKind::socket; });
  return found;
}

TEST(HostsFromFacts, NumaNodesAreNamedInTheOrderOfTheirNumbers) {
  const Machine machine = box({3, 1}).machine().machine;
  ASSERT_EQ(machine.cpus.size(), 2U);
  EXPECT_EQ(machine.cpus[0].numa, 1);
  EXPECT_EQ(machine.cpus[1].numa, 3);
  EXPECT_EQ(machine.roots[0].cpu, 1) << "gpu0 hangs in node 3";
}

TEST(HostsFromFacts, NodesWithoutAGpuAreNodesToo) {
  FactsBuilder built = box({1});
  built.facts.cpus[0].cores.add("0-31", "a:1");
  built.device("0000:05:00.0").numa.add(2, "a:2");
  EXPECT_EQ(built.machine().machine.cpus.size(), 3U);
}

TEST(HostsFromFacts, ProcessorsOfAMachineAreAlike) {
  FactsBuilder built = box({0, 1});
  built.facts.cpus[0].vendor.add("amd", "a:1");
  built.facts.cpus[0].model.add("AMD EPYC 9554 64-Core Processor", "a:2");
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.cpus[1].vendor, "amd");
  EXPECT_EQ(machine.cpus[1].memory_rate, BytesPerSecond(370e9)) << "Genoa";
  EXPECT_EQ(socket_links(machine)[0].lane_rate, BytesPerSecond(39e9))
      << "facts.md C4: 39 across Genoa's sockets";
}

TEST(HostsFromFacts, TheHostBridgesMakerIsTheProcessors) {
  FactsBuilder built = box({0});
  built.device("0000:20:00.0").name.add("Advanced Micro Devices, Inc. [AMD] Device 153a", "a:1 (lspci -tv)");
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(imported.machine.cpus[0].vendor, "amd");
  EXPECT_EQ(imported.machine.cpus[0].memory_rate, BytesPerSecond(460e9)) << "a host bridge of Turin";
  EXPECT_FALSE(is_assumed(imported.machine, "cpus.cpu0.vendor"));
  FactsBuilder guest = box({0});
  PciFacts& imitated = guest.device("0000:20:00.0");
  imitated.class_code.add(0x060000, "a:1");
  imitated.vendor.add(0x8086, "a:1");
  imitated.device.add(0x29c0, "a:1");
  EXPECT_EQ(guest.machine().machine.cpus[0].vendor, "unknown") << "QEMU shows Intel's Q35 on any host";
}

TEST(HostsFromFacts, SocketsAreStatedElseOneANodeUnlessCoresAreTheSame) {
  FactsBuilder built = box({0, 1});
  EXPECT_EQ(built.machine().machine.cpus[1].socket, 1);
  built.facts.cpus[0].socket.add(0, "a:1");
  built.facts.cpus[1].socket.add(0, "a:2");
  const Machine one_socket = built.machine().machine;
  EXPECT_EQ(one_socket.cpus[1].socket, 0);
  EXPECT_EQ(one_socket.cpus[1].memory_rate, BytesPerSecond(70e9)) << "two nodes share a socket's 140";
  EXPECT_EQ(socket_links(one_socket)[0].lane_rate, BytesPerSecond(100e9));
  FactsBuilder same = box({0, 1});
  for (const int node : {0, 1}) same.facts.cpus[node].cores.add("0-63", "a:1");
  EXPECT_EQ(same.machine().machine.cpus[1].socket, 0);
}

TEST(HostsFromFacts, SocketLinksJoinAllNodes) {
  FactsBuilder built = box({0, 1, 2, 3});
  for (int node = 0; node < 4; ++node) built.facts.cpus[node].socket.add(node / 2, "a:1");
  const std::vector<Link> links = socket_links(built.machine().machine);
  ASSERT_EQ(links.size(), 3U) << "one in each socket, one between them";
  EXPECT_EQ(links[2].from, (NodeId{NodeKind::cpu, 0}));
  EXPECT_EQ(links[2].to, (NodeId{NodeKind::cpu, 2}));
  EXPECT_EQ(links[2].lane_rate, BytesPerSecond(20e9));
}

TEST(HostsFromFacts, TwoNodesBelowOneRootAreAContradiction) {
  FactsBuilder built;
  built.gpu("0000:20:01.0", "").numa.add(0, "a:1");
  built.gpu("0000:20:02.0", "").numa.add(1, "b:1");
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "NUMA node below one root");
}

}  // namespace
}  // namespace lanecast
