#include "reports/nccl_tuning.hpp"

#include <gtest/gtest.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "configs/dumps/readers.hpp"
#include "tests/configs/refusal.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using Orders = std::vector<std::vector<int>>;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// Fields of the lines that the plugin reads as rows: neither `#` nor empty, each line at most 255 bytes with
/// its end.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(csv, '\n')) {
    EXPECT_LT(line.size() + 1, 256u) << line;
    if (!line.empty() && line[0] != '#') rows.push_back(split(line, ','));
  }
  return rows;
}

NcclTunerRow row(Collective collective, std::uint64_t from, std::uint64_t to, Protocol protocol,
                 int channels) {
  return {.collective = collective,
          .from = Bytes(from),
          .to = Bytes(to),
          .algorithm = Algorithm::ring,
          .protocol = protocol,
          .channels = channels};
}

TEST(NcclTunerFile, HasTheFieldsThatThePluginReads) {
  NcclTunerRow tree = row(Collective::all_gather, 65537, ~std::uint64_t{0}, Protocol::simple, 16);
  tree.algorithm = Algorithm::tree;
  tree.nodes = 1;
  tree.ranks = 8;
  EXPECT_EQ(nccl_tuner_csv({row(Collective::all_reduce, 0, 65536, Protocol::ll, 2), tree}, {"of a box"}),
            "# of a box\n"
            "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
            "allreduce,0,65536,ring,ll,2,-1,-1\n"
            "allgather,65537,18446744073709551615,tree,simple,16,1,8\n");
}

TEST(NcclTunerFile, EveryCollectiveAndProtocolHasTheNameThatThePluginKnows) {
  const std::map<Collective, std::string> collectives = {{Collective::all_reduce, "allreduce"},
                                                         {Collective::reduce_scatter, "reducescatter"},
                                                         {Collective::all_gather, "allgather"},
                                                         {Collective::broadcast, "broadcast"},
                                                         {Collective::reduce, "reduce"}};
  const std::map<Protocol, std::string> protocols = {
      {Protocol::simple, "simple"}, {Protocol::ll, "ll"}, {Protocol::ll128, "ll128"}};
  for (const auto& [collective, name] : collectives) {
    for (const auto& [protocol, wire] : protocols) {
      const auto rows = rows_of(nccl_tuner_csv({row(collective, 1, 2, protocol, 3)}, {}));
      ASSERT_EQ(rows.size(), 1u);
      EXPECT_GE(rows[0].size(), 8u);
      EXPECT_LE(rows[0].size(), 10u);
      EXPECT_EQ(rows[0][0], name);
      EXPECT_EQ(rows[0][4], wire);
      EXPECT_EQ(rows[0][5], "3");
    }
  }
}

TEST(NcclTunerFile, CommentsNeverTurnIntoRows) {
  const std::string csv =
      nccl_tuner_csv({row(Collective::reduce, 0, 1, Protocol::ll, 1)},
                     {"one\nallreduce,0,9,ring,ll,1,-1,-1\r", std::string(2000, 'x'), "",
                      "words " + std::string(240, 'y') + " allreduce,0,9,ring,ll,1,-1,-1"});
  EXPECT_EQ(rows_of(csv).size(), 1u) << csv;
}

TEST(NcclTunerFile, RowsThatCouldNotBeMeantAreRefused) {
  const auto refusal_of = [](const NcclTunerRow& bad) {
    return refusal([&] { nccl_tuner_csv({row(Collective::reduce, 0, 1, Protocol::ll, 1), bad}, {}); });
  };
  NcclTunerRow bad = row(Collective::reduce, 8, 9, Protocol::ll, -1);
  EXPECT_NE(refusal_of(bad).find("-1 channels"), std::string::npos);
  EXPECT_NE(refusal_of(bad).find("row 2"), std::string::npos);
  bad.channels = 0;
  EXPECT_NE(refusal_of(bad), "");
  bad.channels = 1;
  EXPECT_EQ(refusal_of(bad), "");
  bad.to = Bytes(7);
  EXPECT_NE(refusal_of(bad).find("8 to 7 B"), std::string::npos);
  bad.to = bad.from;
  EXPECT_EQ(refusal_of(bad), "") << "both ends are inclusive";
  bad.ranks = 0;
  EXPECT_NE(refusal_of(bad).find("0 ranks"), std::string::npos);
  bad.ranks = 2;
  bad.nodes = -2;
  EXPECT_NE(refusal_of(bad).find("-2 nodes"), std::string::npos);
  bad.nodes = 1;
  bad.algorithm = Algorithm::one_shot;
  EXPECT_NE(refusal_of(bad).find("no algorithm `one_shot`"), std::string::npos);
  bad.algorithm = Algorithm::nvls;
  EXPECT_EQ(refusal_of(bad), "");
}

