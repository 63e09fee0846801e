// The tree that `nvidia-smi topo -m` alone gives.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "configs/dumps/import.hpp"
#include "configs/dumps/readers.hpp"
#include "model/topology/distance_matrix.hpp"
#include "model/topology/routes.hpp"
#include "tests/support/facts_builder.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::FactsBuilder;

/// The node that a name of a matrix stands for, where every adapter is a node of its own.
NodeId node_of(const std::string& name) {
  const int number = std::stoi(name.substr(3));
  return {name.rfind("GPU", 0) == 0 ? NodeKind::gpu : NodeKind::nic, number};
}

int nvlinks_of(const TopologyMatrix& matrix, NodeId a, NodeId b) {
  const auto at = [&](NodeId id) {
    return static_cast<std::size_t>(std::find(matrix.nodes.begin(), matrix.nodes.end(), id) -
                                    matrix.nodes.begin());
  };
  return matrix.cells[at(a)][at(b)].nvlinks;
}

/// Every cell that the matrix has must be the machine's own: by `pcie_distance`, and by its NVLinks.
void expect_same_matrix(const Machine& machine, const TopoMatrix& matrix, const std::string& what) {
  const TopologyMatrix own = topology_matrix(machine);
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    for (std::size_t j = 0; j < matrix.names.size(); ++j) {
      if (i == j || i >= matrix.cells.size() || j >= matrix.cells[i].size()) continue;
      const TopoCell& cell = matrix.cells[i][j];
      const NodeId a = node_of(matrix.names[i]), b = node_of(matrix.names[j]);
      const std::string where = what + ": " + matrix.names[i] + " " + matrix.names[j];
      if (cell.distance && *cell.distance != Distance::nvl) {
        EXPECT_STREQ(to_string(pcie_distance(machine, a, b)), to_string(*cell.distance)) << where;
      }
      if (cell.nvlinks == 0 && !cell.distance) continue;
      EXPECT_EQ(nvlinks_of(own, a, b), cell.nvlinks) << where;
    }
  }
}

/// What `nvidia-smi topo -m` prints of a machine. NVLinks hide the distance.
TopoMatrix matrix_of(const Machine& machine) {
  const TopologyMatrix own = topology_matrix(machine);
  TopoMatrix matrix;
  matrix.from = "topo.txt:1 (nvidia-smi topo -m)";
  for (std::size_t i = 0; i < own.nodes.size(); ++i) {
    const bool gpu = own.nodes[i].kind == NodeKind::gpu;
    matrix.names.push_back((gpu ? "GPU" : "NIC") + std::to_string(own.nodes[i].index));
    matrix.cells.emplace_back();
    for (const DistanceCell& cell : own.cells[i]) {
      matrix.cells.back().push_back(
          {cell.nvlinks > 0 ? std::nullopt : std::optional(cell.distance), cell.nvlinks});
    }
  }
  return matrix;
}

/// Sockets with roots, below them trees of switches up to three deep, GPUs and adapters anywhere.
Machine random_tree(std::mt19937_64& random) {
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(count));
  };
  Machine machine;
  machine.name = "tree";
  std::vector<NodeId> ends;
  for (int cpus = 1 + below(3); cpus > 0; --cpus) {
    const NodeId cpu = support::add_cpu(machine);
    if (cpu.index > 0) support::add_socket_link(machine, {NodeKind::cpu, 0}, cpu);
    for (int roots = 1 + below(3); roots > 0; --roots) {
      ends.push_back(support::add_root(machine, cpu));
      for (int switches = below(4); switches > 0; --switches) {
        const std::size_t above =
            ends.size() - 1 -
            static_cast<std::size_t>(below(std::min<int>(3, static_cast<int>(ends.size()))));
        ends.push_back(support::add_switch(machine, ends[above]));
      }
    }
  }
  for (int gpus = 1 + below(12); gpus > 0; --gpus)
    support::add_gpu(machine, ends[static_cast<std::size_t>(below(static_cast<int>(ends.size())))]);
  for (int nics = below(8); nics > 0; --nics) {
    const int index = static_cast<int>(machine.nics.size());
    machine.nics.push_back({"nic" + std::to_string(index), BytesPerSecond(1e10), ""});
    Link link;
    link.name = machine.nics.back().name;
    link.from = ends[static_cast<std::size_t>(below(static_cast<int>(ends.size())))];
    link.to = {NodeKind::nic, index};
    machine.links.push_back(link);
  }
  return machine;
}

