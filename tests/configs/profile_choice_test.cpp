#include "configs/profile_choice.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = std::string(LANECAST_TEST_SOURCE_ROOT) + "/tests/fixtures/profiles/";

Implementation nccl() { return implementation_from_string("nccl"); }
Implementation engine() { return implementation_from_string("lanecast"); }

/// A data folder of its own with the profiles that a test writes.
class ProfileChoice : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("lanecast_profiles_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "machines");
    fs::create_directories(folder_ / "profiles");
    const char* before = std::getenv("LANECAST_DATA");
    before_ = before != nullptr ? before : "";
    setenv("LANECAST_DATA", folder_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    unsetenv("LANECAST_DATA");
    if (!before_.empty()) setenv("LANECAST_DATA", before_.c_str(), 1);
  }

  void ship(const std::string& name, const std::string& gpus, const std::string& part = "nccl") {
    std::ofstream(folder_ / "profiles" / (name + ".yaml"))
        << "lanecast_profile: 1\nprofile: " << name << "\ngpus: " << gpus << "\nimplementations:\n  " << part
        << ":\n    parameters:\n      gpu.channel_spread: {value: 0.03125}\n"
        << "      latency.root: {value: 300, unit: ns}\n";
  }

  static Machine machine_of(const std::vector<std::string>& models) {
    Machine machine;
    machine.name = "box";
    for (const std::string& model : models) {
      machine.gpus.push_back({});
      machine.gpus.back().model = model;
    }
    return machine;
  }

  static std::string chosen(const Machine& machine, const std::string& asked = "auto") {
    return choose_profile(asked, machine, nccl()).profile.name;
  }

  fs::path folder_;
  std::string before_;
};

TEST_F(ProfileChoice, TheProfileForTheMachinesGpusIsTaken) {
  ship("h200", "[H200]");
  ship("a40", "[\"NVIDIA A40\"]");
  const ChosenProfile chosen = choose_profile("auto", machine_of({"NVIDIA H200", "NVIDIA H200"}), nccl());
  EXPECT_EQ(chosen.profile.name, "h200");
  EXPECT_EQ(chosen.reason, "profile `h200` is for the machine's GPUs, `NVIDIA H200`");
  EXPECT_EQ(chosen.profile.value(Param::channel_spread), 0.03125);
  EXPECT_TRUE(chosen.warnings.empty());
}

TEST_F(ProfileChoice, GenericIsTakenWhereNoneOrSeveralFit) {
  ship("h200", "[H200]");
  EXPECT_EQ(chosen(machine_of({"NVIDIA A40"})), "generic");
  EXPECT_EQ(chosen(machine_of({"NVIDIA H200 NVL"})), "generic");
  EXPECT_EQ(chosen(machine_of({""})), "generic");
  ship("h200-too", "[\"NVIDIA H200\", A40]");
  const ChosenProfile two = choose_profile("auto", machine_of({"H200"}), nccl());
  EXPECT_EQ(two.profile.name, "generic");
  EXPECT_NE(two.reason.find("`h200` and `h200-too`"), std::string::npos) << two.reason;
}

TEST_F(ProfileChoice, MixedGpusTakeGenericAndAbsentOnesDontCount) {
  ship("h200", "[H200]");
  Machine machine = machine_of({"NVIDIA H200", "NVIDIA A40"});
  EXPECT_EQ(chosen(machine), "generic");
  machine.gpus[1].present = false;
  EXPECT_EQ(chosen(machine), "h200");
}

