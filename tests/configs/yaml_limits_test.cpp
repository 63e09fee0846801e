#include <gtest/gtest.h>

#include <fstream>

#include "configs/yaml_document.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

TEST(YamlLimits, DeepNestingOfEveryFormIsRefusedNotFollowed) {
  const std::string deep = "nested more than 32 levels deep";
  for (const std::string unit : {"[", "{a: ", "- ", "? "}) {
    EXPECT_EQ(first_line(refusal_of_text(repeated(unit, 100000))), deep) << unit;
  }
  std::string blocks;
  for (int i = 0; i < 2000; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(first_line(refusal_of_text(blocks)), deep);
}

TEST(YamlLimits, ThirtyTwoLevelsAreStillRead) {
  EXPECT_NE(first_line(refusal_of_text("lanecast: " + repeated("[", 31) + repeated("]", 31))),
            "nested more than 32 levels deep");
}

TEST(YamlLimits, ABillionLaughsAreRefusedAtTheFirst) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string name = std::to_string(i), before = std::to_string(i - 1);
    text += "a" + name + ": &a" + name + " [*a" + before + ", *a" + before + "]\n";
  }
  EXPECT_EQ(first_line(refusal_of_text(text)), "YAML anchors and aliases are not supported");
  EXPECT_EQ(first_line(refusal_of_text("lanecast: 1\n<<: *nothing\n")).substr(0, 8), "not YAML");
}

TEST(YamlLimits, AFileBeyondEightMebibytesIsRefused) {
  EXPECT_EQ(first_line(refusal_of_text(std::string((8U << 20) + 1, ' '))), "larger than 8 MiB");
}

TEST(YamlLimits, AMillionValuesAreTheMost) {
  EXPECT_EQ(first_line(refusal_of_text("a: [" + repeated("1,", 1000001) + "]")),
            "more than a million values");
}

TEST(YamlLimits, LargeButHonestFilesAreRead) {
  std::string text = "lanecast: 1\nmachine: m\ncpus: [{name: c}]\nroots: [{name: r, cpu: c}]\ngpus:\n";
  for (int i = 0; i < 4096; ++i) text += "  - {name: g" + std::to_string(i) + "}\n";
  text += "links:\n";
  for (int i = 0; i < 4096; ++i) {
    text += "  - {name: l" + std::to_string(i) + ", from: r, to: g" + std::to_string(i) +
            ", rate: gen5, width: x16}\n";
  }
  EXPECT_EQ(read_machine_text(text, "box.yaml").links.size(), 4096U);
}

TEST(YamlLimits, TooManyNodesOfAKindAreRefused) {
  std::string text = "lanecast: 1\nmachine: m\ngpus:\n";
  for (int i = 0; i < 4097; ++i) text += "  - {name: g" + std::to_string(i) + "}\n";
  EXPECT_EQ(refusal_of_text(text),
            "4097 entries; at most 4096 are allowed\n  at box.yaml:4:3 (gpus)\n"
            "  mend: split the machine into the nodes of a cluster");
}

TEST(YamlLimits, ManyUnknownNamesAreAnsweredInBoundedTime) {
  const std::string filler(58, 'x');
  std::string text = "lanecast: 1\nmachine: m\ngpus:\n";
  for (int i = 0; i < 4096; ++i) text += "  - {name: " + filler + std::to_string(i) + "}\n";
  text += "links:\n";
  for (int i = 0; i < 16384; ++i)
    text += "  - {name: l, from: " + filler + "y, to: z, rate: gen5, width: x16}\n";
  EXPECT_NE(refusal_of_text(text).find("too many problems"), std::string::npos);
}

TEST(ReadTextFile, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(refusal([] { read_text_file("no/such.yaml"); }),
            "cannot read `no/such.yaml`: No such file or directory\n"
            "  mend: give a file that exists and that you may read");
  EXPECT_EQ(refusal([] { read_text_file("/"); }), "cannot read `/`\n  mend: give a text file, not a folder");
}

TEST(ReadTextFile, AnEndlessDeviceIsCutOff) {
  if (!std::ifstream("/dev/zero")) GTEST_SKIP() << "there is no /dev/zero";
  EXPECT_EQ(first_line(refusal([] { read_text_file("/dev/zero"); })), "`/dev/zero` is larger than 8 MiB");
}

}  // namespace
}  // namespace lanecast