TEST(MatrixTree, ReproducesTheMatrixOfAnyTreeWithoutNvlinks) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 400; ++round) {
    const Machine machine = random_tree(random);
    ASSERT_TRUE(check_machine(machine).empty());
    FactsBuilder built;
    built.facts.matrices.push_back(matrix_of(machine));
    const ImportedMachine imported = built.machine();
    ASSERT_EQ(imported.machine.gpus.size(), machine.gpus.size());
    ASSERT_EQ(imported.machine.nics.size(), machine.nics.size());
    EXPECT_TRUE(imported.contradictions.empty()) << imported.contradictions.front().what;
    expect_same_matrix(imported.machine, built.facts.matrices[0], "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(MatrixTree, ReproducesTheMatrixOfMachinesWithNvlinks) {
  std::vector<Machine> machines{support::nvlink_pair(), support::with_nvswitch(8), support::cube_mesh()};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) machines.push_back(support::random_machine(seed));
  for (std::size_t i = 0; i < machines.size(); ++i) {
    Machine machine = machines[i];
    for (Gpu& gpu : machine.gpus) gpu.present = true;
    FactsBuilder built;
    built.facts.matrices.push_back(matrix_of(machine));
    expect_same_matrix(built.machine().machine, built.facts.matrices[0], "machine " + std::to_string(i));
    if (HasFailure()) return;
  }
}

TEST(MatrixTree, KeepsTheDistancesOfPairsBesideHiddenOnes) {
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1", "GPU2", "GPU3"}, {{"X", "PHB", "NV4", "NODE"},
                                                  {"PHB", "X", "NODE", "NV4"},
                                                  {"NV4", "NODE", "X", "PHB"},
                                                  {"NODE", "NV4", "PHB", "X"}});
  const ImportedMachine imported = built.machine();
  expect_same_matrix(imported.machine, built.facts.matrices[0], "pairs");
  EXPECT_EQ(pcie_distance(imported.machine, 0, 2), Distance::node) << "GPU1 is NODE from both";
  EXPECT_EQ(imported.machine.roots.size(), 2U);
  EXPECT_EQ(imported.machine.cpus.size(), 1U);
}

TEST(MatrixTree, TakesGpusOfOneNumaNodeForNodeWhereNvlinkHidesAll) {
  FactsBuilder built;
  TopoMatrix& matrix = built.matrix({"GPU0", "GPU1", "GPU2"},
                                    {{"X", "NV18", "NV18"}, {"NV18", "X", "NV18"}, {"NV18", "NV18", "X"}});
  matrix.numa = {0, 0, 1};
  const Machine machine = built.machine().machine;
  EXPECT_EQ(pcie_distance(machine, 0, 1), Distance::node);
  EXPECT_EQ(pcie_distance(machine, 0, 2), Distance::sys);
  EXPECT_EQ(machine.cpus.size(), 2U);
  EXPECT_EQ(machine.cpus[1].numa, 1);
}

TEST(MatrixTree, ACutMatrixKeepsWhatIsThereAndNamesTheRest) {
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1", "GPU2", "GPU3"},
               {{}, {}, {"SYS", "SYS", "X", "PIX"}, {"SYS", "SYS", "PIX", "X"}});
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.machine.gpus.size(), 4U);
  EXPECT_EQ(pcie_distance(imported.machine, 2, 3), Distance::pix);
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::sys) << "the farthest one holds in a gap";
  bool named = false;
  for (const std::string& unknown : imported.unknown)
    named = named || unknown.find("part of the distances of gpu0, gpu1") == 0;
  EXPECT_TRUE(named);
}

TEST(MatrixTree, CellsHoldAgainstAColumnThatPutsOneNodeOnBothSidesOfSys) {
  FactsBuilder built;
  TopoMatrix& matrix =
      built.matrix({"GPU0", "GPU1", "NIC0"}, {{"X", "NV4", "PXB"}, {"NV4", "X", "SYS"}, {"PXB", "SYS", "X"}});
  matrix.numa = {0, 0, std::nullopt};
  const ImportedMachine imported = built.machine();
  expect_same_matrix(imported.machine, matrix, "column");
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::sys);
  ASSERT_EQ(imported.machine.cpus.size(), 2U);
  EXPECT_FALSE(imported.machine.cpus[0].numa.has_value());
}

