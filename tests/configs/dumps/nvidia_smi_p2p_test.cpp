#include <gtest/gtest.h>

#include <string>

#include "configs/dumps/readers.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_p2p(text, "box.txt", facts);
  return facts;
}

/// "1" granted, "0" refused, "-" not stated.
std::string access(const MachineFacts& facts, int from, int to) {
  const auto found = facts.numbered_peer_access.find({from, to});
  if (found == facts.numbered_peer_access.end()) return "-";
  return found->second.value ? "1" : "0";
}

/// A matrix of two GPUs as driver 580 prints it, with the legend.
std::string matrix(const std::string& capability, const std::string& forth, const std::string& back) {
  return "$ nvidia-smi topo -p2p " + capability + "\n \t\x1b[4mGPU0\tGPU1\t\x1b[0m\n GPU0\tX\t" + forth +
         "\t\n GPU1\t" + back +
         "\tX\t\n\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n"
         "  NS   = Not supported\n  U    = Unknown\n";
}

TEST(NvidiaSmiP2p, ReadsAndWritesArePeerAccess) {
  for (const char* capability : {"r", "w", "rw"}) {
    const MachineFacts facts = facts_of(matrix(capability, "OK", "CNS"));
    EXPECT_EQ(access(facts, 0, 1), "1");
    EXPECT_EQ(access(facts, 1, 0), "0") << "each direction has its own cell";
    EXPECT_EQ(access(facts, 0, 0), "-");
    EXPECT_TRUE(facts.notes.empty());
  }
  EXPECT_EQ(facts_of(matrix("w", "OK", "OK")).numbered_peer_access.at({0, 1}).from,
            "box.txt:2 (nvidia-smi topo -p2p w)");
}

TEST(NvidiaSmiP2p, EveryNamedCauseIsARefusalAndUnknownIsNone) {
  for (const char* status : {"CNS", "GNS", "TNS", "DR", "NS"}) {
    EXPECT_EQ(access(facts_of(matrix("r", status, status)), 0, 1), "0") << status;
  }
  EXPECT_EQ(access(facts_of(matrix("r", "U", "U")), 0, 1), "-");
}

TEST(NvidiaSmiP2p, NvlinkAtomicsAndProprietaryWaysAreNotTakenForPeerAccess) {
  for (const char* capability : {"n", "a", "p"}) {
    MachineFacts facts;
    EXPECT_EQ(read_nvidia_smi_p2p(matrix(capability, "NS", "OK"), "box.txt", facts), 2)
        << "the kind is known";
    EXPECT_TRUE(facts.numbered_peer_access.empty());
    ASSERT_EQ(facts.notes.size(), 1U);
    EXPECT_NE(facts.notes[0].find("does not tell who may access whose memory; mend: "), std::string::npos);
  }
}

TEST(NvidiaSmiP2p, EachMatrixHasTheCommandAboveIt) {
  const MachineFacts facts =
      facts_of(matrix("n", "NS", "NS") + matrix("r", "OK", "OK") + matrix("p", "NS", "NS"));
  EXPECT_EQ(access(facts, 0, 1), "1");
  EXPECT_EQ(access(facts, 1, 0), "1");
}

TEST(NvidiaSmiP2p, AccessNeedsReadsAndWrites) {
  EXPECT_EQ(access(facts_of(matrix("r", "OK", "OK") + matrix("w", "CNS", "OK")), 0, 1), "0");
  EXPECT_EQ(access(facts_of(matrix("w", "CNS", "OK") + matrix("r", "OK", "OK")), 0, 1), "0");
}

TEST(NvidiaSmiP2p, WithoutItsCommandOnlyWhatHoldsForEveryCapabilityIsTaken) {
  const MachineFacts facts =
      facts_of("\tGPU0\tGPU1\tGPU2\nGPU0\tX\tOK\tNS\nGPU1\tCNS\tX\tNS\nGPU2\tNS\tGNS\tX\n");
  EXPECT_EQ(access(facts, 0, 1), "1");
  EXPECT_EQ(access(facts, 1, 0), "0");
  EXPECT_EQ(access(facts, 0, 2), "-") << "NS may speak of NVLink";
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("without its command line"), std::string::npos);
}

TEST(NvidiaSmiP2p, ReadsAHeadingThatNamesTheCommand) {
  const MachineFacts facts =
      facts_of("<summary>GPU peer access (topo -p2p rw)</summary>\n\n```\nGPU0 X NS\nGPU1 NS X\n```\n");
  EXPECT_EQ(access(facts, 0, 1), "0");
}

TEST(NvidiaSmiP2p, KeepsGpusApartBeyondNine) {
  std::string text = "nvidia-smi topo -p2p r\n";
  for (int i = 0; i < 11; ++i) {
    text += "GPU" + std::to_string(i);
    for (int j = 0; j < 11; ++j) text += i == j ? " X" : (i == 10 ? " TNS" : " OK");
    text += "\n";
  }
  const MachineFacts facts = facts_of(text);
  EXPECT_EQ(facts.numbered_peer_access.size(), 110U);
  EXPECT_EQ(access(facts, 10, 1), "0");
  EXPECT_EQ(access(facts, 1, 10), "1");
}

TEST(NvidiaSmiP2p, TakesNothingFromAMatrixOfDistances) {
  MachineFacts facts;
  EXPECT_EQ(read_nvidia_smi_p2p("\tGPU0\tGPU1\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n", "box.txt", facts),
            0);
  EXPECT_TRUE(facts.numbered_peer_access.empty());
}

TEST(NvidiaSmiP2p, NeverStatesWhatACutTextDoesNotSay) {
  const std::string text = matrix("r", "CNS", "OK");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const MachineFacts facts = facts_of(text.substr(0, length));
    EXPECT_NE(access(facts, 0, 1), "1") << length;
    EXPECT_NE(access(facts, 1, 0), "0") << length;
  }
}

}  // namespace
}  // namespace lanecast