/// A search's result as for four GPUs of two switches.
NcclSetup small_setup() {
  NcclSetup setup;
  setup.ring = {.pattern = GraphPattern::ring,
                .channels = 2,
                .speed_intra = 20,
                .type_intra = PathType::phb,
                .orders = {{0, 1, 3, 2}, {0, 1, 3, 2}}};
  setup.tree = {.pattern = GraphPattern::tree,
                .channels = 2,
                .speed_intra = 12,
                .type_intra = PathType::sys,
                .orders = {}};
  return setup;
}

TEST(NcclGraphFile, HasTheFormThatNcclReads) {
  EXPECT_EQ(nccl_graph_xml(small_setup(), {{3, 0, 1}}, {0, 1, 3}), R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" speedinter="20" latencyinter="0" typeintra="PHB" typeinter="PIX" samechannels="1">
    <channel>
      <gpu dev="0x2"/>
      <gpu dev="0x0"/>
      <gpu dev="0x1"/>
    </channel>
  </graph>
  <graph id="1" pattern="3" crossnic="0" nchannels="1" speedintra="12" speedinter="12" latencyinter="0" typeintra="SYS" typeinter="PIX" samechannels="1">
    <channel>
      <gpu dev="0x2"/>
      <gpu dev="0x0"/>
      <gpu dev="0x1"/>
    </channel>
  </graph>
</graphs>
)") << "GPU 2 is gone: GPU 3 is NCCL's number 2";
}

pugi::xml_node graph_of(const pugi::xml_document& document, const char* id) {
  return document.child("graphs").find_child_by_attribute("graph", "id", id);
}

Orders orders_in(const pugi::xml_node& graph) {
  Orders orders;
  for (const pugi::xml_node channel : graph.children("channel")) {
    orders.emplace_back();
    for (const pugi::xml_node gpu : channel.children("gpu"))
      orders.back().push_back(std::stoi(gpu.attribute("dev").value(), nullptr, 16));
  }
  return orders;
}

TEST(NcclGraphFile, TreesTakeTheRingsOrdersAsChains) {
  const Orders orders = {{0, 1, 2, 3}, {0, 2, 1, 3}, {3, 2, 1, 0}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(nccl_graph_xml(small_setup(), orders, {0, 1, 2, 3}).c_str()));
  for (const char* id : {"0", "1"}) {
    EXPECT_EQ(orders_in(graph_of(document, id)), orders);
    EXPECT_EQ(graph_of(document, id).attribute("nchannels").as_int(), 3);
    EXPECT_EQ(graph_of(document, id).attribute("samechannels").as_int(), 0);
  }
}

TEST(NcclGraphFile, MoreChannelsShareWhatTheSearchFound) {
  const auto speed = [](std::size_t channels) {
    pugi::xml_document document;
    document.load_string(nccl_graph_xml(small_setup(), Orders(channels, {0, 1}), {0, 1}).c_str());
    return graph_of(document, "0").attribute("speedintra").as_double();
  };
  EXPECT_EQ(speed(1), 20) << "no channel is faster than the search's";
  EXPECT_EQ(speed(2), 20);
  EXPECT_EQ(speed(8), 2 * 20 / 8.0);
}

TEST(NcclGraphFile, TheSearchsOwnOrdersKeepItsWordOnEqualChannels) {
  NcclSetup setup = small_setup();
  setup.ring.same_channels = false;  // found while others were allowed
  const auto same = [&](const Orders& orders) {
    pugi::xml_document document;
    document.load_string(nccl_graph_xml(setup, orders, {0, 1, 2, 3}).c_str());
    return graph_of(document, "0").attribute("samechannels").as_int();
  };
  EXPECT_EQ(same(setup.ring.orders), 0);
  EXPECT_EQ(same(Orders(2, {0, 1, 2, 3})), 1);
}