TEST(MatrixTree, AnAsymmetricCellIsAContradictionAndTheUpperOneHolds) {
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1"}, {{"X", "PIX"}, {"SYS", "X"}});
  const ImportedMachine imported = built.machine();
  EXPECT_EQ(pcie_distance(imported.machine, 0, 1), Distance::pix);
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "distance of gpu0 and gpu1");
  EXPECT_EQ(imported.contradictions[0].taken, "PIX");
  EXPECT_EQ(imported.contradictions[0].other, "SYS");
}

TEST(MatrixTree, AMatrixOfNoTreeGivesTheNearestOneAndSaysWhichCellsItBreaks) {
  // GPU0 is PIX to GPU1 and GPU1 to GPU2, so that GPU0 and GPU2 share their switch as well.
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1", "GPU2", "GPU3"}, {{"X", "PIX", "SYS", "PIX"},
                                                  {"PIX", "X", "PIX", "PIX"},
                                                  {"SYS", "PIX", "X", "PIX"},
                                                  {"PIX", "PIX", "PIX", "X"}});
  const ImportedMachine imported = built.machine();
  ASSERT_EQ(imported.contradictions.size(), 1U);
  EXPECT_EQ(imported.contradictions[0].what, "distance of gpu0 and gpu2");
  EXPECT_EQ(imported.contradictions[0].taken, "PIX");
  EXPECT_EQ(imported.contradictions[0].other, "SYS");
}

TEST(MatrixTree, ADeviceThatIsPixToNobodyHangsDirectlyOnItsRoot) {
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1"}, {{"X", "PHB"}, {"PHB", "X"}});
  const Machine machine = built.machine().machine;
  EXPECT_TRUE(machine.switches.empty());
  EXPECT_EQ(machine.roots.size(), 1U);
}

TEST(MatrixTree, SeveralSwitchesOfAHierarchyHangBelowOne) {
  FactsBuilder built;
  built.matrix({"GPU0", "GPU1", "GPU2", "GPU3"}, {{"X", "PIX", "PXB", "PXB"},
                                                  {"PIX", "X", "PXB", "PXB"},
                                                  {"PXB", "PXB", "X", "PIX"},
                                                  {"PXB", "PXB", "PIX", "X"}});
  const Machine machine = built.machine().machine;
  EXPECT_EQ(machine.switches.size(), 3U);
  EXPECT_EQ(machine.links[0].name, "uplink0");
  EXPECT_EQ(machine.links[0].from.kind, NodeKind::root);
  EXPECT_EQ(machine.links[1].from, (NodeId{NodeKind::pcie_switch, 0}));
}

TEST(MatrixTree, A128NamesWideMatrixTakesNoTime) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 128; ++i) {
    names.push_back("GPU" + std::to_string(i));
    rows.emplace_back();
    for (int j = 0; j < 128; ++j)
      rows.back().push_back(i == j ? "X" : (i * 7 + j * 13) % 5 == 0 ? "PIX" : "SYS");
  }
  FactsBuilder built;
  built.matrix(names, rows);
  EXPECT_EQ(built.machine().machine.gpus.size(), 128U);
}

TEST(MatrixTree, ReproducesEveryMatrixOfTheSharedCases) {
  const std::filesystem::path raw = std::filesystem::path(LANECAST_TEST_SHARED_DIR) / "cases/raw";
  if (!std::filesystem::exists(raw)) GTEST_SKIP() << "the shared cases are not there";
  int matrices = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(raw)) {
    const std::string file = entry.path().filename().string();
    if (file.rfind("topo-", 0) != 0) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    MachineFacts facts;
    ASSERT_GT(read_nvidia_smi_topo(text.str(), file, facts), 0) << file;
    const ImportedMachine imported = machine_from_facts(facts, "box");
    EXPECT_TRUE(imported.contradictions.empty()) << file << ": " << imported.contradictions.front().what;
    for (const TopoMatrix& matrix : facts.matrices) expect_same_matrix(imported.machine, matrix, file);
    ++matrices;
  }
  EXPECT_GE(matrices, 14);
}

}  // namespace
}  // namespace lanecast
