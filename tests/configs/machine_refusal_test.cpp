#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::string head = "lanecast: 1\nmachine: m\ncpus: [{name: cpu0}]\nroots: [{name: root0, cpu: cpu0}]\n";
const std::string gpu = "gpus: [{name: gpu0}]\n";
const std::string link = "links:\n  - {name: gpu0, from: root0, to: gpu0, rate: gen3, width: x16}\n";

/// One fault of a file: its text, and the whole message that it must give.
struct Fault {
  const char* name;
  std::string text;
  std::string message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class MachineRefusal : public testing::TestWithParam<Fault> {};

TEST_P(MachineRefusal, NamesTheThingThePlaceAndTheMend) {
  EXPECT_EQ(refusal_of_text(GetParam().text), GetParam().message);
}

const std::vector<Fault> file_faults{
    {"Empty", "", "the file is empty\n  at box.yaml:1:1\n  mend: begin it with `lanecast: 1`"},
    {"NotAMapping", "- 1\n",
     "the file is a list, not a machine\n  at box.yaml:1:1\n  mend: write `lanecast: 1` on the first line"},
    {"NoFormat", "machine: m\n",
     "the file does not say its format\n  at box.yaml:1:1 (lanecast)\n"
     "  mend: write `lanecast: 1` on the first line"},
    {"NewerFormat", "machine: m\nlanecast: 2\nwhatever: 3\n",
     "the file has format 2; this lanecast reads format 1\n  at box.yaml:2:11 (lanecast)\n"
     "  mend: read it with a newer lanecast"},
    {"OlderFormat", "lanecast: 0\n",
     "the file has format 0; this lanecast reads format 1\n  at box.yaml:1:11 (lanecast)\n"
     "  mend: write `lanecast: 1` on the first line and see docs/machine-file.md for the keys"},
    {"FormatIsText", "lanecast: \"1\"\n",
     "the format is not a whole number\n  at box.yaml:1:11 (lanecast)\n"
     "  mend: write `lanecast: 1` on the first line"},
    {"BrokenYaml", "lanecast: 1\nmachine: [a\n",
     "not YAML: end of sequence flow not found\n  at box.yaml:3:1\n"
     "  mend: indent with spaces and write `key: value`"},
    {"SecondDocument", "lanecast: 1\n---\nlanecast: 1\n",
     "a second YAML document begins here\n  at box.yaml:2:1\n  mend: keep one document in a file"},
    {"Anchor", "lanecast: 1\nmachine: &a m\n",
     "YAML anchors and aliases are not supported\n  at box.yaml:2:10\n"
     "  mend: write the value out where it is used"},
    {"Tag", "lanecast: !!int 1\n",
     "YAML tags such as `tag:yaml.org,2002:int` are not supported\n  at box.yaml:1:11\n  mend: leave the tag "
     "out"},
    {"ListAsKey", "lanecast: 1\n? [a]\n: b\n",
     "a key is a list, not text\n  at box.yaml:2:3\n  mend: write `key: value`"},
};

const std::vector<Fault> key_faults{
    {"UnknownKeyNearAKnownOne", head + gpu + "linkss: []\n" + link,
     "unknown key `linkss`\n  at box.yaml:6:1 (linkss)\n  mend: did you mean `links`?"},
    {"UnknownKeyNearNothing", head + "gpus: [{name: gpu0, zzzzzzzz: 1}]\n" + link,
     "unknown key `zzzzzzzz`\n  at box.yaml:5:21 (gpus[0].zzzzzzzz)\n"
     "  mend: the keys here are `name`, `model`, `sm`, `present`, `p2p`, `l2`, `bdf`, `memory`, `bar1` and "
     "`source`"},
    {"KeyOfAnotherLinkKind",
     head + "gpus: [{name: gpu0}, {name: gpu1}]\n" + link +
         "  - {name: nv, kind: nvlink, from: gpu0, to: gpu1, width: x4}\n",
     "unknown key `width`\n  at box.yaml:8:52 (links[1].width)\n"
     "  mend: the keys here are `name`, `kind`, `from`, `to`, `count`, `rate`, `latency` and `source`"},
    {"DuplicateKey", head + "gpus: [{name: gpu0, sm: 70, sm: 80}]\n" + link,
     "the key `sm` occurs twice; first on line 5\n  at box.yaml:5:29 (gpus[0].sm)\n  mend: keep one of them"},
    {"DuplicateSection", head + gpu + link + "gpus: []\n",
     "the key `gpus` occurs twice; first on line 5\n  at box.yaml:8:1 (gpus)\n  mend: keep one of them"},
    {"MissingKey", head + gpu + "links:\n  - {name: gpu0, from: root0, to: gpu0, rate: gen3}\n",
     "`width` is missing: lanes that the link runs with (LnkSta)\n  at box.yaml:7:5 (links[0].width)\n"
     "  mend: add `width: ...`, a width such as `x16`"},
    {"SectionIsNoList", head + "gpus: {name: gpu0}\n",
     "`gpus` is a mapping; it must be a list\n  at box.yaml:5:7 (gpus)\n"
     "  mend: write `[]` or one line `- ...` an element"},
    {"ElementIsNoMapping", head + "gpus: [{name: gpu0}, gpu1]\n" + link,
     "`gpus[1]` is text; it must be a mapping\n  at box.yaml:5:22 (gpus[1])\n  mend: write `{key: value, "
     "...}`"},
    {"ValueIsAList", head + "gpus: [{name: gpu0, sm: [70]}]\n" + link,
     "`gpus[0].sm` is a list; it must be text\n  at box.yaml:5:25 (gpus[0].sm)\n"
     "  mend: write the value, or leave the key out"},
    {"ValueIsMissing", head + "gpus: [{name: gpu0, sm: }]\n" + link,
     "`gpus[0].sm` is nothing; it must be text\n  at box.yaml:5:25 (gpus[0].sm)\n"
     "  mend: write the value, or leave the key out"},
    {"AssumptionsAreNoList", head + gpu + link + "assumptions: none\n",
     "`assumptions` is text; it must be a list\n  at box.yaml:8:14 (assumptions)\n"
     "  mend: write `[]` or one line `- ...` an element"},
};

std::string with_link(const std::string& entries) {
  return head + gpu + "links:\n  - {name: gpu0, from: root0, to: gpu0, " + entries + "}\n";
}

const std::vector<Fault> value_faults{
    {"BareNumber", with_link("rate: gen3, width: x16, latency: 10"),
     "`latency` is `10`: a time needs a unit\n  at box.yaml:7:74 (links[0].latency)\n"
     "  mend: write it like `1.2 us`; the units are ns, us, ms and s"},
    {"QuotedNumber", head + "gpus: [{name: gpu0, sm: \"70\"}]\n" + link,
     "`sm` is `70`: text in quotes\n  at box.yaml:5:25 (gpus[0].sm)\n"
     "  mend: write a whole number without quotes"},
    {"QuotedFlag", head + "gpus: [{name: gpu0, present: \"true\"}]\n" + link,
     "`present` is `true`: text in quotes\n  at box.yaml:5:30 (gpus[0].present)\n"
     "  mend: write `true` or `false` without quotes"},
    {"FlagIsAWord", head + "gpus: [{name: gpu0, present: maybe}]\n" + link,
     "`present` is `maybe`: neither true nor false\n  at box.yaml:5:30 (gpus[0].present)\n"
     "  mend: write `true` or `false` (or `on`, `off`)"},
    {"BareWidth", with_link("rate: gen3, width: 16"),
     "`width` is `16`: a width begins with `x`\n  at box.yaml:7:60 (links[0].width)\n  mend: write `x16`"},
    {"WidthThatDoesNotExist", with_link("rate: gen3, width: x3"),
     "link `gpu0` has width x3; a PCIe link is x1, x2, x4, x8, x12 or x16\n  at box.yaml:7:60 "
     "(links[0].width)\n"
     "  mend: take the width that `lspci -vv` prints after \"LnkSta:\""},
    {"RateInBytes", with_link("rate: 16 GB/s, width: x16"),
     "`rate` is `16 GB/s`: a PCIe link has a generation\n  at box.yaml:7:47 (links[0].rate)\n"
     "  mend: write `gen1` to `gen6`"},
    {"WidthAboveCapability", with_link("rate: gen3, width: x16, max_width: x8"),
     "link `gpu0` has width x16 above its max_width x8\n  at box.yaml:7:60 (links[0].width)\n"
     "  mend: raise max_width or lower width"},
    {"RateAboveCapability", with_link("rate: gen4, width: x16, max_rate: gen3"),
     "link `gpu0` has rate gen4 above its max_rate gen3\n  at box.yaml:7:47 (links[0].rate)\n"
     "  mend: raise max_rate or lower rate"},
    {"OddPayload", with_link("rate: gen3, width: x16, mps: 100 B"),
     "mps of link `gpu0` is 100 B; it is 128, 256, 512, 1024, 2048 or 4096 B\n"
     "  at box.yaml:7:70 (links[0].mps)\n"
     "  mend: take MaxPayload and MaxReadReq from the line \"DevCtl:\" of `lspci -vv`"},
    {"UnknownAspm", with_link("rate: gen3, width: x16, aspm: L2"),
     "`aspm` is `L2`: there is no such value\n  at box.yaml:7:71 (links[0].aspm)\n"
     "  mend: write `off`, `L0s` or `L1`"},
    {"UnknownLinkKind", head + gpu + "links:\n  - {name: gpu0, kind: pci, from: root0, to: gpu0}\n",
     "`kind` is `pci`: there is no such value\n  at box.yaml:7:24 (links[0].kind)\n"
     "  mend: write `pcie`, `nvlink` or `socket`"},
    {"UnknownLevel", head + gpu + link + "p2p: {level: FAR}\n",
     "`level` is `FAR`: there is no such value\n  at box.yaml:8:14 (p2p.level)\n"
     "  mend: write `LOC`, `NVL`, `PIX`, `PXB`, `PHB`, `NODE` or `SYS`"},
    {"UnknownCpu",
     "lanecast: 1\nmachine: m\ncpus: [{name: cpu0}]\nroots: [{name: root0, cpu: cpu9}]\n" + gpu + link,
     "`cpu` is `cpu9`: there is no such cpu\n  at box.yaml:4:28 (roots[0].cpu)\n  mend: did you mean "
     "`cpu0`?"},
    {"UnknownNode", head + gpu + link + "  - {name: x, from: root0, to: switch7, rate: gen3, width: x16}\n",
     "`to` is `switch7`: there is no such node\n  at box.yaml:8:32 (links[1].to)\n"
     "  mend: the nodes are `cpu0`, `root0` and `gpu0`"},
    {"BadName", head + "gpus: [{name: \"gpu 0\"}]\n",
     "`name` is `gpu 0`: not a name\n  at box.yaml:5:15 (gpus[0].name)\n"
     "  mend: take letters, digits, `_`, `.` and `-`, at most 64 of them"},
    {"ControlCharacters", head + "gpus: [{name: gpu0, model: \"a\\eb\"}]\n" + link,
     "`model` is `a\\x1bb`: text with control characters\n  at box.yaml:5:28 (gpus[0].model)\n"
     "  mend: remove them"},
};

const std::vector<Fault> graph_faults{
    {"UnconnectedGpu", head + "gpus: [{name: gpu0}, {name: gpu1}]\n" + link,
     "gpu `gpu1` is unconnected: it has no path to a root and no NVLink\n  at box.yaml:5:22 (gpus[1])\n"
     "  mend: add a link `{from: ROOT or SWITCH, to: gpu1, ...}`"},
    {"TwoParents", head + gpu + link + "  - {name: b, from: root0, to: gpu0, rate: gen3, width: x16}\n",
     "gpu `gpu0` hangs below two links, `gpu0` and `b`\n  at box.yaml:8:32 (links[1].to)\n"
     "  mend: keep one: PCIe is a tree, each device has one upstream link"},
    {"Cycle",
     head + gpu + "switches: [{name: a}, {name: b}]\n" + link +
         "  - {name: ab, from: a, to: b, rate: gen3, width: x16}\n"
         "  - {name: ba, from: b, to: a, rate: gen3, width: x16}\n",
     "switches form a cycle: link `ab` leads back to switch `a`\n  at box.yaml:9:22 (links[1].from)\n"
     "  mend: let the uppermost switch hang below a root"},
    {"NoSocketLink",
     "lanecast: 1\nmachine: m\ncpus: [{name: cpu0}, {name: cpu1}]\nroots: [{name: root0, cpu: cpu0}]\n" +
         gpu + link,
     "no socket link joins cpu `cpu1` to cpu `cpu0`\n  at box.yaml:3:22 (cpus[1])\n"
     "  mend: add a link `{kind: socket, from: cpu0, to: cpu1, rate: ...}`"},
    {"NoGpus", head,
     "the machine has no GPU\n  at box.yaml:1:1 (gpus)\n"
     "  mend: list at least one under `gpus:` and link it to a root or switch"},
    {"DuplicateName", head + "gpus: [{name: gpu0}, {name: gpu0, present: false}]\n" + link,
     "the name `gpu0` is taken by gpus[0]\n  at box.yaml:5:29 (gpus[1].name)\n"
     "  mend: rename one of them; names are unique within `gpus`"},
    {"LinkUpsideDown",
     head + "switches: [{name: sw0}]\n" + gpu + link +
         "  - {name: b, from: gpu0, to: sw0, rate: gen3, width: x16}\n",
     "pcie link `b` has an end at gpu `gpu0`; it must be a root or switch, the upstream end\n"
     "  at box.yaml:9:21 (links[1].from)\n  mend: correct the end or the link's `kind`"},
};

std::string fault_name(const testing::TestParamInfo<Fault>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(File, MachineRefusal, testing::ValuesIn(file_faults), fault_name);
INSTANTIATE_TEST_SUITE_P(Keys, MachineRefusal, testing::ValuesIn(key_faults), fault_name);
INSTANTIATE_TEST_SUITE_P(Values, MachineRefusal, testing::ValuesIn(value_faults), fault_name);
INSTANTIATE_TEST_SUITE_P(Graph, MachineRefusal, testing::ValuesIn(graph_faults), fault_name);

TEST(MachineRefusals, AllProblemsComeAtOnceSortedByLine) {
  EXPECT_EQ(refusal_of_text(head + "switchs: []\ngpus: [{name: gpu0, l2: 6 MB}]\n"
                                   "links:\n  - {name: gpu0, from: root0, to: gpu0, rate: gen9, width: x5}\n"
                                   "p2p: {level: FAR}\n"),
            "unknown key `switchs`\n  at box.yaml:5:1 (switchs)\n  mend: did you mean `switches`?\n"
            "error: `l2` is `6 MB`: `MB` is no unit of a size\n  at box.yaml:6:25 (gpus[0].l2)\n"
            "  mend: write it like `256 KiB`; the units are B, KiB, MiB, GiB and TiB\n"
            "error: `rate` is `gen9`: not a PCIe generation\n  at box.yaml:8:47 (links[0].rate)\n"
            "  mend: write `gen1` to `gen6`\n"
            "error: link `gpu0` has width x5; a PCIe link is x1, x2, x4, x8, x12 or x16\n"
            "  at box.yaml:8:60 (links[0].width)\n"
            "  mend: take the width that `lspci -vv` prints after \"LnkSta:\"\n"
            "error: `level` is `FAR`: there is no such value\n  at box.yaml:9:14 (p2p.level)\n"
            "  mend: write `LOC`, `NVL`, `PIX`, `PXB`, `PHB`, `NODE` or `SYS`");
}

TEST(MachineRefusals, AMisreadListDoesNotMakeItsNodesLookUnconnected) {
  const std::string message = refusal_of_text(head + gpu + "linkss:\n  - {name: gpu0}\n");
  EXPECT_EQ(message, "unknown key `linkss`\n  at box.yaml:6:1 (linkss)\n  mend: did you mean `links`?");
}

TEST(MachineRefusals, AfterAHundredProblemsReadingStops) {
  std::string text = head + "gpus:\n";
  for (int i = 0; i < 5000; ++i) text += "  - {nam: gpu}\n";
  const std::string message = refusal_of_text(text);
  EXPECT_NE(message.find("error: too many problems; there may be more"), std::string::npos);
  EXPECT_LT(message.size(), 20000U);
}

}  // namespace
}  // namespace lanecast
