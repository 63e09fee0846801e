#include "reports/topology_dot.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "configs/shipped.hpp"
#include "reports/safe_text.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/reports/lines.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::link_named;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TopologyDot, ClustersCpusAndLabelsLinksWithWhatTheyDo) {
  const std::string dot = topology_dot(support::two_sockets(1));
  EXPECT_TRUE(has(dot, "subgraph cluster_cpu0 {")) << dot;
  EXPECT_TRUE(has(dot, "subgraph cluster_cpu1 {")) << dot;
  EXPECT_TRUE(has(dot, "  root0 -- gpu0 [label=\"Gen4 x16\"];\n")) << dot;
  EXPECT_TRUE(has(dot, "  cpu0 -- cpu1 [label=\"upi0\\n20 GB/s\", style=bold, constraint=false];\n")) << dot;
}

TEST(TopologyDot, ADegradedLinkIsMarkedByLineColourAndWords) {
  Machine machine = support::one_switch(2);
  Link& link = link_named(machine, "uplink0");
  link.rate = PcieRate::gen2;
  const std::string dot = topology_dot(machine);
  EXPECT_TRUE(
      has(dot, "root0 -- switch0 [label=\"Gen2 x16\\ncan Gen4 x16\", color=red, fontcolor=red, style=dashed"))
      << dot;
  EXPECT_EQ(dot.find("dashed"), dot.rfind("dashed")) << "only that one";
}

TEST(TopologyDot, CardsThatAreGoneAndNvlinksShow) {
  Machine machine = support::own_roots(2);
  machine.gpus[1].present = false;
  support::add_nvlink(machine, {NodeKind::gpu, 0}, {NodeKind::gpu, 1}, 4);
  const std::string dot = topology_dot(machine);
  EXPECT_TRUE(has(dot, "\\ngone\", shape=box, style=dashed")) << dot;
  EXPECT_TRUE(has(dot, "  gpu0 -- gpu1 [label=\"NV4\", color=darkgreen")) << dot;
}

TEST(TopologyDot, NamesCannotEndTheStringsTheyStandIn) {
  Machine machine = support::one_root(1);
  machine.gpus[0].model = "say \"hi\" \\ and\nbye";
  EXPECT_TRUE(has(topology_dot(machine), "say \\\"hi\\\" \\\\ and?bye"));
}

/// Graphviz' exit code for a text. @param output  "svg" draws it, "canon" only reads it
int exit_of_dot(const std::string& text, const std::string& output) {
  const std::string path = testing::TempDir() + "/lanecast_topology_dot_test.dot";
  std::ofstream(path) << text;
  const int status =
      std::system(("dot -T" + output + " -o /dev/null '" + path + "' > /dev/null 2>&1").c_str());
  std::remove(path.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TopologyDot, GraphvizDrawsShippedAndRandomMachines) {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) GTEST_SKIP() << "Graphviz' dot is not installed";
  for (const std::string& name : shipped_machines()) {
    EXPECT_EQ(exit_of_dot(topology_dot(load_machine(name)), "canon"), 0) << name;
  }
  EXPECT_EQ(exit_of_dot(topology_dot(load_machine("dgx1-v100")), "svg"), 0);
  EXPECT_NE(exit_of_dot("graph {", "canon"), 0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(exit_of_dot(topology_dot(random_machine(seed)), "canon"), 0) << "seed " << seed;
  }
}

TEST(TopologyDotProperty, BracesAndQuotesAreBalancedAndEachLinkIsAnEdge) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = random_machine(seed);
    std::size_t edges = 0;
    int depth = 0;
    for (const std::string& line : lines_of(topology_dot(machine))) {
      EXPECT_EQ(safe_text(line), line) << "seed " << seed;
      edges += has(line, " -- ") ? 1 : 0;
      bool quoted = false, escaped = false;
      for (const char c : line) {
        if (!quoted && c == '{') ++depth;
        if (!quoted && c == '}') --depth;
        if (c == '"' && !escaped) quoted = !quoted;
        escaped = c == '\\' && !escaped;
      }
      EXPECT_FALSE(quoted) << "seed " << seed << ": " << line;
    }
    EXPECT_EQ(depth, 0) << "seed " << seed;
    EXPECT_EQ(edges, machine.links.size() + machine.roots.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
