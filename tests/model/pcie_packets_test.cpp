#include "model/link/pcie_packets.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/error.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

Link link_of(PcieRate rate, int width) {
  Link link;
  link.rate = link.max_rate = rate;
  link.width = link.max_width = width;
  return link;
}

/// Line rates of facts.md C1, in B/s: GT/s x width x code / 8.
double raw_gen5_x16() { return 32e9 * 16 * 128 / 130 / 8; }

TEST(WireBytes, AddsOneHeaderPerStartedTlp) {  // facts.md C2: 24 B a posted write
  EXPECT_EQ(wire_bytes(Bytes(257), Bytes(256)), Bytes(257 + 2 * 24));
  EXPECT_EQ(wire_bytes(Bytes(256), Bytes(256)), Bytes(256 + 24));
  EXPECT_EQ(wire_bytes(Bytes(1), Bytes(128)), Bytes(1 + 24));
  EXPECT_EQ(wire_bytes(Bytes(4096), Bytes(128)), Bytes(4096 + 32 * 24));
}

TEST(WireBytes, OfACompletionAddTwenty) {  // facts.md C2
  EXPECT_EQ(wire_bytes(Bytes(512), Bytes(128), Bytes(20)), Bytes(512 + 4 * 20));
}

TEST(WireBytes, OfNothingAreNone) { EXPECT_EQ(wire_bytes(Bytes(0), Bytes(256)), Bytes(0)); }

TEST(WireBytes, NeverFallWhenThePayloadGrowsOrThePacketsShrink) {
  for (std::uint64_t payload = 0; payload < 3000; payload += 7) {
    for (std::uint64_t mps = 128; mps < 4096; mps *= 2) {
      EXPECT_LT(wire_bytes(Bytes(payload), Bytes(mps)), wire_bytes(Bytes(payload + 1), Bytes(mps)));
      EXPECT_GE(wire_bytes(Bytes(payload), Bytes(mps)), wire_bytes(Bytes(payload), Bytes(2 * mps)));
    }
  }
}

TEST(WireBytes, RefusePayloadSizesThatPcieCannotEncode) {
  for (const std::uint64_t mps : {0ull, 1ull, 64ull, 127ull, 129ull, 384ull, 8192ull}) {
    try {
      wire_bytes(Bytes(1), Bytes(mps));
      ADD_FAILURE() << mps << " B was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(std::to_string(mps)), std::string::npos) << error.what();
    }
  }
}

TEST(WirePerPayload, IsThatOfManyWholePackets) {
  const Profile profile;
  for (const std::uint64_t packet : {128u, 256u, 512u}) {
    const Bytes payload(packet * 1000);
    const double counted =
        static_cast<double>(wire_bytes(payload, Bytes(packet)).value()) / (packet * 1000.0);
    EXPECT_DOUBLE_EQ(wire_per_payload(profile, Traffic::sm_store, Bytes(packet)), counted);
    EXPECT_DOUBLE_EQ(wire_per_payload(profile, Traffic::copy_store, Bytes(packet)), counted);
  }
}

TEST(WirePerPayload,
     GivesTheCeilingsOfTheFactSheet) {  // facts.md C3; printed to 0.1 or, for Gen6, to 1, rounded twice
  struct Row {
    PcieRate rate;
    int width;
    std::vector<double> writes;       // 64, 128, 256, 512 B
    std::vector<double> completions;  // 64, 128, 256 B
    double printed_to;
  };
  Profile profile;
  profile.set(Param::pcie_read_efficiency, 1.0);  // packets only
  for (const Row& row : {Row{PcieRate::gen3, 16, {11.5, 13.3, 14.4, 15.1}, {12.0, 13.6, 14.6}, 0.1},
                         Row{PcieRate::gen4, 16, {22.9, 26.5, 28.8, 30.1}, {24.0, 27.3, 29.2}, 0.1},
                         Row{PcieRate::gen5, 8, {22.9, 26.5, 28.8, 30.1}, {24.0, 27.3, 29.2}, 0.1},
                         Row{PcieRate::gen5, 16, {45.8, 53.1, 57.6, 60.2}, {48.0, 54.5, 58.5}, 0.1},
                         Row{PcieRate::gen4, 4, {5.7, 6.6, 7.2, 7.5}, {6.0, 6.8, 7.3}, 0.1},
                         Row{PcieRate::gen2, 16, {5.8, 6.7, 7.3, 7.6}, {}, 0.1},
                         Row{PcieRate::gen6, 16, {88, 102, 111, 116}, {92, 105, 112}, 1}}) {
    const double raw_GBps = pcie_raw_rate(row.rate, row.width).value() / 1e9;
    for (const auto& [traffic, ceilings] :
         {std::pair{Traffic::sm_store, row.writes}, std::pair{Traffic::sm_load, row.completions}}) {
      std::uint64_t packet = 64;
      for (const double ceiling : ceilings) {
        EXPECT_NEAR(raw_GBps / wire_per_payload(profile, traffic, Bytes(packet)), ceiling,
                    row.printed_to * 0.6)
            << to_string(row.rate) << " x" << row.width << ", " << packet << " B";
        packet *= 2;
      }
    }
  }
}

