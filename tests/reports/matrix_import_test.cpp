// The matrix and the table of peer access that `topo show` prints, read by the importers of nvidia-smi's.
#include <gtest/gtest.h>

#include "configs/dumps/readers.hpp"
#include "configs/shipped.hpp"
#include "model/topology/distance_matrix.hpp"
#include "reports/distance_matrix.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

void expect_the_importer_reads_it(const Machine& machine) {
  const TopologyMatrix matrix = topology_matrix(machine);
  MachineFacts facts;
  read_nvidia_smi_topo(topology_matrix_text(machine), "shown.txt", facts);
  ASSERT_EQ(facts.matrices.size(), 1U);
  const TopoMatrix& read = facts.matrices[0];
  ASSERT_EQ(read.names.size(), matrix.nodes.size());
  for (std::size_t a = 0; a < matrix.nodes.size(); ++a) {
    const bool gpu = matrix.nodes[a].kind == NodeKind::gpu;
    EXPECT_EQ(read.names[a], (gpu ? "GPU" : "NIC") + std::to_string(matrix.nodes[a].index));
    for (std::size_t b = 0; b < matrix.nodes.size(); ++b) {
      const DistanceCell& cell = matrix.cells[a][b];
      EXPECT_EQ(read.cells[a][b].nvlinks, cell.nvlinks) << read.names[a] << " to " << read.names[b];
      if (cell.nvlinks > 0) continue;  // NVLink hides the distance
      EXPECT_EQ(read.cells[a][b].distance, cell.distance);
    }
  }
}

TEST(TopologyMatrixText, TheImporterReadsThoseOfShippedMachines) {
  for (const std::string& name : shipped_machines()) {
    SCOPED_TRACE(name);
    expect_the_importer_reads_it(load_machine(name));
  }
}

TEST(TopologyMatrixText, TheImporterReadsAffinityAndAdapters) {
  Machine machine = load_machine("dgx1-v100");
  machine.cpus[0].numa = 0;
  machine.cpus[1].numa = 1;
  machine.cpus[0].cores = "0-19,40-59";
  machine.cpus[1].cores = "20-39,60-79";
  MachineFacts facts;
  read_nvidia_smi_topo(topology_matrix_text(machine), "shown.txt", facts);
  ASSERT_EQ(facts.matrices.size(), 1U);
  EXPECT_EQ(facts.matrices[0].cores.at(0), "0-19,40-59");
  EXPECT_EQ(facts.matrices[0].cores.at(7), "20-39,60-79");
  EXPECT_EQ(facts.matrices[0].numa.at(7), 1);
  EXPECT_EQ(facts.matrices[0].adapters.at("NIC3"), "nic3");
}

TEST(TopologyMatrixTextProperty, TheImporterReadsThoseOfRandomMachines) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_the_importer_reads_it(random_machine(seed));
    expect_the_importer_reads_it(support::random_machine(seed));
  }
}

}  // namespace
}  // namespace lanecast
