// Facts at random, also impossible ones: a machine that check_machine accepts, or an Error that helps.
#include <gtest/gtest.h>

#include <random>

#include "configs/machine_writer.hpp"
#include "model/error.hpp"
#include "tests/support/facts_builder.hpp"

namespace lanecast {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

std::string hex2(int number) {
  return {"0123456789abcdef"[(number / 16) % 16], "0123456789abcdef"[number % 16]};
}

/// Statements that any reader might add, and some that none should; now and then two that differ.
class RandomFacts {
 public:
  explicit RandomFacts(std::uint64_t seed) : dice_(seed) {}

  MachineFacts make() {
    const int devices = dice_.one_in(20) ? 300 : 1 + dice_.below(30);
    for (int i = 0; i < devices; ++i) {
      std::string address = "0000:" + hex2(dice_.below(devices)) + ":" + hex2(dice_.below(3)) + "." +
                            std::to_string(dice_.below(2));
      if (dice_.one_in(30))
        address = dice_.pick<std::string>({"", "nonsense", "10000:01:00.0", "0000:01", ":.", "ffff:ff:01.0"});
      addresses_.push_back(address);
    }
    for (const std::string& address : addresses_) fill(facts_.devices[address]);
    for (int i = dice_.below(4); i > 0; --i) add_nvlink();
    for (int i = dice_.below(3); i > 0; --i) add_matrix();
    for (int i = dice_.below(4); i > 0; --i) fill(facts_.cpus[dice_.below(5) - 1]);
    if (dice_.one_in(4)) facts_.numbered_gpus[dice_.below(20) - 2].add("NVIDIA A40", place());
    for (int i = dice_.below(6); i > 0; --i) {
      facts_.peer_access[{dice_.pick(addresses_), dice_.pick(addresses_)}] = {dice_.one_in(2), place()};
      facts_.numbered_peer_access[{dice_.below(9) - 1, dice_.below(9)}] = {dice_.one_in(2), place()};
    }
    maybe(facts_.virtualized, dice_.one_in(2));
    maybe(facts_.iommu_translation, dice_.one_in(2));
    maybe(facts_.host, std::string("box\x1b[31m\n"));
    return std::move(facts_);
  }

 private:
  std::string place() {
    static const std::vector<std::string> kinds{" (LnkSta)", " (nvidia-smi -q)", " (link_width)",
                                                " (numaid of the enclosing cpu)", ""};
    return "dump:" + std::to_string(dice_.below(1000)) + dice_.pick(kinds);
  }

  template <class T>
  void maybe(Statements<T>& statements, T value, int one_in = 2) {
    if (dice_.one_in(one_in)) statements.add(std::move(value), place());
  }

  void fill(PciFacts& device) {
    for (int times = dice_.one_in(5) ? 2 : 1; times > 0; --times) {
      maybe(device.parent, dice_.one_in(4) ? std::string() : dice_.pick(addresses_));
      maybe(device.ancestor, dice_.pick(addresses_), 8);
      maybe(device.root_bus, std::string("0000:") + hex2(dice_.below(4)), 8);
      maybe(device.port, static_cast<PciePort>(dice_.below(6)), 4);
      maybe(device.secondary_bus, dice_.below(300) - 10, 4);
      maybe(device.numa, dice_.below(5) - 1);
      maybe(device.slot, std::string("7"), 9);
      maybe(device.class_code, dice_.pick<std::uint32_t>({0x030200, 0x030000, 0x020000, 0x060400, 0x068000,
                                                          0x010802, 0x060000, 0x120000}));
      maybe(device.vendor, dice_.pick<std::uint32_t>({0x10de, 0x1002, 0x8086, 0x15b3, 0x1a03, 0x1022}));
      maybe(device.device, static_cast<std::uint32_t>(dice_.below(0x10000)));
      maybe(device.name, dice_.pick<std::string>({"", "[", "]", "NVIDIA Corporation Device 2bb5",
                                                  "Mellanox Virtual Function", "x [10de:2bb5]", "a [b] c]"}));
      maybe(device.present, !dice_.one_in(5), 4);
      maybe(device.max_rate, static_cast<PcieRate>(dice_.below(8)));
      maybe(device.rate, static_cast<PcieRate>(dice_.below(8)));
      maybe(device.host_max_rate, static_cast<PcieRate>(dice_.below(8)), 5);
      maybe(device.link_max_width, dice_.pick<int>({0, 1, 8, 16, 63}), 5);
      maybe(device.max_width, dice_.pick<int>({0, 1, 2, 3, 8, 16, 32, 255}));
      maybe(device.width, dice_.pick<int>({0, 1, 2, 3, 8, 16, 32, 255}));
      maybe(device.max_payload, Bytes(dice_.pick<std::uint64_t>({0, 64, 128, 256, 300, 8192})), 3);
      maybe(device.max_read_request, Bytes(dice_.pick<std::uint64_t>({0, 512, 4096})), 3);
      maybe(device.max_payload_capability, Bytes(512), 3);
      maybe(device.aspm, static_cast<Aspm>(dice_.below(3)), 3);
      maybe(device.corrected_errors, ~std::uint64_t{0} - static_cast<std::uint64_t>(dice_.below(2)), 5);
      maybe(device.gpu_index, dice_.below(6) - 1, 3);
      maybe(device.gpu_model, dice_.pick<std::string>({"", "NVIDIA A40", "Tesla V100-SXM2-16GB", "\x01\x02"}),
            3);
      maybe(device.sm, dice_.pick<int>({-1, 0, 80, 86, 5000}), 3);
      maybe(device.bar1, Bytes(static_cast<std::uint64_t>(dice_.below(3))), 3);
      maybe(device.p2p, dice_.one_in(2), 5);
      maybe(device.asleep, dice_.one_in(2), 5);
      maybe(device.nic_name, std::string("mlx5_0"), 6);
      maybe(device.nic_rate, BytesPerSecond(dice_.pick<double>({0, -1, 1e9, 1e300})), 6);
    }
  }

