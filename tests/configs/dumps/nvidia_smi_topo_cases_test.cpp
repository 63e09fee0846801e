#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

struct KnownCell {
  const char* from;
  const char* to;
  const char* cell;  // "NV4" or a distance; "" unknown
};

/// What a person reads in a file.
struct KnownMatrix {
  int gpus = 0;
  int adapters = 0;
  std::map<std::string, int> pairs_of_gpus;  // cell -> pairs
  std::vector<KnownCell> cells;
  const char* cores_of_gpu0 = "";
  int numa_of_last_gpu = -1;  // -1: none
};

/// Counted by hand in each file.
const std::map<std::string, KnownMatrix>& known_matrices() {
  static const std::map<std::string, KnownMatrix> known{
      {"topo-4x3090-nvlink-pairs.txt",
       {4,
        0,
        {{"PHB", 2}, {"NV4", 2}, {"NODE", 2}},
        {{"GPU0", "GPU2", "NV4"}, {"GPU2", "GPU3", "PHB"}},
        "0-23",
        0}},
      {"topo-4xa100-nv4-nics.txt",
       {4,
        4,
        {{"NV4", 6}},
        {{"GPU3", "NIC3", "PXB"}, {"NIC0", "NIC1", "SYS"}, {"GPU0", "NIC1", "SYS"}},
        "0",
        0}},
      {"topo-6x4090-phb-pairs.txt",
       {6, 0, {{"PHB", 2}, {"SYS", 13}}, {{"GPU3", "GPU4", "PHB"}, {"GPU4", "GPU5", "SYS"}}, "0-63", -1}},
      {"topo-a100pcie-4x-sys.partial.txt",
       {4, 0, {{"SYS", 5}, {"", 1}}, {{"GPU0", "GPU1", ""}, {"GPU1", "GPU3", "SYS"}}, "", 1}},
      {"topo-a40-8x-nvpairs.txt",
       {8,
        0,
        {{"NV4", 4}, {"NODE", 8}, {"SYS", 16}},
        {{"GPU6", "GPU7", "NV4"}, {"GPU1", "GPU3", "NODE"}},
        "",
        -1}},
      {"topo-2x-l40s-node.txt",
       {2, 2, {{"NODE", 1}}, {{"NIC0", "NIC1", "PIX"}, {"GPU1", "NIC0", "NODE"}}, "1,33", 1}},
      {"topo-3xa6000-nvpair.txt",
       {3, 0, {{"NV4", 1}, {"NODE", 2}}, {{"GPU0", "GPU1", "NV4"}}, "0-31,64-95", 0}},
      {"topo-autodl-2x2080ti.txt", {2, 0, {{"PIX", 1}}, {{"GPU0", "GPU1", "PIX"}}, "24-47,72-95", 1}},
      {"topo-esc8000a-e12-4x6000ada.txt",
       {4, 4, {{"NODE", 2}, {"SYS", 4}}, {{"NIC2", "NIC3", "PIX"}, {"GPU3", "NIC2", "NODE"}}, "0-31", 1}},
      {"topo-esc8000a-e13p-8xrtxpro6000.txt",
       {8,
        0,
        {{"PIX", 4}, {"NODE", 8}, {"SYS", 16}},
        {{"GPU6", "GPU7", "PIX"}, {"GPU5", "GPU6", "NODE"}},
        "0-63,128-191",
        1}},
      {"topo-wrx80-2x4090.txt", {2, 0, {{"SYS", 1}}, {{"GPU0", "GPU1", "SYS"}}, "0-127", -1}},
      {"topo-wrx90-2switch-flat-8xrtxpro6000.txt",
       {8, 0, {{"PIX", 12}, {"NODE", 16}}, {{"GPU3", "GPU4", "NODE"}, {"GPU4", "GPU7", "PIX"}}, "", -1}},
      {"topo-wrx90-2x6000ada.txt",
       {2, 2, {{"PHB", 1}}, {{"NIC0", "NIC1", "PIX"}, {"GPU0", "NIC1", "NODE"}}, "0-23", 0}},
      {"topo-wrx90-3switch-8xrtxpro6000.txt",
       {8,
        0,
        {{"PIX", 4}, {"PXB", 8}, {"NODE", 16}},
        {{"GPU1", "GPU2", "PXB"}, {"GPU4", "GPU5", "PIX"}},
        "",
        -1}},
  };
  return known;
}

std::string cell_text(const TopoCell& cell) {
  if (cell.nvlinks > 0) return "NV" + std::to_string(cell.nvlinks);
  return cell.distance ? to_string(*cell.distance) : "";
}

std::size_t index_of(const TopoMatrix& matrix, const std::string& name) {
  return static_cast<std::size_t>(std::find(matrix.names.begin(), matrix.names.end(), name) -
                                  matrix.names.begin());
}

std::map<std::string, int> pairs_of_gpus(const TopoMatrix& matrix, std::size_t gpus) {
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < gpus; ++i) {
    for (std::size_t j = i + 1; j < gpus; ++j) ++counts[cell_text(matrix.cells[i][j])];
  }
  return counts;
}

void expect_known(const TopoMatrix& matrix, const KnownMatrix& known) {
  const auto gpus = static_cast<std::size_t>(known.gpus);
  ASSERT_EQ(matrix.names.size(), gpus + static_cast<std::size_t>(known.adapters));
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    EXPECT_EQ(matrix.names[i], i < gpus ? "GPU" + std::to_string(i) : "NIC" + std::to_string(i - gpus));
    EXPECT_EQ(matrix.cells[i][i].distance, Distance::loc);
    for (std::size_t j = 0; j < matrix.names.size(); ++j) {
      EXPECT_EQ(cell_text(matrix.cells[i][j]), cell_text(matrix.cells[j][i])) << "distances hold both ways";
    }
  }
  EXPECT_EQ(pairs_of_gpus(matrix, gpus), known.pairs_of_gpus);
  for (const KnownCell& cell : known.cells) {
    EXPECT_EQ(cell_text(matrix.cells[index_of(matrix, cell.from)][index_of(matrix, cell.to)]), cell.cell)
        << cell.from << " to " << cell.to;
  }
  EXPECT_EQ(matrix.cores[0], known.cores_of_gpu0);
  EXPECT_EQ(matrix.numa[gpus - 1].value_or(-1), known.numa_of_last_gpu);
}

TEST(NvidiaSmiTopoCases, AllMatricesOfTheSharedCasesReadAsAPersonReadsThem) {
  const std::filesystem::path raw = std::filesystem::path(LANECAST_TEST_SHARED_DIR) / "cases" / "raw";
  if (!std::filesystem::is_directory(raw))
    GTEST_SKIP() << "no folder " << raw << ": it is not part of the repository";
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(raw)) {
    const std::string file = entry.path().filename().string();
    if (!entry.is_regular_file() || file.substr(0, 5) != "topo-") continue;
    SCOPED_TRACE(file);
    const auto known = known_matrices().find(file);
    ASSERT_NE(known, known_matrices().end()) << "a file that nobody has read yet";
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    MachineFacts facts;
    read_nvidia_smi_topo(text.str(), file, facts);
    ASSERT_EQ(facts.matrices.size(), 1U);
    expect_known(facts.matrices[0], known->second);
    const bool partial = file.find(".partial.") != std::string::npos;
    EXPECT_EQ(facts.notes.size(), partial ? 1U : 0U);
    ++read;
  }
  EXPECT_EQ(read, static_cast<int>(known_matrices().size()));
}

}  // namespace
}  // namespace lanecast
