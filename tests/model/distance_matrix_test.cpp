#include "model/topology/distance_matrix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/topology/routes.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::add_gpu;
using support::add_nvlink;

/// A row as `topo -m` abbreviates it: "X PIX NV4".
std::vector<std::string> rows_of(const Machine& machine) {
  std::vector<std::string> rows;
  for (const auto& cells : topology_matrix(machine).cells) {
    std::string row;
    for (const DistanceCell& cell : cells) {
      const std::string far = cell.distance == Distance::loc ? "X" : to_string(cell.distance);
      row += (row.empty() ? "" : " ") + (cell.nvlinks > 0 ? "NV" + std::to_string(cell.nvlinks) : far);
    }
    rows.push_back(row);
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(TopologyMatrix, TwoSwitchesOnTwoRootsOfOneCpuArePixWithinAndNodeAcross) {
  EXPECT_EQ(rows_of(support::two_switches(2)),
            (Rows{"X PIX NODE NODE", "PIX X NODE NODE", "NODE NODE X PIX", "NODE NODE PIX X"}));
}

TEST(TopologyMatrix, ASecondLevelOfSwitchesIsPxbARootPhbASocketSys) {
  EXPECT_EQ(rows_of(support::nested_switches(2, 1)), (Rows{"X PXB", "PXB X"}));
  EXPECT_EQ(rows_of(support::one_root(2)), (Rows{"X PHB", "PHB X"}));
  EXPECT_EQ(rows_of(support::two_sockets(1)), (Rows{"X SYS", "SYS X"}));
}

TEST(TopologyMatrix, NetworkAdaptersFollowTheGpusAndAnAbsentGpuHasNoRow) {
  Machine machine = support::one_switch(2);
  machine.nics.push_back({"nic0", BytesPerSecond(12.5e9), ""});
  Link link = support::link_named(machine, "gpu1");
  link.name = "nic0";
  link.to = {NodeKind::nic, 0};
  machine.links.push_back(link);
  machine.gpus[0].present = false;
  const TopologyMatrix matrix = topology_matrix(machine);
  EXPECT_EQ(matrix.nodes, (std::vector<NodeId>{{NodeKind::gpu, 1}, {NodeKind::nic, 0}}));
  EXPECT_EQ(rows_of(machine), (Rows{"X PIX", "PIX X"}));
}

TEST(TopologyMatrix, DirectNvlinksAreAddedUpAndDoNotHideTheDistance) {
  Machine machine = support::two_switches(1);
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 2);
  add_nvlink(machine, {NodeKind::gpu, 1}, {NodeKind::gpu, 0}, 1);
  const DistanceCell cell = topology_matrix(machine).cells[0][1];
  EXPECT_EQ(cell.nvlinks, 3);
  EXPECT_EQ(cell.distance, Distance::node);
}

TEST(TopologyMatrix, ThroughNvswitchesTheEndWithFewerLinksCounts) {
  Machine machine = support::own_roots(3);
  const NodeId first = support::add_nvswitch(machine);
  const NodeId second = support::add_nvswitch(machine);
  for (const NodeId& nvswitch : {first, second}) {
    add_nvlink(machine, {NodeKind::gpu, 0}, nvswitch, 9);
    add_nvlink(machine, {NodeKind::gpu, 1}, nvswitch, nvswitch == first ? 9 : 5);
  }
  EXPECT_EQ(rows_of(machine), (Rows{"X NV14 NODE", "NV14 X NODE", "NODE NODE X"}));
}

TEST(TopologyMatrix, NvswitchesWithoutALinkBetweenThemJoinNobody) {
  Machine machine = support::own_roots(2);
  const NodeId first = support::add_nvswitch(machine);
  const NodeId second = support::add_nvswitch(machine);
  add_nvlink(machine, {NodeKind::gpu, 0}, first, 4);
  add_nvlink(machine, {NodeKind::gpu, 1}, second, 4);
  EXPECT_EQ(topology_matrix(machine).cells[0][1].nvlinks, 0);
  add_nvlink(machine, second, first, 8);
  EXPECT_EQ(topology_matrix(machine).cells[0][1].nvlinks, 4);
}

TEST(TopologyMatrix, AGpuWithoutAPcieLinkIsSysFromAll) {
  Machine machine = support::one_root(1);
  machine.gpus.push_back(machine.gpus[0]);
  machine.gpus[1].name = "gpu1";
  add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 4);
  EXPECT_EQ(topology_matrix(machine).cells[1][0], (DistanceCell{Distance::sys, 4}));
}

TEST(TopologyMatrixProperty, AgreesWithTheDistancesAndRoutesOfEachPair) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = support::random_machine(seed);
    const TopologyMatrix matrix = topology_matrix(machine);
    for (std::size_t a = 0; a < matrix.nodes.size(); ++a) {
      for (std::size_t b = 0; b < matrix.nodes.size(); ++b) {
        const NodeId one = matrix.nodes[a], other = matrix.nodes[b];
        const DistanceCell& cell = matrix.cells[a][b];
        EXPECT_EQ(cell.distance, pcie_distance(machine, one, other)) << "seed " << seed;
        EXPECT_EQ(cell, matrix.cells[b][a]) << "seed " << seed;
        if (a == b || one.kind != NodeKind::gpu || other.kind != NodeKind::gpu) continue;
        EXPECT_EQ(cell.nvlinks > 0, nvlink_route(machine, one.index, other.index).has_value()) << seed;
      }
    }
  }
}

TEST(TopologyMatrix, AThousandGpusTakeNoTimeToSpeakOf) {
  Machine machine = support::own_roots(1);
  const NodeId root{NodeKind::root, 0};
  while (machine.gpus.size() < 1000) add_gpu(machine, root);
  EXPECT_EQ(topology_matrix(machine).cells[0][999].distance, Distance::phb);
}

}  // namespace
}  // namespace lanecast