  void fill(CpuFacts& cpu) {
    maybe(cpu.vendor, std::string("amd"));
    maybe(cpu.model, std::string("AMD EPYC 9554"));
    maybe(cpu.cores, dice_.pick<std::string>({"0-7", "8-15", ""}));
    maybe(cpu.socket, dice_.below(4) - 1);
  }

  void add_nvlink() {
    facts_.nvlinks.push_back(
        {dice_.pick(addresses_), dice_.one_in(3) ? "" : dice_.pick(addresses_), dice_.below(20) - 1,
         dice_.one_in(2) ? std::optional(BytesPerSecond(dice_.pick<double>({0, 25e9}))) : std::nullopt,
         place()});
  }

  void add_matrix() {
    TopoMatrix matrix;
    matrix.from = place();
    const int names = dice_.below(12);
    for (int i = 0; i < names; ++i) {
      matrix.names.push_back(dice_.pick<std::string>({"GPU", "GPU", "NIC", "mlx5_", ""}) +
                             std::to_string(dice_.below(10)));
      if (dice_.one_in(2)) matrix.addresses.push_back(dice_.one_in(3) ? "" : dice_.pick(addresses_));
      if (dice_.one_in(2))
        matrix.numa.push_back(dice_.one_in(3) ? std::nullopt : std::optional(dice_.below(3)));
      if (dice_.one_in(2)) matrix.cores.push_back("0-7");
      matrix.cells.emplace_back();
      for (int j = dice_.below(names + 1); j > 0; --j) {
        TopoCell cell;
        if (!dice_.one_in(5)) cell.distance = static_cast<Distance>(dice_.below(7));
        if (dice_.one_in(5)) cell.nvlinks = dice_.below(20) - 1;
        matrix.cells.back().push_back(cell);
      }
    }
    if (names > 0) matrix.adapters[matrix.names.front()] = "mlx5_0";
    facts_.matrices.push_back(matrix);
  }

  Dice dice_;
  std::vector<std::string> addresses_;
  MachineFacts facts_;
};

TEST(RandomFacts, GiveAMachineThatIsAcceptedOrAnErrorThatSaysWhatIsMissing) {
  int machines = 0, refusals = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    const MachineFacts facts = RandomFacts(seed).make();
    try {
      const ImportedMachine imported = machine_from_facts(facts, "box");
      const std::vector<MachineProblem> problems = check_machine(imported.machine);
      ASSERT_TRUE(problems.empty()) << "seed " << seed << ": " << problems.front().text;
      ++machines;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << "seed " << seed;
      const std::string text = error.what();
      EXPECT_TRUE(text.find("no GPU is among") != std::string::npos ||
                  text.find("GPUs are gone") != std::string::npos ||
                  text.find("no GPU is present") != std::string::npos)
          << "seed " << seed << ": " << text;
      EXPECT_NE(text.find("mend: "), std::string::npos);
      ++refusals;
    }
  }
  EXPECT_GT(machines, 500);
  EXPECT_GT(refusals, 0);
}

TEST(RandomFacts, AreJudgedTheSameEachTime) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const MachineFacts facts = RandomFacts(seed).make();
    try {
      const ImportedMachine first = machine_from_facts(facts, "box"),
                            second = machine_from_facts(facts, "box");
      EXPECT_EQ(write_machine(first.machine), write_machine(second.machine));
      EXPECT_EQ(first.unknown, second.unknown);
    } catch (const Error&) {
    }
  }
}