TEST(WirePerPayload, OfReadsGrowsByTheGapsBetweenRequests) {
  Profile profile;
  profile.set(Param::pcie_read_efficiency, 0.8);
  EXPECT_DOUBLE_EQ(wire_per_payload(profile, Traffic::copy_load, Bytes(256)), (256.0 + 20) / 256 / 0.8);
}

TEST(PacketPayload,
     IsTheEnginesOwnWithinWhatThePathAllows) {  // facts.md C9: 128 B for SM stores, 256 B for CE
  const Profile profile;
  EXPECT_EQ(packet_payload(profile, Traffic::sm_store, Bytes(512)), Bytes(128));
  EXPECT_EQ(packet_payload(profile, Traffic::copy_store, Bytes(512)), Bytes(256));
  EXPECT_EQ(packet_payload(profile, Traffic::copy_load, Bytes(128)), Bytes(128));
  EXPECT_EQ(packet_payload(profile, Traffic::sm_load, Bytes(128)), Bytes(128));
}

TEST(PcieCapacity, IsTheRawRateLessDllps) {
  const Profile profile;  // facts.md C9: 2 %
  EXPECT_DOUBLE_EQ(pcie_capacity(profile, link_of(PcieRate::gen5, 16), Bytes(280)).value(),
                   raw_gen5_x16() * 0.98);
}

TEST(PcieCapacity, LosesTwoPercentToOneErrorInTenThousand) {  // facts.md C8: 256 B at Gen5 x16, 1 us a replay
  const Profile profile;
  Link link = link_of(PcieRate::gen5, 16);
  const Bytes packet(256 + 24);
  const BytesPerSecond sound = pcie_capacity(profile, link, packet);
  link.replay_rate = 1e-4;
  const double factor = pcie_capacity(profile, link, packet) / sound;
  const double packet_seconds = 280 / raw_gen5_x16();
  EXPECT_NEAR(packet_seconds, 4.4e-9, 0.05e-9);
  EXPECT_DOUBLE_EQ(factor, 1 / (1 + 1e-4 * (1e-6 / packet_seconds)));
  EXPECT_NEAR(factor, 0.98, 0.005);
}

TEST(PcieCapacityProperty, NeverRisesWithTheReplayRate) {
  const Profile profile;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (Link link : support::random_machine(seed).links) {
      if (link.kind != LinkKind::pcie) continue;
      BytesPerSecond before(1e18);
      for (const double replay_rate : {0.0, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.5}) {
        link.replay_rate = replay_rate;
        const BytesPerSecond now = pcie_capacity(profile, link, link.mps + Bytes(24));
        EXPECT_LT(now, before) << link.name << " of seed " << seed << " at " << replay_rate;
        EXPECT_GT(now, BytesPerSecond(0));
        before = now;
      }
    }
  }
}

TEST(PcieCapacity, NeverRisesWhenTheLinkNarrowsOrSlows) {
  const Profile profile;
  const std::vector<int> widths{1, 2, 4, 8, 12, 16};
  for (int rate = 1; rate <= 6; ++rate) {
    for (std::size_t w = 0; w < widths.size(); ++w) {
      Link link = link_of(static_cast<PcieRate>(rate), widths[w]);
      link.replay_rate = 1e-3;
      const BytesPerSecond here = pcie_capacity(profile, link, Bytes(152));
      Link narrow = link, slow = link;
      if (w > 0) narrow.width = widths[w - 1];
      if (rate > 1) slow.rate = static_cast<PcieRate>(rate - 1);
      EXPECT_LE(pcie_capacity(profile, narrow, Bytes(152)), here);
      EXPECT_LE(pcie_capacity(profile, slow, Bytes(152)), here);
    }
  }
}

TEST(AspmExit, IsPaidByLinksThatMaySleepOnly) {  // facts.md C8: L0s up to 4 us, a 4090 reports L1 below 16 us
  const Profile profile;
  Link link = link_of(PcieRate::gen4, 16);
  EXPECT_EQ(aspm_exit(profile, link), Seconds(0));
  link.aspm = Aspm::l0s;
  EXPECT_EQ(aspm_exit(profile, link), profile.time(Param::pcie_l0s_exit));
  EXPECT_LE(aspm_exit(profile, link), Seconds(4e-6));
  link.aspm = Aspm::l1;
  EXPECT_EQ(aspm_exit(profile, link), profile.time(Param::pcie_l1_exit));
  EXPECT_NEAR(aspm_exit(profile, link).value(), 16e-6, 1e-12);
}

}  // namespace
}  // namespace lanecast
