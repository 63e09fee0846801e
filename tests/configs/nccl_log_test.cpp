#include "configs/nccl_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

/// A log of these lines from a stream.
NcclLog log_of(const std::string& text, const NcclLogLimits& limits = {}) {
  std::istringstream stream(text);
  return read_nccl_log(stream, "run.log", limits);
}

/// One line of NCCL's.
std::string info(const std::string& message, int device = 0) {
  return "box:4101:4120 [" + std::to_string(device) + "] NCCL INFO " + message + "\n";
}

std::string refusal_of_log(const std::string& text, const NcclLogLimits& limits = {}) {
  return refusal([&] { log_of(text, limits); });
}

/// The only setting of a log, as "NAME=VALUE".
std::string only_setting(const std::string& text) {
  const NcclLog log = log_of(text);
  if (log.settings.size() != 1) return std::to_string(log.settings.size()) + " settings";
  return log.settings[0].name + "=" + log.settings[0].value;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NcclLog, TakesSettingsInAllOfNcclsWordings) {
  EXPECT_EQ(only_setting(info("NCCL_NVLS_ENABLE set by environment to 0.")), "NCCL_NVLS_ENABLE=0");
  EXPECT_EQ(only_setting(info("NCCL_MAX_NCHANNELS set by environment to -2.")), "NCCL_MAX_NCHANNELS=-2");
  EXPECT_EQ(only_setting(info("NCCL_PROTO set by environment to Simple")), "NCCL_PROTO=Simple");
  EXPECT_EQ(only_setting(info("NCCL_P2P_LEVEL set by environment to SYS")), "NCCL_P2P_LEVEL=SYS");
  EXPECT_EQ(only_setting(info("NCCL_P2P_DISABLE set by environment to 1")), "NCCL_P2P_DISABLE=1");
  EXPECT_EQ(only_setting(info("NCCL_ALGO set by environment to allreduce:ring;allgather:^tree")),
            "NCCL_ALGO=allreduce:ring;allgather:^tree");
  EXPECT_EQ(only_setting(info("NCCL_THREAD_THRESHOLDS set by environment to 8 8 64 16 8 64")),
            "NCCL_THREAD_THRESHOLDS=8 8 64 16 8 64");
  EXPECT_EQ(only_setting(info("NCCL_SOCKET_IFNAME set to eth0")), "NCCL_SOCKET_IFNAME=eth0");
  EXPECT_EQ(only_setting(info("NCCL_TOPO_FILE set by environment to /etc/box.v2.")),
            "NCCL_TOPO_FILE=/etc/box.v2.")
      << "only numbers lose their full stop";
  EXPECT_EQ(only_setting(info("TUNER/Plugin: Plugin name set by env to libmine.so")),
            "NCCL_TUNER_PLUGIN=libmine.so");
  EXPECT_EQ(only_setting(info("Parsed environment variable NCCL_CTA_POLICY=ZERO to 2")),
            "NCCL_CTA_POLICY=ZERO");
}

TEST(NcclLog, TakesSettingsFromAFailedChoice) {
  const NcclLog log = log_of(
      info("cudaDriverVersion 13000") +
      "box:7:7 [0] enqueue.cc:2101 NCCL WARN Error : no algorithm/protocol available for function AllGather "
      "with datatype ncclFloat32. NCCL_ALGO was set to Tree. NCCL_PROTO was set to LL.\n");
  ASSERT_EQ(log.settings.size(), 2u);
  EXPECT_EQ(log.settings[0].value, "Tree");
  EXPECT_EQ(log.settings[1].name, "NCCL_PROTO");
  EXPECT_EQ(log.settings[1].value, "LL");
  EXPECT_EQ(log.settings[1].origin, "run.log:2");
}

TEST(NcclLog, PassesOverWhatIsNoSetting) {
  EXPECT_TRUE(log_of(info("P2P Chunksize set to 131072") + info("Comm config minCTAs set to 4") +
                     info("NCCL_PROTO set by environm") + "NCCL_PROTO set by environment to LL\n" +
                     "export NCCL_ALGO=Ring\n" + info("Using NCCL_X set to y") +
                     "box:1:1 [0] NCCL INFO NCCL_PROTO set bybox:1:2 [1] NCCL INFO NCCL_PROTO set to LL\n")
                  .settings.empty());
}

TEST(NcclLog, PrefixesCrlfColoursAndTimestampsDoNotMatter) {
  const std::string line = "box:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL";
  for (const std::string& text :
       {"[0] " + line, "1: " + line, "(worker pid=7) " + line, line + "\r\n", line + "   ",
        "\033[32m0: \033[0m" + line + "\033[K", "\033]0;title\a" + line, "[2026-11-02 10:00:00] " + line,
        "[1,0]<stdout>:" + line, "\xef\xbb\xbf" + line}) {
    EXPECT_EQ(only_setting(text), "NCCL_PROTO=LL") << text;
  }
}

