#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_topo(text, "box.txt", facts);
  return facts;
}

TopoMatrix only_matrix(const std::string& text) {
  const MachineFacts facts = facts_of(text);
  EXPECT_EQ(facts.matrices.size(), 1U) << text;
  return facts.matrices.empty() ? TopoMatrix{} : facts.matrices[0];
}

/// "X PIX NV4 ?": a row of cells, as nvidia-smi would print it.
std::string row(const TopoMatrix& matrix, std::size_t index) {
  std::string text;
  for (const TopoCell& cell : matrix.cells.at(index)) {
    std::string word = "?";
    if (cell.distance) word = to_string(*cell.distance);
    if (cell.distance == Distance::loc) word = "X";
    if (cell.nvlinks > 0) word = "NV" + std::to_string(cell.nvlinks);
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::string names(const TopoMatrix& matrix) {
  std::string text;
  for (const std::string& name : matrix.names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string notes(const MachineFacts& facts) {
  std::string text;
  for (const std::string& note : facts.notes) text += note + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// facts.md F4, with the tabs and blanks of the program
const std::string three_gpus =
    "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tPIX\tSYS\tPXB\t0-15,32-47\t0\t\tN/A\n"
    "GPU1\tPIX\t X \tSYS\tPXB\t0-15,32-47\t0\t\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tSYS\t16-31,48-63\t1\t\tN/A\n"
    "NIC0\tPXB\tPXB\tSYS\t X \t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n";

void expect_three_gpus(const TopoMatrix& matrix) {
  EXPECT_EQ(names(matrix), "GPU0 GPU1 GPU2 NIC0");
  ASSERT_EQ(matrix.cells.size(), 4U);
  EXPECT_EQ(row(matrix, 0), "X PIX SYS PXB");
  EXPECT_EQ(row(matrix, 1), "PIX X SYS PXB");
  EXPECT_EQ(row(matrix, 2), "SYS SYS X SYS");
  EXPECT_EQ(row(matrix, 3), "PXB PXB SYS X");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(NvidiaSmiTopo, ReadsCellsAffinitiesAndTheLegendOfAdapters) {
  const TopoMatrix matrix = only_matrix(three_gpus);
  expect_three_gpus(matrix);
  EXPECT_EQ(matrix.cores, (std::vector<std::string>{"0-15,32-47", "0-15,32-47", "16-31,48-63", ""}));
  EXPECT_EQ(matrix.numa, (std::vector<std::optional<int>>{0, 0, 1, std::nullopt}));
  EXPECT_EQ(matrix.adapters, (std::map<std::string, std::string>{{"NIC0", "mlx5_0"}}));
  EXPECT_EQ(matrix.from, "box.txt:1 (nvidia-smi topo -m)");
  EXPECT_TRUE(matrix.addresses.empty());
  EXPECT_EQ(notes(facts_of(three_gpus)), "");
}

TEST(NvidiaSmiTopo, CountsRows) {
  MachineFacts facts;
  EXPECT_EQ(read_nvidia_smi_topo(three_gpus, "box.txt", facts), 4);
  EXPECT_EQ(read_nvidia_smi_topo("nothing of this kind\n", "box.txt", facts), 0);
}

TEST(NvidiaSmiTopo, ReadsTheSameFromEveryWayOfPasting) {
  const std::string crlf = replaced(three_gpus, "\n", "\r\n");
  const std::string quoted = "> " + replaced(three_gpus, "\n", "\n> ");
  const std::string fenced = "Here it is:\n```\n$ nvidia-smi topo -m\n" + three_gpus + "```\nThanks!\n";
  const std::string underlined =
      replaced(replaced(three_gpus, "\tGPU0\tGPU1", "\t\x1b[4mGPU0\tGPU1"), "NUMA ID\n", "NUMA ID\x1b[0m\n");
  const std::string escape_lost = replaced(replaced(underlined, "\x1b", ""), "GPU NUMA", "GPU NUMA");
  const std::string escape_shown = replaced(underlined, "\x1b", "^[");
  const std::string no_break = replaced(three_gpus, "\t", "\xc2\xa0\xc2\xa0");
  const std::string markdown =
      replaced(replaced(three_gpus, "\t", " | "), "\nGPU0 |", "\n|---|---|---|\n| GPU0 |");
  const std::string double_spaced = replaced(three_gpus, "\n", "\n\n");
  const std::string title = "\x1b]0;user@box: ~\x07" + three_gpus;
  for (const std::string& text : {crlf, quoted, fenced, underlined, escape_lost, escape_shown, no_break,
                                  markdown, double_spaced, title, replaced(three_gpus, "\t", "    ")}) {
    SCOPED_TRACE(text);
    const TopoMatrix matrix = only_matrix(text);
    expect_three_gpus(matrix);
    EXPECT_EQ(matrix.numa, (std::vector<std::optional<int>>{0, 0, 1, std::nullopt}));
    EXPECT_EQ(matrix.adapters.size(), 1U);
  }
}

TEST(NvidiaSmiTopo, NeedsNoHeader) {
  expect_three_gpus(only_matrix(three_gpus.substr(three_gpus.find('\n') + 1)));
}

TEST(NvidiaSmiTopo, AlignsAHeaderThatLostItsBegin) {
  expect_three_gpus(only_matrix(replaced(three_gpus, "\tGPU0\tGPU1\tGPU2", "GPU2")));
}

TEST(NvidiaSmiTopo, TellsAnEmptyNumaNodeFromTheGpusOwn) {
  const TopoMatrix empty = only_matrix(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tSYS\t0-127\t\t\t2\nGPU1\tSYS\t X "
      "\t0-127\t\tN/A\n");
  EXPECT_EQ(empty.numa, (std::vector<std::optional<int>>{std::nullopt, std::nullopt}));
  const TopoMatrix several = only_matrix("GPU0 X SYS 0-7 0-1\nGPU1 SYS X N/A 2,3\n");
  EXPECT_EQ(several.numa, (std::vector<std::optional<int>>{0, 2})) << "the first of several";
  EXPECT_EQ(several.cores, (std::vector<std::string>{"0-7", ""}));
}

TEST(NvidiaSmiTopo, ReadsOldDrivers) {
  const TopoMatrix matrix = only_matrix(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tPSB\tSOC\t0-9\n"
      "GPU1\tPSB\t X \tSOC\t0-9\n"
      "mlx5_0\tSOC\tSOC\t X \t\n"
      "\nLegend:\n  SOC  = Connection traversing a socket-level link (e.g. QPI)\n");
  EXPECT_EQ(names(matrix), "GPU0 GPU1 mlx5_0");
  EXPECT_EQ(row(matrix, 0), "X PIX SYS");
  EXPECT_EQ(row(matrix, 2), "SYS SYS X");
  EXPECT_EQ(matrix.cores[1], "0-9");
}

TEST(NvidiaSmiTopo, ReadsNvlinksAndNumbersBeyondNine) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += "GPU" + std::to_string(i);
    for (int j = 0; j < 12; ++j) text += i == j ? "  X  " : " NV18";
    text += "\n";
  }
  const TopoMatrix matrix = only_matrix(text);
  EXPECT_EQ(matrix.names.at(11), "GPU11");
  EXPECT_EQ(matrix.cells.at(11).at(2).nvlinks, 18);
  EXPECT_EQ(matrix.cells.at(11).at(2).distance, Distance::nvl);
}

TEST(NvidiaSmiTopo, JoinsRowsThatAMailWrapped) {
  const std::string text =
      "GPU0  GPU1  GPU2  NIC0  CPU\nAffinity  NUMA Affinity  GPU NUMA ID\n"
      "GPU0   X   PIX   SYS\nPXB   0-15   0   N/A\n"
      "GPU1  PIX   X    SYS   PXB\n0-15   0   N/A\n"
      "GPU2  SYS  SYS    X    SYS   16-31   1\nN/A\n"
      "NIC0  PXB  PXB\nSYS   X\n";
  const TopoMatrix matrix = only_matrix(text);
  expect_three_gpus(matrix);
  EXPECT_EQ(matrix.numa, (std::vector<std::optional<int>>{0, 0, 1, std::nullopt}));
}

TEST(NvidiaSmiTopo, JoinsRowsThatATerminalWrappedInsideOfAnyWord) {
  const std::string row0 = "GPU0     X      NV12    NODE    SYS     0-15,32-47      0               N/A";
  const std::string others =
      "GPU1    NV12     X      NODE    SYS     0-15,32-47      0               N/A\n"
      "GPU2    NODE    NODE     X      PXB     0-15,32-47      0               N/A\n"
      "NIC0    SYS     SYS     PXB      X\n";
  const std::string header =
      "        GPU0    GPU1    GPU2    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID\n";
  for (std::size_t at = row0.find('X') + 1; at < row0.size(); ++at) {
    const std::string text = header + row0.substr(0, at) + "\n" + row0.substr(at) + "\n" + others;
    SCOPED_TRACE(text);
    const TopoMatrix matrix = only_matrix(text);
    ASSERT_EQ(names(matrix), "GPU0 GPU1 GPU2 NIC0");
    EXPECT_EQ(row(matrix, 0), "X NV12 NODE SYS");
    EXPECT_EQ(row(matrix, 3), "SYS SYS PXB X");
    EXPECT_EQ(matrix.cores[0], "0-15,32-47");
    EXPECT_EQ(matrix.numa[0], 0);
  }
}

TEST(NvidiaSmiTopo, TakesTheOrderOfGpusForRowsThatAreMissing) {
  const std::string end = "GPU2 SYS SYS X PIX 16-31 1\nGPU3 SYS SYS PIX X 16-31 1\n";
  const TopoMatrix matrix = only_matrix(end);
  EXPECT_EQ(names(matrix), "GPU0 GPU1 GPU2 GPU3");
  EXPECT_EQ(row(matrix, 0), "X ? SYS SYS") << "distances hold both ways, but GPU0 to GPU1 stands nowhere";
  EXPECT_EQ(row(matrix, 3), "SYS SYS PIX X");
  EXPECT_EQ(matrix.numa, (std::vector<std::optional<int>>{std::nullopt, std::nullopt, 1, 1}));
  EXPECT_TRUE(contains(notes(facts_of(end)),
                       "box.txt:1: the matrix of `nvidia-smi topo -m` lacks the rows of GPU0, "
                       "GPU1: 1 unknown distances; mend: "));
}

TEST(NvidiaSmiTopo, LeavesOutColumnsThatNothingNames) {
  const std::string begin = "GPU0 X PIX SYS SYS\nGPU1 PIX X SYS SYS\n";
  EXPECT_EQ(names(only_matrix(begin)), "GPU0 GPU1") << "the others may be GPUs or adapters";
  EXPECT_TRUE(contains(notes(facts_of(begin)), "has 2 columns that neither a header nor a row names"));
  EXPECT_EQ(names(only_matrix("\tGPU0\tGPU1\tGPU2\tNIC0\n" + begin)), "GPU0 GPU1 GPU2 NIC0");
}

TEST(NvidiaSmiTopo, KeepsWhatItCanReadOfARowWithFaultyCells) {
  const TopoMatrix matrix =
      only_matrix("\tGPU0\tGPU1\tGPU2\nGPU0\t X \tERR!\tPIX\nGPU1\tN/A\t X \tSYS\nGPU2\tPIX\tSYS\t X \n");
  EXPECT_EQ(row(matrix, 0), "X ? PIX");
  EXPECT_EQ(row(matrix, 1), "? X SYS");
}

TEST(NvidiaSmiTopo, NotesDistancesThatDifferEachWay) {
  EXPECT_TRUE(
      contains(notes(facts_of("GPU0 X PIX 0-7\nGPU1 SYS X 0-7\n")), "two distances for GPU0 and GPU1"));
}

TEST(NvidiaSmiTopo, ReadsSeveralMatricesOfOneText) {
  const std::string second = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n";
  const MachineFacts with_headers = facts_of(three_gpus + second);
  ASSERT_EQ(with_headers.matrices.size(), 2U);
  EXPECT_EQ(names(with_headers.matrices[1]), "GPU0 GPU1");
  EXPECT_EQ(with_headers.matrices[1].from, "box.txt:16 (nvidia-smi topo -m)");
  EXPECT_EQ(with_headers.matrices[0].adapters.size(), 1U);
  EXPECT_TRUE(with_headers.matrices[1].adapters.empty());
  EXPECT_EQ(facts_of("GPU0 X PIX\nGPU1 PIX X\nGPU0 X SYS\nGPU1 SYS X\n").matrices.size(), 2U);
}

TEST(NvidiaSmiTopo, TakesNothingFromTextsOfOtherKinds) {
  const std::vector<std::string> others{
      "\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n",
      "       GPU0         GPU1\nGPU0   0            15\nGPU1   15           0\n",
      "       GPU0         GPU1\nGPU0   0            XGMI\nGPU1   XGMI         0\n",
      "GPU0 X is what I see, GPU1 too\n",
      "GPU0 X\n",
      "GPU 0: Example Accelerator (UUID: GPU-0)\n",
      "  X    = Self\n  PIX  = Connection traversing at most a single PCIe bridge\n",
      "NIC0 PIX X\nNIC1 X PIX\n",
  };
  for (const std::string& text : others) {
    EXPECT_TRUE(facts_of(text).matrices.empty()) << text;
  }
}

TEST(NvidiaSmiTopo, NeverStatesAFalseCellWhereTheTextIsCut) {
  const std::string text =
      "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV12\tSYS\tPXB\t0-15\t10\n"
      "GPU1\tNV12\t X \tSYS\tPXB\t0-15\t10\n"
      "GPU2\tSYS\tSYS\t X \tNODE\t16-31\t11\n"
      "NIC0\tPXB\tPXB\tNODE\t X \t\t\n";
  const TopoMatrix whole = only_matrix(text);
  for (std::size_t length = 0; length < text.size(); ++length) {
    for (const TopoMatrix& cut : facts_of(text.substr(0, length)).matrices) {
      for (std::size_t i = 0; i < cut.names.size(); ++i) {
        SCOPED_TRACE("cut at " + std::to_string(length) + ", row " + std::to_string(i));
        EXPECT_EQ(cut.names[i], whole.names.at(i));
        EXPECT_TRUE(cut.cores[i].empty() || cut.cores[i] == whole.cores[i]) << cut.cores[i];
        for (std::size_t j = 0; j < cut.names.size(); ++j) {
          if (!cut.cells[i][j].distance) continue;
          EXPECT_EQ(cut.cells[i][j].distance, whole.cells[i][j].distance);
          EXPECT_EQ(cut.cells[i][j].nvlinks, whole.cells[i][j].nvlinks);
        }
      }
    }
  }
}

TEST(NvidiaSmiTopo, BoundsDevicesAndMatrices) {
  std::string wide = "GPU0 X";
  for (int i = 1; i < 200; ++i) wide += " SYS";
  const MachineFacts too_wide = facts_of(wide + "\n");
  EXPECT_TRUE(too_wide.matrices.empty());
  EXPECT_TRUE(contains(notes(too_wide), "more than 128 devices")) << notes(too_wide);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n";
  const MachineFacts too_many = facts_of(many);
  EXPECT_EQ(too_many.matrices.size(), 64U);
  EXPECT_TRUE(contains(notes(too_many), "only the first 64 matrices"));
}

}  // namespace
}  // namespace lanecast