TEST(RandomFacts, EveryAssumedValueHasAnOriginAndNoOtherIsMarked) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    try {
      const ImportedMachine imported = machine_from_facts(RandomFacts(seed).make(), "box");
      std::vector<std::string> assumed;
      for (const auto& [path, origin] : imported.origins) {
        EXPECT_FALSE(origin.from.empty()) << "seed " << seed << ": " << path;
        if (origin.assumed) assumed.push_back(path);
      }
      EXPECT_EQ(imported.machine.assumed, assumed);
      for (const Link& link : imported.machine.links) {
        if (link.kind != LinkKind::pcie) continue;
        for (const char* key : {"from", "rate", "width", "max_rate", "max_width", "mps", "mrrs", "aspm"})
          EXPECT_EQ(imported.origins.count("links." + link.name + "." + key), 1U) << link.name << "." << key;
      }
    } catch (const Error&) {
    }
  }
}

/// A whole machine in single statements, each adding itself to facts.
using Step = std::function<void(MachineFacts&)>;

std::vector<Step> steps_of_a_box() {
  std::vector<Step> steps;
  const auto device = [&](const std::string& address, auto member, auto value, const std::string& from) {
    steps.push_back([=](MachineFacts& facts) { (facts.devices[address].*member).add(value, from); });
  };
  for (int side = 0; side < 2; ++side) {
    const std::string bus = side == 0 ? "0000:0" : "0000:8";
    device(bus + "0:01.0", &PciFacts::parent, std::string(), "tree");
    device(bus + "1:00.0", &PciFacts::parent, bus + "0:01.0", "tree");
    for (int slot = 0; slot < 2; ++slot) {
      const std::string port = bus + "2:0" + std::to_string(slot * 4) + ".0";
      const std::string card = bus + std::to_string(3 + slot) + ":00.0";
      device(port, &PciFacts::parent, bus + "1:00.0", "tree");
      device(card, &PciFacts::parent, port, "tree");
      device(card, &PciFacts::class_code, std::uint32_t{0x030200}, "lspci");
      device(card, &PciFacts::vendor, std::uint32_t{0x10de}, "lspci");
      device(card, &PciFacts::gpu_model, std::string("NVIDIA A40"), "nvidia-smi");
      device(card, &PciFacts::numa, side, "lspci");
      for (const std::string& end : {port, card}) {
        device(end, &PciFacts::max_rate, PcieRate::gen4, "LnkCap");
        device(end, &PciFacts::max_width, 16, "LnkCap");
        device(end, &PciFacts::width, 16, "LnkSta");
      }
    }
  }
  support::FactsBuilder built;
  const TopoMatrix matrix = built.matrix({"GPU0", "GPU1", "GPU2", "GPU3"}, {{"X", "NV4", "SYS", "SYS"},
                                                                            {"NV4", "X", "SYS", "SYS"},
                                                                            {"SYS", "SYS", "X", "NV4"},
                                                                            {"SYS", "SYS", "NV4", "X"}});
  steps.push_back([=](MachineFacts& facts) { facts.matrices.push_back(matrix); });
  steps.push_back([](MachineFacts& facts) {
    facts.nvlinks.push_back({"0000:03:00.0", "0000:04:00.0", 4, std::nullopt, "nvlink"});
  });
  steps.push_back([](MachineFacts& facts) {
    facts.nvlinks.push_back({"0000:04:00.0", "0000:03:00.0", 4, std::nullopt, "nvlink"});
  });
  return steps;
}

TEST(RandomFacts, TheOrderOfReadingChangesNothingWhereStatementsAgree) {
  std::vector<Step> steps = steps_of_a_box();
  std::string first;
  Dice dice(7);
  for (int round = 0; round < 50; ++round) {
    MachineFacts facts;
    for (const Step& step : steps) step(facts);
    const ImportedMachine imported = machine_from_facts(facts, "box");
    EXPECT_TRUE(imported.contradictions.empty());
    if (first.empty()) first = write_machine(imported.machine);
    EXPECT_EQ(write_machine(imported.machine), first) << "round " << round;
    std::shuffle(steps.begin(), steps.end(), dice.random());
  }
  EXPECT_NE(first.find("uplink1"), std::string::npos);
}

TEST(RandomFacts, ManyFunctionsTakeTimeInProportion) {
  // 65536 functions, a few of them GPUs; the tree is a chain of switches as deep as buses allow.
  MachineFacts facts;
  for (int domain = 0; domain < 256; ++domain) {
    for (int bus = 0; bus < 256; ++bus) {
      const std::string address = "00" + hex2(domain) + ":" + hex2(bus) + ":00.0";
      PciFacts& device = facts.devices[address];
      if (bus == 255 && domain < 64) {
        device.class_code.add(0x030200, "dump");
        device.vendor.add(0x10de, "dump");
      } else {
        device.secondary_bus.add(bus + 1, "dump");
      }
    }
  }
  EXPECT_THROW(machine_from_facts(facts, "box"), Error) << "8128 switches are more than a machine may have";
  for (int domain = 8; domain < 64; ++domain) facts.devices["00" + hex2(domain) + ":ff:00.0"] = {};
  EXPECT_EQ(machine_from_facts(facts, "box").machine.gpus.size(), 8U);
}

}  // namespace
}  // namespace lanecast