TEST(NcclGraphFile, GpusAreNumberedInHexadecimal) {
  std::vector<int> present(12);
  for (int i = 0; i < 12; ++i) present[static_cast<std::size_t>(i)] = i;
  const std::string xml = nccl_graph_xml(small_setup(), {present}, present);
  EXPECT_NE(xml.find("<gpu dev=\"0xb\"/>"), std::string::npos) << xml;
  EXPECT_EQ(xml.find("\"10\""), std::string::npos) << "NCCL would read 16";
}

TEST(NcclGraphFile, NothingInItBreaksNcclsParser) {
  const std::string xml = nccl_graph_xml(small_setup(), Orders(32, {0, 1, 2, 3}), {0, 1, 2, 3});
  EXPECT_EQ(xml.rfind("<graphs version=\"1\">", 0), 0u) << "it knows no declaration";
  EXPECT_EQ(xml.find(" />"), std::string::npos) << "it takes what follows a blank for an attribute";
  EXPECT_EQ(xml.find('\t'), std::string::npos);
  for (const std::string& line : split(xml, '\n')) EXPECT_LT(line.size(), 255u);
}

TEST(NcclGraphFile, ClassesOfPathThatTheFilesLackBecomeTheNextFartherOne) {
  const auto type = [](PathType found) {
    NcclSetup setup = small_setup();
    setup.ring.type_intra = found;
    pugi::xml_document document;
    document.load_string(nccl_graph_xml(setup, {{0, 1}}, {0, 1}).c_str());
    return std::string(graph_of(document, "0").attribute("typeintra").value());
  };
  EXPECT_EQ(type(PathType::loc), "LOC");
  EXPECT_EQ(type(PathType::nvl), "NVL");
  EXPECT_EQ(type(PathType::c2c), "PIX");
  EXPECT_EQ(type(PathType::p2c), "PXN");
  EXPECT_NE(refusal([&] { type(PathType::net); }).find("class NET"), std::string::npos);
}

TEST(NcclGraphFile, TheFallbacksSpeedIsWrittenAsItIs) {
  NcclSetup setup = small_setup();
  setup.ring = {
      .channels = 1, .speed_intra = 0.1, .type_intra = PathType::sys, .fallback = true, .orders = {}};
  const std::string xml = nccl_graph_xml(setup, {{0, 1}}, {0, 1});
  EXPECT_NE(xml.find("speedintra=\"0.1\" speedinter=\"0.1\" latencyinter=\"0\" typeintra=\"SYS\" "
                     "typeinter=\"SYS\""),
            std::string::npos)
      << xml;
}

TEST(NcclGraphFile, OrdersThatNcclCouldNotTakeAreRefused) {
  const auto refusal_of = [](const Orders& orders, const std::vector<int>& present) {
    return refusal([&] { nccl_graph_xml(small_setup(), orders, present); });
  };
  EXPECT_NE(refusal_of({}, {0, 1}).find("there is no order"), std::string::npos);
  EXPECT_NE(refusal_of({{}}, {0, 1}).find("there is no order"), std::string::npos);
  EXPECT_NE(refusal_of({{0, 2}}, {0, 1}).find("GPU 2, which is not present"), std::string::npos);
  EXPECT_NE(refusal_of({{0, 0}}, {0, 1}), "");
  EXPECT_NE(refusal_of({{0, 1}, {0}}, {0, 1}).find("channel 1 does not go once"), std::string::npos);
  EXPECT_NE(refusal_of({{0, 1}, {0, 2}}, {0, 1, 2}).find("channel 1 does not go once"), std::string::npos);
  EXPECT_NE(refusal_of(Orders(33, {0, 1}), {0, 1}).find("33 search channels"), std::string::npos);
  EXPECT_EQ(refusal_of({{1}}, {0, 1}), "") << "fewer GPUs than the machine has";
  std::vector<int> many(64);
  for (int i = 0; i < 64; ++i) many[static_cast<std::size_t>(i)] = i;
  EXPECT_NE(refusal_of(Orders(32, many), many).find("4163 elements"), std::string::npos)
      << "3 + 2 x 32 x (1 + 64)";
}

TEST(NcclGraphFile, ASetupWithoutASearchIsRefused) {
  NcclSetup setup = small_setup();
  setup.tree = {};
  EXPECT_NE(refusal([&] {
              nccl_graph_xml(setup, {{0, 1}}, {0, 1});
            }).find("graph 1 has no channels"),
            std::string::npos);
}

