#include "configs/machine_paths.hpp"

#include <gtest/gtest.h>

#include <map>

#include "configs/machine_fields.hpp"
#include "configs/machine_reader.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

Machine box() {
  return read_machine_text(R"(lanecast: 1
machine: box
cpus: [{name: cpu0}, {name: cpu1, socket: 1}]
roots: [{name: root0, cpu: cpu0}]
switches: [{name: sw0}]
gpus: [{name: gpu0}, {name: gpu.1}]
nvswitches: [{name: nvsw0}]
nics: [{name: nic0, rate: 25 GB/s}]
links:
  - {name: uplink0, from: root0, to: sw0, rate: gen3, width: x8, max_rate: gen4, max_width: x16}
  - {name: gpu0, from: sw0, to: gpu0, rate: gen3, width: x16}
  - {name: gpu.1, from: sw0, to: gpu.1, rate: gen3, width: x16}
  - {name: nic0, from: sw0, to: nic0, rate: gen3, width: x16}
  - {name: nv0, kind: nvlink, from: gpu0, to: nvsw0, count: 6}
  - {name: upi0, kind: socket, from: cpu0, to: cpu1}
)",
                           "box.yaml");
}

Machine changed(const std::string& assignment) {
  Machine machine = box();
  apply_set(machine, assignment);
  return machine;
}

std::string refusal_of_set(const std::string& assignment) {
  Machine machine = box();
  return refusal([&] { apply_set(machine, assignment); });
}

TEST(ApplySet, ChangesWhatTheContractNames) {
  EXPECT_EQ(changed("links.uplink0.width=x4").links[0].width, 4);
  EXPECT_EQ(changed("links.uplink0.rate=gen2").links[0].rate, PcieRate::gen2);
  EXPECT_EQ(changed("links.gpu0.replay_rate=1e-4").links[1].replay_rate, 1e-4);
  EXPECT_EQ(changed("links.gpu0.aspm=L1").links[1].aspm, Aspm::l1);
  EXPECT_TRUE(changed("switches.sw0.acs=on").switches[0].acs);
  EXPECT_FALSE(changed("p2p.enabled=false").p2p.enabled);
  EXPECT_EQ(changed("p2p.level=PXB").p2p.level, Distance::pxb);
  EXPECT_FALSE(changed("gpus.gpu0.present=false").gpus[0].present);
}

TEST(ApplySet, NamesMayContainDots) {
  EXPECT_EQ(changed("links.gpu.1.width=x8").links[2].width, 8);
  EXPECT_FALSE(changed("gpus.gpu.1.present=false").gpus[1].present);
}

TEST(ApplySet, AValueMayContainAnEqualsSign) {
  EXPECT_EQ(changed("gpus.gpu0.model=a=b").gpus[0].model, "a=b");
}

TEST(ApplySet, AutoTakesAnOptionalValueBack) {
  Machine machine = changed("p2p.level=SYS");
  apply_set(machine, "p2p.level=auto");
  EXPECT_EQ(machine.p2p.level, std::nullopt);
  apply_set(machine, "gpus.gpu0.p2p=false");
  apply_set(machine, "gpus.gpu0.p2p=auto");
  EXPECT_EQ(machine.gpus[0].p2p, std::nullopt);
}

TEST(ApplySet, MovesACardToAnotherPort) {
  EXPECT_EQ(changed("links.gpu0.from=root0").links[1].from, (NodeId{NodeKind::root, 0}));
}

/// A value that differs from that of `box`, by what the field holds.
std::string other_value(FieldType type) {
  static const std::map<FieldType, std::string> values{
      {FieldType::text, "other"}, {FieldType::flag, "on"},        {FieldType::integer, "3"},
      {FieldType::share, "0.25"}, {FieldType::bytes, "1 KiB"},    {FieldType::rate, "7 GB/s"},
      {FieldType::time, "7 ns"},  {FieldType::pcie_rate, "gen2"}, {FieldType::pcie_width, "x4"},
      {FieldType::aspm, "L0s"},   {FieldType::distance, "NODE"},  {FieldType::cpu, "cpu1"},
      {FieldType::node, "root0"},
  };
  return values.at(type);
}

