#include <gtest/gtest.h>

#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nccl_graph(text, "graph.xml", facts);
  return facts;
}

std::string channel(const std::vector<std::string>& devices) {
  std::string text = "<channel>";
  for (const std::string& device : devices) text += "<gpu dev=\"" + device + "\"/>";
  return text + "</channel>\n";
}

std::string graphs(const std::string& ring_channels, int count) {
  return "<graphs version=\"1\">\n<graph id=\"1\" pattern=\"3\" nchannels=\"1\">" +
         channel({"3", "2", "1", "0"}) + "</graph>\n<graph id=\"0\" pattern=\"4\" nchannels=\"" +
         std::to_string(count) + "\" speedintra=\"12\">\n" + ring_channels + "</graph></graphs>";
}

using Ring = std::vector<int>;

TEST(NcclGraph, GraphZeroIsTheRing) {
  const MachineFacts facts =
      facts_of(graphs(channel({"0", "2", "3", "1"}) + channel({"0", "2", "3", "1"}), 2));
  EXPECT_EQ(only(facts.nccl.ring), (Ring{0, 2, 3, 1}));
  EXPECT_EQ(facts.nccl.ring.all().front().from, "graph.xml:5 (channel)");
  EXPECT_EQ(only(facts.nccl.search_channels), 2);
  EXPECT_TRUE(facts.nccl.channels.empty()) << "NCCL runs twice as many as its search finds";
  EXPECT_TRUE(facts.notes.empty());
}

TEST(NcclGraph, GpuNumbersMayBeHexadecimal) {
  EXPECT_EQ(only(facts_of(graphs(channel({"0x0", "0xa", "0x4"}), 1)).nccl.ring), (Ring{0, 10, 4}));
}

TEST(NcclGraph, NumbersOfSeveralComputersAreNoRing) {
  const MachineFacts facts = facts_of(graphs(channel({"0x0", "0x100000000000000"}), 1));
  EXPECT_TRUE(facts.nccl.ring.empty());
  EXPECT_TRUE(noted(facts, "GPUs of several computers"));
}

TEST(NcclGraph, OtherOrdersOnOtherChannelsAreNoted) {
  const MachineFacts facts = facts_of(graphs(channel({"0", "1", "2"}) + channel({"0", "2", "1"}), 2));
  EXPECT_EQ(only(facts.nccl.ring), (Ring{0, 1, 2}));
  EXPECT_TRUE(noted(facts, "graph.xml:6: this channel takes the GPUs in another order"));
}

TEST(NcclGraph, UnreadableChannelsAreNoRing) {
  EXPECT_TRUE(noted(facts_of(graphs(channel({}), 1)), "the channel holds no GPU"));
  EXPECT_TRUE(noted(facts_of(graphs(channel({"first"}), 1)), "a GPU number `first`"));
  EXPECT_TRUE(facts_of(graphs(channel({"0", "-1"}), 1)).nccl.ring.empty());
}

TEST(NcclGraph, OtherXmlIsRefused) {
  EXPECT_NE(refusal([] { facts_of("<system version=\"1\"/>"); }).find("<graphs>"), std::string::npos);
}

TEST(NcclGraph, CutAnywhereItGivesTheWholeRingOrNone) {
  const std::string whole = graphs(channel({"0", "2", "3", "1"}) + channel({"0", "2", "3", "1"}), 2);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    MachineFacts part;
    if (!refusal([&] { read_nccl_graph(whole.substr(0, length), "graph.xml", part); }).empty()) continue;
    EXPECT_EQ(only(part.nccl.ring).value_or(Ring{0, 2, 3, 1}), (Ring{0, 2, 3, 1})) << length;
    EXPECT_FALSE(noted(part, "another order")) << length;
  }
}

TEST(RealNcclGraph, OfOneGpu) {
  const auto text = shared_dump("cases/raw/from-fetch/nccl-graph-a100-1gpu.xml");
  if (!text) GTEST_SKIP() << "no shared dumps";
  MachineFacts facts;
  EXPECT_EQ(read_nccl_graph(*text, "graph.xml", facts), 5);
  EXPECT_EQ(only(facts.nccl.ring), Ring{4});
  EXPECT_EQ(only(facts.nccl.search_channels), 16);
  EXPECT_TRUE(facts.notes.empty());
}

}  // namespace
}  // namespace lanecast