TEST(NcclLog, SettingsAreKeptOnceWithTheirFirstLine) {
  const NcclLog log = log_of(
      "# nccl-tests version 2.19.6\n" + info("NCCL_PROTO set by environment to LL", 0) +
      info("NCCL_PROTO set by environment to LL", 1) + info("NCCL_NTHREADS set by environment to 128.", 1));
  ASSERT_EQ(log.settings.size(), 2u);
  EXPECT_EQ(log.settings[0].origin, "run.log:2");
  EXPECT_EQ(log.settings[1].origin, "run.log:4");
  EXPECT_TRUE(log.conflicts.empty());
  EXPECT_FALSE(log.version);
}

TEST(NcclLog, RanksThatDisagreeAreReportedWithBothLines) {
  const NcclLog log = log_of(info("NCCL_PROTO set by environment to LL", 0) +
                             info("NCCL_PROTO set by environment to Simple", 1) +
                             info("NCCL_PROTO set by environment to LL128", 2));
  ASSERT_EQ(log.settings.size(), 1u);
  EXPECT_EQ(log.settings[0].value, "LL");
  ASSERT_EQ(log.conflicts.size(), 1u);
  EXPECT_EQ(log.conflicts[0].name, "NCCL_PROTO");
  EXPECT_EQ(log.conflicts[0].first_line, 1);
  EXPECT_EQ(log.conflicts[0].second_value, "Simple");
  EXPECT_EQ(log.conflicts[0].second_line, 2);
}

TEST(NcclLog, NamesTheReleaseThatWroteIt) {
  const NcclLog log = log_of("\n" + info("NCCL version 2.28.9+cuda13.0"));
  ASSERT_TRUE(log.version);
  EXPECT_FALSE(log.version->release.rccl);
  EXPECT_EQ(log.version->release.minor, 28);
  EXPECT_EQ(log.version->major, 2);
  EXPECT_EQ(log.version->text, "2.28.9+cuda13.0");
  EXPECT_EQ(log.version->line, 2);
  const NcclLog rccl = log_of(info("RCCL version : 2.22.3-HEAD:0123abc") + "HIP version  : 6.4.1\n");
  ASSERT_TRUE(rccl.version);
  EXPECT_TRUE(rccl.version->release.rccl);
  EXPECT_EQ(rccl.version->release.minor, 22);
  EXPECT_EQ(log_of(info("x") + "NCCL version 2.18.3+cuda12.1\n").version->release.minor, 18) << "older form";
  EXPECT_EQ(log_of("[0] RCCL version 2.18.6+hip6.0 HEAD:0123\n" + info("x")).version->release.minor, 18);
  EXPECT_FALSE(log_of(info("NCCL version mismatch with remote peer")).version);
}

TEST(NcclLog, TwoReleasesAreNoticedAndAPrintedOneGivesWay) {
  const NcclLog two = log_of(info("NCCL version 2.27.3+cuda12.9") + info("NCCL version 2.28.9+cuda13.0"));
  EXPECT_EQ(two.version->release.minor, 27);
  ASSERT_TRUE(two.other_version);
  EXPECT_EQ(two.other_version->line, 2);
  EXPECT_FALSE(
      log_of(info("NCCL version 2.28.9+cuda13.0") + info("NCCL version 2.28.7+cuda12.9")).other_version)
      << "the same minor release";
  const NcclLog printed = log_of("torch has NCCL version 2.19.3\n" + info("NCCL version 2.28.9+cuda13.0"));
  EXPECT_EQ(printed.version->release.minor, 28);
  EXPECT_FALSE(printed.other_version);
}