template <class T>
void expect_each_field_set(const std::string& prefix, T& (*element_of)(Machine&)) {
  for (const Field<T>& field : fields<T>()) {
    Machine machine = box();
    T& element = element_of(machine);
    if (!applies(field.info, element)) continue;
    const std::string path = prefix + field.info.key;
    if (!field.info.settable) {
      EXPECT_NE(refusal([&] { apply_set(machine, path + "=x"); }).find("cannot be set"), std::string::npos)
          << path;
      continue;
    }
    std::string value = other_value(field.info.type);
    const NodeIndex nodes(machine);
    if (value == "on" && field.show(element, field.info.type, nodes) == "true") value = "off";
    const std::string before = field.show(element, field.info.type, nodes);
    apply_set(machine, path + "=" + value);
    const std::string after = field.show(element, field.info.type, NodeIndex(machine));
    EXPECT_NE(after, before) << path;
    EXPECT_EQ(after, value == "on" ? "true" : value == "off" ? "false" : value) << path;
  }
}

TEST(ApplySet, SetsEveryFieldOfTheTableThatMayBeSet) {
  expect_each_field_set<Cpu>("cpus.cpu0.", [](Machine& m) -> Cpu& { return m.cpus[0]; });
  expect_each_field_set<RootComplex>("roots.root0.", [](Machine& m) -> RootComplex& { return m.roots[0]; });
  expect_each_field_set<PcieSwitch>("switches.sw0.", [](Machine& m) -> PcieSwitch& { return m.switches[0]; });
  expect_each_field_set<Gpu>("gpus.gpu0.", [](Machine& m) -> Gpu& { return m.gpus[0]; });
  expect_each_field_set<NvSwitch>("nvswitches.nvsw0.",
                                  [](Machine& m) -> NvSwitch& { return m.nvswitches[0]; });
  expect_each_field_set<Nic>("nics.nic0.", [](Machine& m) -> Nic& { return m.nics[0]; });
  expect_each_field_set<Link>("links.gpu0.", [](Machine& m) -> Link& { return m.links[1]; });
  expect_each_field_set<Link>("links.nv0.", [](Machine& m) -> Link& { return m.links[4]; });
  expect_each_field_set<Link>("links.upi0.", [](Machine& m) -> Link& { return m.links[5]; });
  expect_each_field_set<PeerAccess>("p2p.", [](Machine& m) -> PeerAccess& { return m.p2p; });
}

TEST(ApplySet, ALinkIsNotRaisedAboveItsCapability) {
  EXPECT_EQ(refusal_of_set("links.gpu0.rate=gen5"),
            "link `gpu0` can do gen3 only\n  at --set links.gpu0.rate=gen5\n"
            "  mend: put `--set links.gpu0.max_rate=gen5` in front");
  EXPECT_EQ(refusal_of_set("links.uplink0.width=x16"), "");
  Machine machine = changed("links.gpu0.max_rate=gen5");
  apply_set(machine, "links.gpu0.rate=gen5");
  EXPECT_EQ(machine.links[1].rate, PcieRate::gen5);
  apply_set(machine, "links.gpu0.max_width=x8");
  EXPECT_EQ(refusal([&] { apply_set(machine, "links.gpu0.width=x12"); }),
            "link `gpu0` has x8 lanes only\n  at --set links.gpu0.width=x12\n"
            "  mend: put `--set links.gpu0.max_width=x12` in front");
}

TEST(ApplySet, NamesWhatIsNearWhenAPathIsUnknown) {
  EXPECT_EQ(refusal_of_set("link.gpu0.width=x8"),
            "there is no section `link`\n  at --set link.gpu0.width=x8\n  mend: did you mean `links`? the "
            "sections are "
            "`cpus`, `roots`, `switches`, `gpus`, `nvswitches`, `nics`, `links` and `p2p`");
  EXPECT_EQ(refusal_of_set("links.uplink1.width=x8"),
            "`links` has no `uplink1`\n  at --set links.uplink1.width=x8\n  mend: did you mean `uplink0`? "
            "the names in "
            "`links` are `uplink0`, `gpu0`, `gpu.1`, `nic0`, `nv0` and `upi0`");
  EXPECT_EQ(
      refusal_of_set("switches.sw0.asc=on"),
      "there is no key `asc` (switches.sw0)\n  at --set switches.sw0.asc=on\n  mend: did you mean `acs`? the "
      "keys that can be set here are `model`, `acs`, `latency`, `bdf` and `source`");
  EXPECT_EQ(refusal_of_set("switches.sw0.name=a"),
            "`name` cannot be set (switches.sw0)\n  at --set switches.sw0.name=a\n  mend: the keys that can "
            "be set here "
            "are `model`, `acs`, `latency`, `bdf` and `source`");
  EXPECT_EQ(refusal_of_set("links.nv0.width=x8"),
            "a link of this kind has no `width` (links.nv0)\n  at --set links.nv0.width=x8\n  mend: the keys "
            "that can be "
            "set here are `from`, `to`, `count`, `rate`, `latency` and `source`");
}

