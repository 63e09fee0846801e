#include <array>
#include <cstdio>
#include <map>
#include <random>

#include "tests/configs/dumps/lspci_support.hpp"

namespace lanecast {
namespace {

using namespace lspci_test;

std::string hex(unsigned number, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%0*x", digits, number);
  return text.data();
}

/// A random machine, printed as `lspci -tv` does, with the parent of each function beside it.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    const unsigned roots = 1 + pick(4);
    std::vector<std::vector<std::string>> blocks;
    for (unsigned root = 0; root < roots; ++root) {
      domain_ = pick(5) == 0 ? hex(0x10000 + root, 4) : hex(pick(3), 4);
      next_bus_ = 0x40 * root;
      const unsigned bus = next_bus_++;
      std::string head = "[" + domain_ + ":" + hex(bus, 2) + "]-";
      blocks.push_back(beside(head, functions_of(bus, "", 1 + pick(4), 0)));
    }
    for (const std::string& line : beside("-", branched(blocks, ""))) text += line + "\n";
  }

  std::string text;
  std::map<std::string, std::string> parents;

 private:
  using Lines = std::vector<std::string>;

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  /// A block of lines to the right of some text.
  static Lines beside(const std::string& left, Lines right) {
    for (std::size_t i = 0; i < right.size(); ++i) {
      right[i] = (i == 0 ? left : std::string(left.size(), ' ')) + right[i];
    }
    return right;
  }

  /// Several blocks below one another on a trunk; one alone follows `single`.
  static Lines branched(const std::vector<Lines>& blocks, const std::string& single) {
    if (blocks.empty()) return {""};
    if (blocks.size() == 1) return beside(single, blocks.front());
    Lines all;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool last = i + 1 == blocks.size();
      for (std::size_t line = 0; line < blocks[i].size(); ++line) {
        const char* const trunk = line == 0 ? (last ? "\\-" : "+-") : (last ? "  " : "| ");
        all.push_back(trunk + blocks[i][line]);
      }
    }
    return all;
  }

  Lines functions_of(unsigned bus, const std::string& parent, unsigned count, int depth) {
    std::vector<Lines> blocks;
    for (unsigned device = 0; device < count; ++device) {
      const std::string function = hex(2 * device + pick(2), 2) + "." + hex(pick(8), 1);
      const std::string address = domain_ + ":" + hex(bus, 2) + ":" + function;
      parents[address] = parent;
      if (depth < 5 && pick(2) == 0 && next_bus_ % 0x40 < 0x30) {
        blocks.push_back(bridge(function, address, depth));
      } else {
        blocks.push_back({function + name()});
      }
    }
    return branched(blocks, "--");
  }

  Lines bridge(const std::string& function, const std::string& address, int depth) {
    const unsigned first = next_bus_++;
    Lines below = functions_of(first, address, pick(4), depth + 1);
    const unsigned last = next_bus_ - 1;
    const std::string range = first == last ? hex(first, 2) : hex(first, 2) + "-" + hex(last, 2);
    return beside(function + "-[" + range + "]--", std::move(below));
  }

  std::string name() {
    constexpr std::array<const char*, 6> names{"",
                                               "  NVIDIA Corporation GA100 [A100 PCIe 80GB]",
                                               "  +-00.0-[01]--",
                                               "  | |\\-+-[0000:00]-+-00.0",
                                               "  -[00]-",
                                               "  Intel Corporation 01.0  02.0"};
    return names[pick(names.size())];
  }

  std::mt19937 random_;
  std::string domain_;
  unsigned next_bus_ = 0;
};

TEST(LspciTree, APrintedTreeComesBackWithTheSameParents) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const RandomTree tree(seed);
    const MachineFacts facts = tree_facts(tree.text);
    ASSERT_EQ(facts.devices.size(), tree.parents.size()) << "seed " << seed << "\n" << tree.text;
    for (const auto& [address, parent] : tree.parents) {
      ASSERT_EQ(only(at(facts, address).parent), parent) << address << ", seed " << seed << "\n" << tree.text;
    }
    EXPECT_TRUE(facts.notes.empty()) << "seed " << seed;
  }
}

TEST(LspciTree, WithLinesLostNoParentIsWrong) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const RandomTree tree(seed);
    std::istringstream lines(tree.text);
    std::string rest;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      if (number != seed % 7) rest += line + "\n";
    }
    const MachineFacts facts = tree_facts(rest);
    for (const auto& [address, each] : facts.devices) {
      const auto found = tree.parents.find(address);
      if (found == tree.parents.end()) continue;  // of another domain: the line that names it is lost
      for (const auto& parent : each.parent.all()) {
        ASSERT_EQ(parent.value, found->second) << address << ", seed " << seed << "\n" << rest;
      }
    }
  }
}

}  // namespace
}  // namespace lanecast
