#include "configs/machine_line.hpp"

#include <gtest/gtest.h>

#include <random>

#include "configs/synthetic.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

std::string refusal_of_line(const std::string& line) {
  return refusal([&] { machine_from_line(line); });
}

/// What is said about a line, and the byte that the caret stands below.
struct Refused {
  std::string what;
  std::size_t at = 0;
};

Refused refused(const std::string& line) {
  const std::string message = refusal_of_line(line);
  const std::string before = "\n  at " + line + "\n     ";
  const std::size_t place = message.find(before);
  if (place == std::string::npos) return {"no caret below the whole line: " + message};
  return {message.substr(0, place), message.find('^', place + before.size()) - (place + before.size())};
}

TEST(MachineLineErrors, TheCaretStandsBelowTheFault) {
  EXPECT_EQ(refusal_of_line("2x(swi:4xgpu)@gen4"),
            "there is no part `swi`\n"
            "  at 2x(swi:4xgpu)@gen4\n"
            "        ^\n"
            "  mend: did you mean `sw`?");
}

TEST(MachineLineErrors, EachFaultHasItsWordsAndItsPlace) {
  struct Case {
    const char* line;
    const char* what;
    std::size_t at;
  };
  for (const Case& each : std::vector<Case>{
           {"", "a part is missing", 0},
           {"4x", "a part is missing", 2},
           {"4gpu", "an `x` is missing between a number and what it counts", 1},
           {"0xgpu", "how many is 0", 0},
           {"5000xgpu", "how many is 5000", 0},
           {"99999999999999999999xgpu", "how many is 99999999999999999999", 0},
           {"(4xgpu", "a `)` is missing", 6},
           {"4xgpu)", "this is not part of a one-line machine", 5},
           {"4xgpu,", "a part is missing", 6},
           {"gpu:gpu", "nothing can stand below a `gpu`", 3},
           {"sw:root:gpu", "a `root` cannot stand in a `sw`", 3},
           {"cpu(cpu(gpu))", "a `cpu` cannot stand in a `cpu`", 4},
           {"cpu(gpu),gpu", "a `gpu` stands beside parts of another level", 9},
           {"cpu@gen4(gpu)", "a `cpu` has no PCIe link of its own", 3},
           {"root@gen4:gpu", "a `root` has no PCIe link of its own", 4},
           {"gpu@", "a generation and a width of PCIe are missing", 4},
           {"gpu@gen7", "there is no such generation of PCIe", 7},
           {"gpu@gen4x3", "there is no PCIe link of x3", 8},
           {"gpu@gen4x16/", "a generation and a width of PCIe are missing", 12},
           {"gpu@gen5x8/gen4x16", "a link runs at gen5x8 and could do gen4x16", 4},
           {"gpu[A100", "a `]` is missing", 3},
           {"gpu[]", "the brackets are empty", 3},
           {"root[x]:gpu", "a `root` has no model", 4},
           {"gpu,nic[fast]", "`fast` is no rate of a network port", 8},
           {"gpu+acs", "`+acs` says nothing about a `gpu`", 3},
           {"4xgpu nvlinks", "how many NVLinks is missing", 12},
           {"4xgpu nvlink0", "how many NVLinks is 0", 12},
           {"4xgpu nvlink2 nvpairs2", "NVLinks are given twice", 14},
           {"4xgpu ~fast", "`fast` is no rate between 1 kB/s and 1 PB/s", 7},
           {"4xgpu ~1GB/s ~1GB/s", "the rate between sockets is given twice", 13},
           {"4xgpu p2p=far", "`far` is no level of peer access", 10},
           {"4xgpu p2p=off p2p=PXB", "`p2p` is given twice", 14},
           {"4xgpu iommu!", "this is not part of a one-line machine", 11},
           {"2xsw:nic", "the machine has no GPU", 8},
       }) {
    const Refused found = refused(each.line);
    EXPECT_EQ(found.what, each.what) << each.line;
    EXPECT_EQ(found.at, each.at) << each.line;
  }
}