TEST(ApplySet, RefusesWhatIsNoAssignment) {
  const std::string mend = "\n  mend: write it like `links.gpu0.width=x8` or `p2p.enabled=false`";
  EXPECT_EQ(refusal_of_set(""), "`` is not PATH=VALUE\n  at --set " + mend);
  EXPECT_EQ(refusal_of_set("links"), "`links` is not PATH=VALUE\n  at --set links" + mend);
  EXPECT_EQ(refusal_of_set("links=a.b"), "`links=a.b` is not PATH=VALUE\n  at --set links=a.b" + mend);
  EXPECT_EQ(refusal_of_set("links.width=x8").substr(0, 29), "`links` needs a name and a ke");
  EXPECT_EQ(refusal_of_set("p2p.a.enabled=on"),
            "`p2p` has no names\n  at --set p2p.a.enabled=on\n  mend: write it like `p2p.enabled=false`");
  EXPECT_EQ(refusal_of_set("nodes.0.links.gpu0.width=x8"),
            "`nodes.N.` addresses a node of a cluster, and `box` is a single machine\n"
            "  at --set nodes.0.links.gpu0.width=x8\n  mend: leave `nodes.N.` out; clusters come later");
}

TEST(ApplySet, RefusesAValueWithItsMend) {
  EXPECT_EQ(refusal_of_set("links.gpu0.latency=10"),
            "`links.gpu0.latency` is `10`: a time needs a unit\n  at --set links.gpu0.latency=10\n"
            "  mend: write it like `1.2 us`; the units are ns, us, ms and s");
  EXPECT_EQ(refusal_of_set("links.gpu0.width=8"),
            "`links.gpu0.width` is `8`: a width begins with `x`\n  at --set links.gpu0.width=8\n  mend: "
            "write `x8`");
  EXPECT_EQ(refusal_of_set("p2p.level=FAR"),
            "`p2p.level` is `FAR`: there is no such value\n  at --set p2p.level=FAR\n"
            "  mend: write `LOC`, `NVL`, `PIX`, `PXB`, `PHB`, `NODE` or `SYS`");
  EXPECT_EQ(
      refusal_of_set("gpus.gpu0.present=\x1b[2J"),
      "`gpus.gpu0.present` is `\\x1b[2J`: neither true nor false\n  at --set gpus.gpu0.present=\\x1b[2J\n"
      "  mend: write `true` or `false` (or `on`, `off`)");
}

TEST(ApplySets, ReportsAllThatTheChangesBreakAndLeavesTheMachineAlone) {
  Machine machine = box();
  EXPECT_EQ(refusal([&] {
              apply_sets(machine, {"links.gpu0.mps=100 B", "links.gpu0.max_width=x8"});
            }),
            "link `gpu0` has width x16 above its max_width x8\n"
            "  at --set links.gpu0.mps=100 B --set links.gpu0.max_width=x8 (links[1].width)\n"
            "  mend: raise max_width or lower width\n"
            "error: mps of link `gpu0` is 100 B; it is 128, 256, 512, 1024, 2048 or 4096 B\n"
            "  at --set links.gpu0.mps=100 B --set links.gpu0.max_width=x8 (links[1].mps)\n"
            "  mend: take MaxPayload and MaxReadReq from the line \"DevCtl:\" of `lspci -vv`");
  EXPECT_EQ(machine.links[1].mps, Bytes(256));
  apply_sets(machine, {"links.gpu0.mps=128 B", "links.gpu0.width=x8"});
  EXPECT_EQ(machine.links[1].mps, Bytes(128));
  EXPECT_EQ(machine.links[1].width, 8);
}

}  // namespace
}  // namespace lanecast
