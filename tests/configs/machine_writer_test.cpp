#include "configs/machine_writer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>

#include "configs/machine_fields.hpp"
#include "configs/machine_reader.hpp"
#include "tests/configs/random_machine.hpp"

namespace lanecast {
namespace {

/// Every field of every element as text, with the machine's own way to print exact values.
template <class T>
void append_values(const T& element, const NodeIndex& nodes, std::string& all) {
  for (const Field<T>& field : fields<T>()) {
    all +=
        field.info.section + "." + field.info.key + "=" + field.show(element, field.info.type, nodes) + "\n";
  }
}

std::string values_of(const Machine& machine) {
  const NodeIndex nodes(machine);
  std::string all;
  append_values(machine, nodes, all);
  for_each_list([&](const char*, auto member) {
    for (const auto& element : machine.*member) append_values(element, nodes, all);
  });
  append_values(machine.p2p, nodes, all);
  for (const std::string& assumption : machine.assumptions) all += assumption + "\n";
  for (const std::string& path : machine.assumed) all += path + "\n";
  return all;
}

TEST(MachineWriter, ReadingWhatIsWrittenGivesTheSameMachine) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Machine machine = random_machine(seed);
    const std::vector<MachineProblem> problems = check_machine(machine);
    ASSERT_TRUE(problems.empty()) << seed << " " << problems[0].path << ": " << problems[0].text;
    const std::string text = write_machine(machine);
    const Machine again = read_machine_text(text, "written.yaml");
    ASSERT_EQ(values_of(again), values_of(machine)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(write_machine(again), text) << "seed " << seed;
  }
}

/// A comment for every path that the machine has.
std::map<std::string, std::string> comments_everywhere(const Machine& machine, const std::string& comment) {
  std::map<std::string, std::string> comments;
  const auto add = [&](const std::string& path, const auto& element) {
    for (const auto& field : fields<std::decay_t<decltype(element)>>())
      comments[path + field.info.key] = comment;
  };
  add("", machine);
  for_each_list([&](const char* section, auto member) {
    for (const auto& element : machine.*member) add(section + ("." + element.name + "."), element);
  });
  add("p2p.", machine.p2p);
  return comments;
}

TEST(MachineWriter, CommentsBehindValuesDoNotChangeTheMachine) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine machine = random_machine(seed);
    for (const char* comment : {"box.txt:41 (LnkSta)", "a: \"b\" # 'c' {d", "two\nlines\t\x7f"}) {
      const std::string text = write_machine(machine, comments_everywhere(machine, comment));
      ASSERT_EQ(values_of(read_machine_text(text, "written.yaml")), values_of(machine)) << text;
    }
  }
}

TEST(MachineWriter, PutsEachCommentBehindItsValueAndWritesExplainedDefaults) {
  Machine machine;
  machine.name = "m";
  machine.cpus = {{"cpu0", "", "", 0, Cpu{}.memory_rate, ""}};
  machine.roots = {{"root0", 0, {}, {}, {}, ""}};
  const std::string text = write_machine(
      machine, {{"cpus.cpu0.memory_rate", "assumed: most servers"}, {"p2p.iommu", "box.txt:3"}});
  const auto in_column = [](std::string line, const char* comment) {
    line.resize(44, ' ');
    return line + "# " + comment + "\n";
  };
  EXPECT_NE(text.find("  - name: cpu0\n" + in_column("    memory_rate: 140 GB/s", "assumed: most servers")),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("p2p:\n" + in_column("  iommu: false", "box.txt:3")), std::string::npos) << text;
}

TEST(MachineWriter, LeavesOutWhatEqualsItsDefault) {
  Machine machine;
  machine.name = "m";
  machine.cpus = {{"cpu0", "", "", 0, Cpu{}.memory_rate, ""}};
  machine.roots = {{"root0", 0, {}, {}, {}, ""}};
  machine.gpus.resize(1);
  machine.gpus[0].name = "on";
  Link link;
  link.name = "gpu0";
  link.from = {NodeKind::root, 0};
  link.to = {NodeKind::gpu, 0};
  link.rate = link.max_rate = PcieRate::gen4;
  link.width = 8;
  machine.links = {link};
  EXPECT_EQ(write_machine(machine),
            "lanecast: 1\nmachine: m\ncpus:\n  - {name: cpu0}\nroots:\n  - {name: root0, cpu: cpu0}\n"
            "gpus:\n  - {name: \"on\"}\nlinks:\n"
            "  - {name: gpu0, from: root0, to: \"on\", rate: gen4, width: x8, max_width: x16}\n");
}

}  // namespace
}  // namespace lanecast