TEST_F(ProfileChoice, TheMachinesFileGoesBeforeItsGpusAndTheOptionBeforeBoth) {
  ship("h200", "[H200]");
  ship("other", "[]");
  Machine machine = machine_of({"NVIDIA H200"});
  machine.profile = "other";
  EXPECT_EQ(chosen(machine), "other");
  EXPECT_EQ(choose_profile("auto", machine, nccl()).reason, "the machine's file asks for it");
  EXPECT_EQ(chosen(machine, "h200"), "h200");
  EXPECT_EQ(chosen(machine, "generic"), "generic");
  machine.profile = "h20";
  const std::string message = refusal([&] { choose_profile("auto", machine, nccl()); });
  EXPECT_NE(message.find("there is no profile `h20`"), std::string::npos) << message;
  EXPECT_NE(message.find("machine `box` (profile)"), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean `h200`?"), std::string::npos) << message;
}

TEST_F(ProfileChoice, NcclsValuesServeItsReleasesItsModelAndRccl) {
  ship("h200", "[H200]");
  const Machine machine = machine_of({"H200"});
  for (const char* name : {"nccl", "nccl-2.28", "nccl-model", "rccl"}) {
    const ChosenProfile chosen = choose_profile("auto", machine, implementation_from_string(name));
    EXPECT_EQ(chosen.profile.value(Param::channel_spread), 0.03125) << name;
    EXPECT_TRUE(chosen.warnings.empty()) << name;
  }
}

TEST_F(ProfileChoice, WhatIsForTheOtherImplementationOnlyGivesPriorsAndAWarning) {
  ship("h200", "[H200]");
  const ChosenProfile chosen = choose_profile("auto", machine_of({"H200"}), engine());
  for (std::size_t i = 0; i < parameter_count; ++i) {
    EXPECT_TRUE(chosen.profile.from_prior(static_cast<Param>(i)));
  }
  ASSERT_EQ(chosen.warnings.size(), 1U);
  EXPECT_EQ(chosen.warnings[0].code, "LC-PROFILE-02");
  EXPECT_EQ(chosen.warnings[0].text,
            "profile `h200` holds nothing for lanecast, only for `nccl`; priors are used");
}

TEST_F(ProfileChoice, ATransferTakesEachGroupFromItsProfile) {
  ship("a", "[]");
  ship("b", "[]");
  const Profile both = choose_profile("gpu=a,link=b", machine_of({"x"}), nccl()).profile;
  EXPECT_EQ(both.name, "gpu=a,link=b");
  EXPECT_EQ(both.origin(Param::channel_spread), "profile `a`");
  EXPECT_EQ(both.origin(Param::latency_root), "profile `b`");
  const Profile gpu_alone = choose_profile("gpu=a", machine_of({"x"}), nccl()).profile;
  EXPECT_FALSE(gpu_alone.from_prior(Param::channel_spread));
  EXPECT_TRUE(gpu_alone.from_prior(Param::latency_root));
  EXPECT_FALSE(choose_profile("link=b,gpu=generic", machine_of({"x"}), nccl())
                   .profile.from_prior(Param::latency_root));
}

TEST_F(ProfileChoice, ATransferThatIsNoneIsRefused) {
  ship("a", "[]");
  const auto message = [&](const std::string& asked) {
    return refusal([&] { choose_profile(asked, machine_of({"x"}), nccl()); });
  };
  EXPECT_NE(message("gpu=a,cpu=a").find("`cpu` is no group"), std::string::npos);
  EXPECT_NE(message("cpu=a").find("`cpu` is no group"), std::string::npos);
  EXPECT_NE(message("gpu=a,gpu=a").find("`gpu` occurs twice"), std::string::npos);
  EXPECT_NE(message("gpu=").find("`gpu` names no profile"), std::string::npos);
  EXPECT_NE(message("gpu=a,").find("no group"), std::string::npos);
  EXPECT_NE(message("gpu=c").find("there is no profile `c`"), std::string::npos);
  EXPECT_NE(message("gpu=" + fixtures + "mixed.yaml").find("takes its own values from others"),
            std::string::npos);
}

TEST_F(ProfileChoice, AFilesTransferIsSoughtBesideTheFile) {
  const Profile both = choose_profile(fixtures + "mixed.yaml", machine_of({"x"}), nccl()).profile;
  EXPECT_EQ(both.name, "mixed");
  EXPECT_EQ(both.origin(Param::base_generic), "profile `hand-h200`");
  EXPECT_EQ(both.origin(Param::latency_root), "profile `hand-l40s`: a guess");
  EXPECT_TRUE(both.from_prior(Param::latency_switch));  // the links are those of the other profile
}

TEST_F(ProfileChoice, AFileIsTakenByItsPath) {
  EXPECT_EQ(chosen(machine_of({"x"}), fixtures + "hand-h200.yaml"), "hand-h200");
  EXPECT_NE(refusal([&] { choose_profile("absent.yaml", machine_of({"x"}), nccl()); }).find("absent.yaml"),
            std::string::npos);
}

TEST(PlainGpuModel, LeavesOutVendorAndMemory) {
  EXPECT_EQ(plain_gpu_model("NVIDIA H200"), "h200");
  EXPECT_EQ(plain_gpu_model("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(plain_gpu_model("NVIDIA GeForce RTX 4090"), "rtx 4090");
  EXPECT_EQ(plain_gpu_model("Tesla V100-SXM2-32GB"), "v100 sxm2");
  EXPECT_EQ(plain_gpu_model("Tesla V100-PCIE-16GB"), plain_gpu_model("V100 PCIe"));
  EXPECT_NE(plain_gpu_model("NVIDIA H200 NVL"), plain_gpu_model("NVIDIA H200"));
  EXPECT_NE(plain_gpu_model("RTX 4090"), plain_gpu_model("RTX 4090 D"));
  EXPECT_EQ(plain_gpu_model(""), "");
}

}  // namespace
}  // namespace lanecast