TEST(MachineLineErrors, MultiplicationEndsAtTheLimitsOfAMachineAtOnce) {
  EXPECT_EQ(refused("4096x(4096x(4096x(4096xgpu)))").what, "the machine has more than 4096 of these");
  EXPECT_EQ(refused("4096x(4096x(4096x(4096xgpu)))").at, 6U);
  EXPECT_EQ(refused("2xgpu,4095xgpu").at, 6U);
  EXPECT_EQ(refused("4096xcpu(gpu)").what,
            "with these sockets and NUMA nodes the machine has more than 16384 links");
  EXPECT_EQ(refused("200xgpu nvlink1").what, "with these NVLinks the machine has more than 16384 links");
  EXPECT_EQ(refused("200xgpu nvlink1").at, 8U);
  for (const char* most : {"4096xgpu nvswitch18", "128xcpu(32xgpu)", "180xgpu nvlink1"}) {
    EXPECT_TRUE(check_machine(machine_from_line(most)).empty()) << most;
  }
}

TEST(MachineLineErrors, DepthAndLengthAreBounded) {
  const std::string deep = std::string(2000, '(') + "gpu" + std::string(2000, ')');
  EXPECT_EQ(refusal_of_line(deep).substr(0, 42), "parts are nested more than 32 levels deep\n");
  std::string chain;
  for (int i = 0; i < 1000; ++i) chain += "sw:";
  EXPECT_EQ(refusal_of_line(chain + "gpu").substr(0, 42), "parts are nested more than 32 levels deep\n");
  EXPECT_EQ(refusal_of_line(std::string(5000, 'x')).substr(0, 57),
            "a one-line machine has 5000 bytes; at most 4096 are read\n");
}

TEST(MachineLineErrors, ALongLineShowsTheSurroundingsOfTheFault) {
  std::string line;
  for (int i = 0; i < 40; ++i) line += "gpu,";
  const std::string message = refusal_of_line(line + "gpo," + line);
  EXPECT_EQ(
      message.substr(0, message.find("\n  mend")),
      "there is no part `gpo`\n"
      "  at "
      "...gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpo,gpu,gpu,gpu,gpu,gpu,gpu,gpu,gpu,"
      "gpu,...\n"
      "     " +
          std::string(63, ' ') + "^");
}

TEST(MachineLineErrors, CharactersAreCountedNotBytesAndControlsAreShown) {
  EXPECT_EQ(refusal_of_line("gpu[\xc2\xb5],x"),
            "there is no part `x`\n  at gpu[\xc2\xb5],x\n            ^\n"
            "  mend: the parts are `socket`, `cpu`, `root`, `sw`, `gpu` and `nic`");
  EXPECT_EQ(
      refusal_of_line("gpu\x1b"),
      "this is not part of a one-line machine\n  at gpu\\x1b\n        ^\n"
      "  mend: behind the parts stand `nvswitch18`, `nvlink4`, `nvpairs4`, `~20GB/s`, `p2p=off` or `iommu`, "
      "with a blank before each");
  EXPECT_EQ(refused("gpu[a\x01z]").what.substr(0, 18), "no caret below the");
}

TEST(MachineLineProperty, NoTextCrashesAndMessagesHaveAPlaceAndAMend) {
  std::mt19937_64 random(1);
  const std::vector<std::string> tokens{
      "gpu", "sw", "cpu", "root", "nic",  "socket", "(",      ")", ":", ",",    "@",    "gen4", "x16",
      "2x",  "/",  "[",   "]",    "+acs", " ",      "nvlink", "4", "~", "GB/s", "p2p=", "\xff", "\x01"};
  for (int round = 0; round < 20000; ++round) {
    std::string line;
    for (std::uint64_t i = random() % 12; i > 0; --i) line += tokens[random() % tokens.size()];
    const std::string message = refusal_of_line(line);
    if (message.empty()) continue;
    ASSERT_NE(message.find("\n  at "), std::string::npos) << line;
    ASSERT_NE(message.find("^\n  mend: "), std::string::npos) << line;
    ASSERT_EQ(message.find('\x01'), std::string::npos) << line;
  }
}

TEST(LooksLikeMachineLine, TellsLinesFromNamesAndPaths) {
  for (const char* line : {"2x(sw:4xgpu)@gen4x16", "8xgpu", "gpu", "4xgpus", " ( gpu )",
                           "2xcpu(4xgpu) ~20GB/s", "sw:4xgpu", "gpu@gen4x8/gen5x16", "swi:4xgpu", "2 xgpu"}) {
    EXPECT_EQ(looks_like_machine_line(line), std::string(line) != "2 xgpu") << line;
  }
  for (const char* name : {"l40sx2", "8x4090", "gpu-box", "switch", "root/gpu", "./2x.txt", "box", "",
                           "rooted", "/data/box:1/machine"}) {
    EXPECT_FALSE(looks_like_machine_line(name)) << name;
  }
}

}  // namespace
}  // namespace lanecast
