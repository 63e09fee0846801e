// Output of nccl-tests as measured data (docs/measured-data.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "configs/measured/read_measured.hpp"
#include "model/measured/measured_settings.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(LANECAST_TEST_SOURCE_ROOT) / "tests" / "fixtures" / "measured";
const std::filesystem::path kShared = LANECAST_TEST_SHARED_DIR;

const std::string kColumns =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw "
    "#wrong\n";
const std::string kRanks =
    "#  Rank  0 Group  0 Pid 1 on nodeA device  0 [0x41] Example GPU\n"
    "#  Rank  1 Group  0 Pid 1 on nodeA device  1 [0x42] Example GPU\n";
const std::string kThread =
    "# nThread 1 nGpus 2 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 10 agg iters: 1 "
    "validation: 1 graph: 0\n";
// 2048 B in 10 us are 0.20 GB/s
const std::string kRow1 = "  1024  256  float  sum  -1  10.00  0.10  0.10  0  10.00  0.10  0.10  0\n";
const std::string kRow2 = "  2048  512  float  sum  -1  10.00  0.20  0.20  0  10.00  0.20  0.20  0\n";
const std::string kRow4 = "  4096  1024  float  sum  -1  10.00  0.41  0.41  0  10.00  0.41  0.41  0\n";

MeasuredData log(const std::string& text) { return read_measured(text, "run.log"); }
std::string refused(const std::string& text) {
  return refusal([&] { read_measured(text, "run.log"); });
}
std::string warned(const MeasuredData& data) {
  std::string all;
  for (const Warning& warning : data.warnings) all += warning.code + " " + warning.text + "\n";
  return all;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(NcclTestsText, StatesTheRunInItsHead) {
  const MeasuredData data = log(kThread + kRanks + kColumns + kRow1 + kRow2 + kRow4);
  ASSERT_EQ(data.calls.size(), 6u);
  const MeasuredCall& m = data.calls[0];
  EXPECT_EQ(m.call.collective, Collective::all_reduce);  // a sum without a root over the whole buffer
  EXPECT_EQ(m.call.size, Bytes(1024));
  EXPECT_EQ(m.ranks, 2);
  EXPECT_EQ(m.call.ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(m.call.launch, Launch::stream);
  EXPECT_EQ(m.call.iterations, 10);
  EXPECT_DOUBLE_EQ(m.time.value(), 10e-6);
  EXPECT_EQ(m.implementation, "nccl");
  EXPECT_EQ(m.wrong, 0u);
  EXPECT_EQ(m.where, "run.log:5");
  EXPECT_EQ(m.call.working_set, Bytes(2 * 4096));  // 10 x 1024 B are more than the buffer
  EXPECT_TRUE(data.calls[1].call.in_place);
  EXPECT_TRUE(data.calls[1].first_of_sweep);
  EXPECT_FALSE(data.calls[2].first_of_sweep);
  EXPECT_EQ(data.gpu_models, (std::vector<std::string>{"Example GPU"}));
  EXPECT_EQ(warned(data), "");
}

TEST(NcclTestsText, OfALauncherHoldsSeveralRunsWithNcclsLinesInBetween) {
  const MeasuredData data = read_measured_file(kFixtures / "nccl-tests-launched.log");
  ASSERT_EQ(data.calls.size(), 2u * (7 + 6));
  const MeasuredCall& first = data.calls[0];
  EXPECT_EQ(first.call.size, Bytes(1024));  // NCCL wrote into this row
  EXPECT_DOUBLE_EQ(first.time.value(), 12.05e-6);
  EXPECT_EQ(first.ranks, 4);
  EXPECT_EQ(first.implementation, "nccl-2.28");
  EXPECT_EQ(first.call.protocol, Protocol::ll);
  EXPECT_EQ(first.call.transport, Transport::shm);
  EXPECT_EQ(set_channels(first), 4);
  EXPECT_EQ(first.call.channels, std::nullopt);
  EXPECT_EQ(first.environment.at("NCCL_P2P_DISABLE"), "1");
  const MeasuredCall& last = data.calls.back();
  EXPECT_EQ(last.ranks, 2);
  EXPECT_EQ(last.call.algorithm, Algorithm::ring);
  EXPECT_EQ(last.call.protocol, std::nullopt);  // the first run's variables are not its own
  EXPECT_EQ(last.call.launch, Launch::graph);
  EXPECT_NE(last.sweep, first.sweep);
  EXPECT_EQ(warned(data), "");
}

TEST(NcclTestsText, OfTheOldestLayoutIsInMilliseconds) {
  const MeasuredData data = read_measured_file(kFixtures / "nccl-tests-2.4.txt");
  ASSERT_EQ(data.calls.size(), 12u);
  const MeasuredCall& largest = data.calls[10];
  EXPECT_EQ(largest.call.size, Bytes(1048576));
  EXPECT_NEAR(largest.time.value(), 10e-6 + 1048576 / 4e9, 1e-6);
  EXPECT_EQ(largest.wrong, std::nullopt);
}

TEST(NcclTestsText, TakesRowsBehindPrefixesOfMpirunSrunAndOthers) {
  for (const std::string prefix :
       {"[1,0]<stdout>:", "0: ", "node-1: ", "[0]", "2026-11-30T12:00:00.5Z ", "#"}) {
    std::istringstream lines(kThread + kRanks + kColumns + kRow1 + kRow2);
    std::string text;
    for (std::string line; std::getline(lines, line);) text += prefix + line + "\n";
    EXPECT_EQ(log(text).calls.size(), 4u) << prefix;
  }
}

TEST(NcclTestsText, IsUnderstoodFromItsCommandLineToo) {
  const MeasuredData data = log(
      "$ CUDA_VISIBLE_DEVICES=2,3 NCCL_PROTO=Simple NCCL_P2P_DISABLE=1 ./build/all_reduce_perf -b 1K -e 4K "
      "-g 2 -n 5\n" +
      kColumns + kRow1 + kRow2 + "$ NCCL_PROTO=^LL mpirun -np 2 -x NCCL_ALGO=Tree ./all_reduce_perf -G 3\n" +
      kColumns + kRow2 + kRow4);
  ASSERT_EQ(data.calls.size(), 8u);
  const MeasuredCall& m = data.calls[0];
  EXPECT_EQ(m.call.protocol, Protocol::simple);
  EXPECT_EQ(m.call.transport, Transport::shm);
  EXPECT_EQ(m.call.iterations, 5);
  EXPECT_EQ(m.ranks, 2);
  EXPECT_EQ(m.call.ranks, (std::vector<int>{2, 3}));
  EXPECT_EQ(m.call.working_set, Bytes(2 * 4096));
  EXPECT_EQ(data.calls[4].call.protocol, std::nullopt);  // `^LL` leaves two
  EXPECT_EQ(data.calls[4].environment.at("NCCL_PROTO"), "^LL");
  EXPECT_EQ(data.calls[4].call.algorithm, Algorithm::tree);
  EXPECT_EQ(data.calls[4].call.launch, Launch::graph);
}

TEST(NcclTestsText, WithoutAHeadTellsRanksByTheRatioOfBandwidths) {
  // 1 GiB of all-reduce in 100 ms: 10.74 GB/s; over n ranks busbw is 2 (n - 1) / n of it
  for (const auto& [ranks, busbw] :
       std::vector<std::pair<int, std::string>>{{2, "10.74"}, {4, "16.11"}, {8, "18.79"}}) {
    const std::string row =
        "1073741824 268435456 float sum -1 100000 10.74 " + busbw + " 0 100000 10.74 " + busbw + " 0\n";
    EXPECT_EQ(log(kColumns + row).calls.at(0).ranks, ranks);
  }
}

TEST(NcclTestsText, TellsTheCollectiveByOperationRootAndCount) {
  const auto collective = [](const std::string& row) {
    return log(kColumns + row).calls.at(0).call.collective;
  };
  EXPECT_EQ(collective("4096 1024 float sum -1 10 0.41 0.41 0 10 0.41 0.41 0\n"), Collective::all_reduce);
  EXPECT_EQ(collective("4096 512 float sum -1 10 0.41 0.20 0 10 0.41 0.20 0\n"), Collective::reduce_scatter);
  EXPECT_EQ(collective("4096 512 float none -1 10 0.41 0.20 0 10 0.41 0.20 0\n"), Collective::all_gather);
  EXPECT_EQ(collective("4096 1024 float none 0 10 0.41 0.41 0 10 0.41 0.41 0\n"), Collective::broadcast);
  EXPECT_EQ(collective("4096 1024 float sum 0 10 0.41 0.41 0 10 0.41 0.41 0\n"), Collective::reduce);
}

TEST(NcclTestsText, LeavesOutWrongResultsAndWhatIsNotModelled) {
  const MeasuredData wrong = log(kColumns + kRow1 + "2048 512 float sum -1 10 0.20 0.20 7 10 0.20 0.20 0\n" +
                                 "# Out of bounds values : 7 FAILED\n");
  EXPECT_EQ(wrong.calls.size(), 3u);
  EXPECT_TRUE(has(warned(wrong), "LC-DATA-01 rows whose results were wrong are left out (run.log:3)"))
      << warned(wrong);
  EXPECT_TRUE(has(warned(wrong), "FAILED"));
  const MeasuredData mixed = log("# Collective test starting: alltoall_perf\n" + kColumns + kRow1 +
                                 "# Collective test starting: all_reduce_perf\n" + kColumns + kRow1 + kRow2);
  EXPECT_EQ(mixed.calls.size(), 4u);
  EXPECT_TRUE(has(warned(mixed), "runs of alltoall are left out"));
  std::string hosts = kThread + kRanks;
  hosts.replace(hosts.rfind("nodeA"), 5, "nodeB");
  EXPECT_TRUE(has(refused(hosts + kColumns + kRow1), "runs on several hosts are left out"));
  std::string cpu = kColumns;
  for (std::size_t at = 0; (at = cpu.find(" time", at)) != std::string::npos; at += 8)
    cpu.replace(at, 5, " cputime");
  EXPECT_TRUE(has(refused(cpu + kRow1), "CPU times"));
}

TEST(NcclTestsText, OfRepeatedCyclesIsASweepForEach) {
  const MeasuredData data = log(kColumns + kRow1 + kRow2 + kRow1 + kRow2);
  ASSERT_EQ(data.calls.size(), 8u);
  EXPECT_NE(data.calls[0].sweep, data.calls[4].sweep);
  EXPECT_TRUE(data.calls[4].first_of_sweep);
}

TEST(NcclTestsText, ThatIsCutOffSaysSo) {
  const MeasuredData ended =
      log(kThread + kRanks + kColumns + kRow1 + "        2048           512     float   ");
  EXPECT_EQ(ended.calls.size(), 2u);
  EXPECT_TRUE(
      has(warned(ended), "LC-DATA-02 the table ends at 1 KiB, and the run was to go on to 4 KiB (run.log:5)"))
      << warned(ended);
  const MeasuredData cut = log(kColumns + kRow1 + "  2048  512  float  sum  -1  10.0");
  EXPECT_EQ(cut.calls.size(), 2u);
  EXPECT_TRUE(has(warned(cut), "LC-DATA-01 the last row is cut off (run.log:3)")) << warned(cut);
}

TEST(NcclTestsText, ThatIsWrongIsToldLineByLineInOneGo) {
  const std::string message =
      refused(kColumns + kRow4 + kRow2 + "8192 2048 float sum -1 -1.0 0.00 0.00 0 nan 0.00 0.00 0\n" +
              "16384 4096 float sum -1 10.00 1.64\n" +
              "32768 8192 float sum -1 10.00 9.99 9.99 0 10.00 3.28 3.28 0\n");
  for (const char* part :
       {"2048 B come behind 4096 B", "run.log:3", "out of place the time is `-1.0`",
        "in place the time is `nan`", "run.log:4", "a row of 7 fields below a header of 13", "run.log:5",
        "32768 B in 10 us are 3.28 GB/s, but algbw says 9.99", "run.log:6"}) {
    EXPECT_TRUE(has(message, part)) << part << "\n" << message;
  }
}

TEST(NcclTestsText, BelowAnotherRunsHeadIsRefused) {
  const std::string row = "1073741824 268435456 float sum -1 100000 10.74 18.79 0 100000 10.74 18.79 0\n";
  EXPECT_TRUE(has(refused(kThread + kRanks + kColumns + row), "all_reduce of 2 ranks has 1"))
      << refused(kThread + kRanks + kColumns + row);
}

TEST(NcclTestsText, WithRanksOnOneGpuTellsSo) {
  std::string head = kThread + kRanks;
  head.replace(head.find("device  1"), 9, "device  0");
  EXPECT_TRUE(log(head + kColumns + kRow1).calls.at(0).shared_gpu);
}

TEST(NcclTestsJson, StatesTheSame) {
  const MeasuredData data = read_measured_file(kFixtures / "nccl-tests.json");
  ASSERT_EQ(data.calls.size(), 6u);
  const MeasuredCall& m = data.calls[0];
  EXPECT_EQ(m.ranks, 8);
  EXPECT_EQ(m.call.datatype, Datatype::bfloat16);
  EXPECT_EQ(m.call.protocol, Protocol::simple);
  EXPECT_EQ(m.call.launch, Launch::graph);
  EXPECT_EQ(m.call.iterations, 20);
  EXPECT_EQ(m.implementation, "nccl-2.28");
  EXPECT_EQ(m.environment.size(), 1u);  // no variables of others
  EXPECT_EQ(m.wrong, 0u);
  EXPECT_EQ(data.calls[1].wrong, std::nullopt);  // a text "nan"
  EXPECT_NEAR(m.time.value(), 15e-6 + 1024 / 30e9, 1e-9);
  EXPECT_EQ(warned(data), "");
}

TEST(NcclTestsPastes, OfOthersAreRead) {
  if (!std::filesystem::exists(kShared / "cases" / "raw")) GTEST_SKIP() << kShared << "/cases/raw is absent";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kShared)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("allreduce-", 0) != 0 && name.rfind("nccl-tests-", 0) != 0) continue;
    ++files;
    const MeasuredData data = read_measured_file(entry.path());
    EXPECT_GE(data.calls.size(), 2u) << name;
    for (const MeasuredCall& call : data.calls) {
      EXPECT_GE(call.ranks, 2) << name;
      EXPECT_EQ(call.call.collective, Collective::all_reduce) << name;
    }
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace lanecast
