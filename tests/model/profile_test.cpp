#include "model/profile/profile.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "model/error.hpp"

namespace lanecast {
namespace {

TEST(ParameterTable, EveryPriorLiesInItsRange) {
  for (const ParameterInfo& about : parameter_table()) {
    EXPECT_LE(about.low, about.prior) << about.name;
    EXPECT_GE(about.high, about.prior) << about.name;
    EXPECT_GE(about.low, 0) << about.name << ": nothing in the model is negative";
  }
}

TEST(ParameterTable, EveryParameterHasNameUnitSourceAndMeaning) {
  const std::set<std::string> units{"1", "B", "ns", "us", "GB/s"};
  for (const ParameterInfo& about : parameter_table()) {
    EXPECT_FALSE(about.name.empty());
    EXPECT_EQ(units.count(about.unit), 1u) << about.name << " in `" << about.unit << "`";
    EXPECT_FALSE(about.source.empty()) << about.name;
    EXPECT_FALSE(about.doc.empty()) << about.name;
  }
}

TEST(ParameterTable, NamesAreUniqueAndFoundAgain) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const std::string& name = parameter_table()[i].name;
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    ASSERT_TRUE(parameter_from_name(name).has_value()) << name;
    EXPECT_EQ(static_cast<std::size_t>(*parameter_from_name(name)), i) << name;
    EXPECT_EQ(&info(static_cast<Param>(i)), &parameter_table()[i]);
  }
  EXPECT_FALSE(parameter_from_name("pcie.no_such_thing").has_value());
  EXPECT_FALSE(parameter_from_name("").has_value());
}

TEST(ParameterTable,
     SitsAtTheEnumeratorOfTheSameMeaning) {  // the table is written in the order of `Param` by hand
  EXPECT_EQ(info(Param::pcie_write_overhead).name, "pcie.write_overhead");
  EXPECT_EQ(info(Param::pcie_replay_time).name, "pcie.replay_time");
  EXPECT_EQ(info(Param::duplex_peer).name, "duplex.peer");
  EXPECT_EQ(info(Param::host_joint_share).name, "host.joint_share");
  EXPECT_EQ(info(Param::channel_spread).name, "gpu.channel_spread");
  EXPECT_EQ(info(Param::latency_gpu).name, "latency.gpu");
  EXPECT_EQ(info(Param::host_poll_share).name, "host.poll_share");
  EXPECT_EQ(info(Param::nvlink_copy_efficiency).name, "nvlink.copy_efficiency");
  EXPECT_EQ(info(Param::staged_copy_latency).name, "staged.latency");
  EXPECT_EQ(info(Param::registration_exchange).name, "gpu.registration_exchange");
  EXPECT_EQ(info(Param::simple_host_copy).name, "simple.host.copy");
  EXPECT_EQ(info(Param::ll_peer_poll).name, "ll.peer_poll");
  EXPECT_EQ(info(Param::l2_share).name, "gpu.l2_share");
  EXPECT_EQ(info(Param::ll128_overhead).name, "ll128.overhead");
  EXPECT_EQ(info(Param::band_bandwidth).name, "band.bandwidth");
}

TEST(ParameterTable, HoldsThePriorsOfTheFactSheet) {  // facts.md C2, C8, C9, h200-findings.md
  struct Row {
    Param parameter;
    double prior, low, high;
  };
  for (const Row& row :
       {Row{Param::pcie_write_overhead, 24, 24, 28}, Row{Param::pcie_completion_overhead, 20, 20, 24},
        Row{Param::pcie_sm_payload, 128, 64, 512}, Row{Param::pcie_copy_payload, 256, 64, 512},
        Row{Param::latency_switch, 115, 100, 150}, Row{Param::latency_root, 275, 200, 400},
        Row{Param::latency_gpu, 560, 450, 650}, Row{Param::host_joint_share, 0.65, 0.5, 0.9}}) {
    const ParameterInfo& about = info(row.parameter);
    EXPECT_EQ(about.prior, row.prior) << about.name;
    EXPECT_EQ(about.low, row.low) << about.name;
    EXPECT_EQ(about.high, row.high) << about.name;
  }
  EXPECT_EQ(info(Param::pcie_dllp_share).prior, 0.02);
  EXPECT_EQ(info(Param::duplex_uplink).prior, 0.03);
  EXPECT_EQ(info(Param::duplex_host).prior, 0.09);
  EXPECT_EQ(info(Param::host_joint_exponent).prior, 1.6);
  EXPECT_EQ(info(Param::channel_spread).prior, 0.09);
  EXPECT_EQ(info(Param::l2_hot_gain).prior, 1.46);
}

TEST(Profile, HoldsPriorsUntilSet) {
  Profile profile;
  EXPECT_EQ(profile.name, "generic");
  for (std::size_t i = 0; i < parameter_count; ++i) {
    EXPECT_EQ(profile.value(static_cast<Param>(i)), parameter_table()[i].prior);
    EXPECT_TRUE(profile.from_prior(static_cast<Param>(i)));
  }
  profile.set(Param::latency_switch, 120);
  EXPECT_EQ(profile.value(Param::latency_switch), 120);
  EXPECT_FALSE(profile.from_prior(Param::latency_switch));
  EXPECT_TRUE(profile.from_prior(Param::latency_root));
}

TEST(Profile, TakesBothEndsOfARangeAndRefusesWhatLiesOutside) {
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const ParameterInfo& about = info(parameter);
    Profile profile;
    profile.set(parameter, about.low);
    profile.set(parameter, about.high);
    const double step = 1e-6 * (about.high - about.low) + 1e-9;
    for (const double wrong : {about.low - step, about.high + step, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
      try {
        profile.set(parameter, wrong);
        ADD_FAILURE() << about.name << " took " << wrong;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find(about.name), std::string::npos) << error.what();
      }
      EXPECT_EQ(profile.value(parameter), about.high) << about.name << " changed all the same";
    }
  }
}

TEST(Profile, ConvertsToSecondsAndBytesPerSecond) {
  Profile profile;
  profile.set(Param::latency_switch, 125);     // ns
  profile.set(Param::pcie_replay_time, 2.0);   // us
  profile.set(Param::simple_peer_send, 37.5);  // GB/s
  EXPECT_DOUBLE_EQ(profile.time(Param::latency_switch).value(), 125e-9);
  EXPECT_DOUBLE_EQ(profile.time(Param::pcie_replay_time).value(), 2e-6);
  EXPECT_DOUBLE_EQ(profile.rate(Param::simple_peer_send).value(), 37.5e9);
}

}  // namespace
}  // namespace lanecast