template <class T>
std::optional<T> only(const Statements<T>& statements) {
  return statements.all().size() == 1 ? std::optional(statements.all().front().value) : std::nullopt;
}

TEST(NcclGraphFile, ImportAfterExportGivesTheSearchsOrdersAndChannels) {
  Implementation nccl;
  for (const Machine& machine : {support::one_switch(4), support::two_switches(2), support::own_roots(3),
                                 support::two_sockets(2), support::nvlink_pair(), support::cube_mesh()}) {
    SCOPED_TRACE(machine.name);
    std::vector<int> present;
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) present.push_back(static_cast<int>(i));
    const CommunicatorSetup communicator = open_communicator(machine, nccl, Call{});
    ASSERT_TRUE(communicator.nccl);
    const NcclGraph& ring = communicator.nccl->ring;
    const std::string xml = nccl_graph_xml(*communicator.nccl, ring.orders, present);
    MachineFacts facts;
    EXPECT_EQ(read_nccl_graph(xml, "graph.xml", facts), 2);
    EXPECT_EQ(only(facts.nccl.search_channels), ring.channels);
    EXPECT_EQ(only(facts.nccl.ring), ring.orders.front());
    const bool different = ring.orders != Orders(ring.orders.size(), ring.orders.front());
    EXPECT_EQ(facts.notes.empty(), !different) << "the reader shows one order and says so";
    pugi::xml_document document;
    ASSERT_TRUE(document.load_string(xml.c_str()));
    EXPECT_EQ(orders_in(graph_of(document, "0")), ring.orders);
    EXPECT_NEAR(graph_of(document, "0").attribute("speedintra").as_double(), ring.speed_intra,
                1e-5 * ring.speed_intra)
        << "six digits, as NCCL writes them";
    EXPECT_EQ(graph_of(document, "1").attribute("pattern").as_int(),
              static_cast<int>(communicator.nccl->tree.pattern));
  }
}

TEST(NcclEnvironmentFile, IsWhatAShellSources) {
  EXPECT_EQ(nccl_environment_text({{"NCCL_MIN_NCHANNELS", "8", "eight channels fill the link"},
                                   {"NCCL_GRAPH_FILE", "/data/a b/nccl_graph.xml", ""}},
                                  {"for a box"}),
            "# for a box\n"
            "\n# eight channels fill the link\nexport NCCL_MIN_NCHANNELS=8\n"
            "\nexport NCCL_GRAPH_FILE='/data/a b/nccl_graph.xml'\n");
}

TEST(NcclEnvironmentFile, ValuesAreQuotedWhereAShellWouldChangeThem) {
  const auto value = [](const std::string& given) {
    const std::string text = nccl_environment_text({{"NCCL_X", given, ""}}, {});
    const std::string before = "\nexport NCCL_X=";
    EXPECT_EQ(text.rfind(before, 0), 0u);
    return text.substr(before.size());
  };
  EXPECT_EQ(value("allreduce:ring,tree"), "allreduce:ring,tree\n");
  EXPECT_EQ(value("=eth0"), "=eth0\n");
  EXPECT_EQ(value(""), "''\n");
  EXPECT_EQ(value("^Ring"), "'^Ring'\n");
  EXPECT_EQ(value("ring;allreduce:tree"), "'ring;allreduce:tree'\n");
  EXPECT_EQ(value("$(id) `id` \\ \" ~ * # !"), "'$(id) `id` \\ \" ~ * # !'\n");
  EXPECT_EQ(value("it's"), "'it'\\''s'\n");
  EXPECT_EQ(value("two\nlines"), "'two\nlines'\n");
}

TEST(NcclEnvironmentFile, ReasonsStayComments) {
  const std::string text = nccl_environment_text({{"NCCL_X", "1", "one\nexport NCCL_X=2\r"}}, {"a\nb"});
  EXPECT_EQ(text, "# a\n# b\n\n# one\n# export NCCL_X=2?\nexport NCCL_X=1\n");
}

TEST(NcclEnvironmentFile, NamesThatNoShellTakesAreRefused) {
  for (const std::string name : {"", "NCCL-X", "1NCCL", "NCCL_X=1;", "nccl_x", "NCCL X"}) {
    EXPECT_NE(refusal([&] {
                nccl_environment_text({{name, "1", ""}}, {});
              }).find("for a variable's name"),
              std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace lanecast