TEST(NcclLog, TakesRingsAndCounts) {
  const NcclLog log = log_of(
      info("comm 0x7f rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0 MNNVL 0") +
      info("Channel 01/02 :    0   2   1   3") + info("Channel 00/02 : 0 1 2 3") +
      info("threadThresholds 8/8/64 | 32/8/64 | 512 | 512") +
      info("2 coll channels, 3 collnet channels, 4 nvls channels, 5 p2p channels, 6 p2p channels per peer"));
  EXPECT_EQ(log.ranks, 4);
  EXPECT_EQ(log.nodes, 1);
  EXPECT_EQ(log.ring_channels, 2);
  ASSERT_EQ(log.rings.size(), 2u);
  EXPECT_EQ(log.rings[0].channel, 0);
  EXPECT_EQ(log.rings[0].line, 3);
  EXPECT_EQ(log.rings[1].order, (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(log.coll_channels, 2);
  EXPECT_EQ(log.nvls_channels, 4);
  EXPECT_EQ(log.thread_thresholds, (std::array<std::int64_t, 6>{8, 8, 64, 32, 8, 64}));
  EXPECT_FALSE(log.several_communicators);
  EXPECT_FALSE(log_of(info("4 coll channels, 4 p2p channels, 2 p2p channels per peer")).nvls_channels);
}

TEST(NcclLog, TakesConnectionsOnceForAllTheirChannels) {
  const NcclLog log = log_of(info("Channel 01/0 : 0[0] -> 1[1] via P2P/direct pointer") +
                             info("Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer") +
                             info("Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer") +
                             info("Channel 00 : 1[1] -> 2[c1000] via SHM/direct/direct", 1) +
                             info("Channel 00/0 : 2[2] -> 3[3] via P2P/CUMEM/read", 2) +
                             info("Channel 00/0 : 3[3] -> 4[0] [send] via NET/Socket/0", 3) +
                             info("Channel 00/0 : 2[2] -> 3[3] [receive] via NET/Socket/0", 3) +
                             info("Channel 00/1 : 0[0] -> 3[3] via P2P/IPC", 0) +
                             info("Channel 00/0 : 0[0] ->") + info("Channel x"));
  ASSERT_EQ(log.connections.size(), 4u);
  EXPECT_EQ(log.connections[0].via, "P2P/direct pointer");
  EXPECT_EQ(log.connections[0].channels, (std::vector<int>{0, 1}));
  EXPECT_EQ(log.connections[0].line, 1);
  EXPECT_EQ(log.connections[1].via, "SHM/direct/direct");
  EXPECT_EQ(log.connections[1].to_rank, 2);
  EXPECT_EQ(log.connections[2].via, "P2P/CUMEM/read");
  EXPECT_EQ(log.connections[3].via, "NET/Socket/0");
  EXPECT_TRUE(log.rings.empty());
}

TEST(NcclLog, TakesTheSearchThatFoundNothing) {
  const std::string warn = "box:7:9 [1] graph/search.cc:1135 NCCL WARN Could not find a path for pattern ";
  const std::string tail = ", falling back to simple order\n";
  const NcclLog log =
      log_of(info("x") + "\n" + warn + "4" + tail + "\n" + warn + "1" + tail + warn + "4" + tail);
  EXPECT_EQ(log.fallback_patterns, (std::vector<int>{1, 4}));
}

TEST(NcclLog, SeveralCommunicatorsKeepTheFirst) {
  const NcclLog log = log_of(info("Channel 00/02 : 0 1") + info("2 coll channels, 0 nvls channels") +
                             info("Channel 00/04 : 0 1 2 3") + info("4 coll channels, 0 nvls channels"));
  EXPECT_EQ(log.coll_channels, 2);
  EXPECT_EQ(log.ring_channels, 2);
  EXPECT_EQ(log.rings[0].order.size(), 2u);
  EXPECT_TRUE(log.several_communicators);
}

TEST(NcclLog, RefusesWhatIsNoLogOfNccls) {
  EXPECT_EQ(refusal_of_log(""),
            "`run.log` is empty\n  at run.log\n  mend: run with NCCL_DEBUG=INFO and give what it prints");
  const std::string none =
      "no NCCL INFO line in `run.log`\n  at run.log\n  mend: run with NCCL_DEBUG=INFO and give what it "
      "prints";
  EXPECT_EQ(refusal_of_log("epoch 1\nepoch 2\n"), none);
  EXPECT_EQ(refusal_of_log("\n"), none);
  EXPECT_EQ(refusal_of_log("NCCL version 2.28.9+cuda13.0\n"), none) << "NCCL_DEBUG=VERSION";
  EXPECT_EQ(refusal_of_log("box:1:1 [0] x.cc:1 NCCL WARN bad\n"), none) << "NCCL_DEBUG=WARN";
}

TEST(NcclLog, RefusesBinaryPackedAndHugeInput) {
  EXPECT_TRUE(contains(refusal_of_log("a\nb" + std::string(1, '\0') + "c\n"), "run.log:2"));
  EXPECT_TRUE(contains(refusal_of_log("\x1f\x8b\x08"), "gzip -dc"));
  EXPECT_TRUE(contains(refusal_of_log("\x28\xb5\x2f\xfd"), "zstd -dc"));
  EXPECT_TRUE(contains(refusal_of_log(std::string("\xff\xfe") + "b"), "UTF-16"));
  NcclLogLimits limits;
  limits.bytes = 100'000;
  EXPECT_TRUE(contains(refusal_of_log(info("x") + std::string(200'000, 'y'), limits), "is larger than"));
}

TEST(NcclLog, LongLinesAreCutNotKept) {
  NcclLogLimits limits;
  limits.line_bytes = 200;
  const NcclLog log = log_of(info("NCCL_ALGO set by environment to Ring") +
                                 info("NCCL_TOPO_FILE set to " + std::string(100'000, 'x')) +
                                 info("NCCL_PROTO set by environment to LL"),
                             limits);
  ASSERT_EQ(log.settings.size(), 3u);
  EXPECT_LT(log.settings[1].value.size(), 200u);
  EXPECT_EQ(log.settings[2].value, "LL");
  EXPECT_EQ(log.settings[2].origin, "run.log:3");
}

TEST(NcclLog, ListsAreBounded) {
  NcclLogLimits limits;
  limits.entries = 10;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    text +=
        info("NCCL_X" + n + " set by environment to " + n) + info("NCCL_X" + n + " set by environment to y");
    text += info("Channel 00/0 : 0[0] -> " + n + "[1] via P2P/IPC");
    text += "NCCL WARN Could not find a path for pattern " + n + ", falling back to simple order\n";
  }
  const NcclLog log = log_of(text, limits);
  EXPECT_EQ(log.settings.size(), 10u);
  EXPECT_EQ(log.conflicts.size(), 10u);
  EXPECT_EQ(log.connections.size(), 10u);
  EXPECT_EQ(log.fallback_patterns.size(), 10u);
}

TEST(NcclLog, FilesThatCannotBeReadAreNamed) {
  EXPECT_TRUE(contains(refusal([] { read_nccl_log("no/such.log"); }), "cannot read `no/such.log`"));
  EXPECT_TRUE(contains(refusal([] { read_nccl_log("."); }), "cannot read `.`"));
}

/// A log of a real run, which is not part of the repository.
std::string real_log(const std::string& name) { return std::string(LANECAST_TEST_SHARED_DIR) + "/" + name; }

TEST(RealNcclLog, OfTwoGpusOverNvlink) {
  const std::string path = real_log("measurements/h200x2-nvlink/nccl-tests-debug-info.log");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  const NcclLog log = read_nccl_log(path);
  ASSERT_TRUE(log.version);
  EXPECT_EQ(log.version->text, "2.28.9+cuda13.0");
  ASSERT_EQ(log.settings.size(), 1u);
  EXPECT_EQ(log.settings[0].name, "NCCL_NVLS_ENABLE");
  EXPECT_EQ(log.settings[0].value, "0");
  EXPECT_EQ(log.ring_channels, 24);
  EXPECT_EQ(log.rings.size(), 24u);
  EXPECT_EQ(log.coll_channels, 24);
  EXPECT_EQ(log.nvls_channels, 0);
  EXPECT_EQ(log.thread_thresholds, (std::array<std::int64_t, 6>{8, 8, 64, 16, 8, 64}));
  ASSERT_EQ(log.connections.size(), 2u);
  for (const NcclLogConnection& each : log.connections) {
    EXPECT_EQ(each.via, "P2P/direct pointer");
    EXPECT_EQ(each.channels.size(), 24u);
  }
  EXPECT_TRUE(log.fallback_patterns.empty());
  EXPECT_TRUE(log.conflicts.empty());
  EXPECT_FALSE(log.several_communicators);
}

TEST(RealNcclLog, OfTwoGpusOverHostMemory) {
  const std::string path = real_log("measurements/h200x2-nvlink/nccl-tests-p2p-disabled-debug-info.log");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  const NcclLog log = read_nccl_log(path);
  EXPECT_EQ(log.version->release.minor, 28);
  std::string settings;
  for (const NcclSetting& each : log.settings) settings += each.name + "=" + each.value + " ";
  EXPECT_TRUE(contains(settings, "NCCL_P2P_DISABLE=1 ")) << settings;
  EXPECT_TRUE(contains(settings, "NCCL_TOPO_DUMP_FILE=topo.xml ")) << settings;
  EXPECT_EQ(log.coll_channels, 4);
  EXPECT_EQ(log.rings.size(), 4u);
  ASSERT_EQ(log.connections.size(), 2u);
  EXPECT_EQ(log.connections[0].via, "SHM/direct/direct");
}

TEST(RealNcclLog, OfASearchThatFellBack) {
  const std::string path = real_log("cases/raw/nccl-info-2x5090-genoa.txt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  const NcclLog log = read_nccl_log(path);
  EXPECT_EQ(log.version->release.minor, 25);
  EXPECT_TRUE(log.settings.empty());
  EXPECT_EQ(log.fallback_patterns, (std::vector<int>{1, 4}));
  EXPECT_EQ(log.coll_channels, 2);
  EXPECT_EQ(log.ranks, 2);
  EXPECT_EQ(log.connections.size(), 2u);
}

TEST(RealNcclLog, PlainTestOutputHasNone) {
  const std::string path = real_log("measurements/h200x2-nvlink/nccl-tests-ring-ll.log");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  EXPECT_TRUE(contains(refusal([&] { read_nccl_log(path); }), "no NCCL INFO line"));
}

}  // namespace
}  // namespace lanecast
