#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/cases/all_reduce_table.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/choice_table.hpp"
#include "tests/cases/copy_sets.hpp"
#include "tests/cases/errors.hpp"
#include "tests/cases/h200_sweeps.hpp"

namespace lanecast::cases {
namespace {

TEST(CaseTables, NameOnlyMachinesThatLoad) {
  for (const CaseMachine& entry : case_machines()) {
    EXPECT_FALSE(machine_of(entry.machine, entry.sets).gpus.empty()) << entry.case_id;
  }
  for (const AllReduceCase& entry : all_reduce_cases()) {
    EXPECT_GE(machine_of(entry.machine, entry.sets).gpus.size(), 2u) << entry.case_id;
  }
}

TEST(CaseTables, GiveEachCaseOneMachine) {
  std::set<std::string> ids;
  for (const CaseMachine& entry : case_machines())
    EXPECT_TRUE(ids.insert(entry.case_id).second) << entry.case_id;
}

TEST(CaseTables, LetEachCopyEndAtGpusOfItsMachine) {
  for (const CopySet& set : copy_sets()) {
    const int gpus = static_cast<int>(machine_of(set.machine, set.sets).gpus.size());
    EXPECT_FALSE(set.flows.empty()) << set.label;
    for (const CopyFlow& flow : set.flows) {
      EXPECT_LT(flow.source.value_or(0), gpus) << set.case_id << ": " << set.label;
      EXPECT_LT(flow.destination.value_or(0), gpus) << set.case_id << ": " << set.label;
    }
  }
}

TEST(MatrixReading, TellsRatesFromLatenciesAndStagedFromPeerCopies) {
  const MatrixReading on =
      read_title("any", 0, "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)");
  EXPECT_EQ(on.kind, MatrixKind::p2p);
  EXPECT_FALSE(on.peer_off);
  const MatrixReading off = read_title("any", 0, "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)");
  EXPECT_EQ(off.kind, MatrixKind::bidir);
  EXPECT_TRUE(off.peer_off);
  EXPECT_FALSE(read_title("any", 0, "P2P=Enabled Latency (P2P Writes) Matrix (us) [GPU]").kind);
}

TEST(CaseTables, GiveEachSweepAnEnvironmentThatIsModelled) {
  std::set<std::string> names;
  for (const AllReduceCase& entry : all_reduce_cases()) {
    EXPECT_TRUE(names.insert(entry.name()).second) << entry.name();
    EXPECT_NO_THROW(implementation_of(entry)) << entry.name();
  }
}

AllReducePoint chosen(std::uint64_t size, Protocol protocol) {
  AllReducePoint point;
  point.size = Bytes(size);
  point.nccl.emplace();
  point.nccl->protocol = protocol;
  point.nccl->transport = "shm";
  return point;
}

TEST(ChoiceRegions, AreSplitWhereTheWayOrTheSourcesWordChanges) {
  AllReduceComparison sweep;
  sweep.channels = 2;
  sweep.points = {chosen(1024, Protocol::ll), chosen(2048, Protocol::ll), chosen(4096, Protocol::ll),
                  chosen(8192, Protocol::simple)};
  EXPECT_EQ(choice_regions(sweep).size(), 2u);
  EXPECT_EQ(verdict_on(choice_regions(sweep).front()), Verdict::not_stated);

  sweep.entry.stated.resize(2);
  sweep.entry.stated[0].up_to = Bytes(2048);
  sweep.entry.stated[0].protocol = "ll";
  sweep.entry.stated[1].protocol = "simple";
  sweep.entry.stated[1].channels = 2;
  const std::vector<ChoiceRegion> regions = choice_regions(sweep);
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(verdict_on(regions[0]), Verdict::agrees);
  EXPECT_EQ(verdict_on(regions[1]), Verdict::differs);  // 4 KiB by LL
  EXPECT_EQ(verdict_on(regions[2]), Verdict::agrees);
}

TEST(H200Sweeps, LeaveOutTheColdFirstRowAndTakeTheColumnsForVariables) {
  const std::string path = testing::TempDir() + "lanecast-h200-sweeps.csv";
  const std::string head =
      "session,protocol,transport,channels,buffsize,nthreads,register,launch,iters,size_bytes,"
      "time_us_out_of_place,time_us_in_place\r\n";
  std::ofstream(path, std::ios::binary) << head << "1,ll,shm,4,4194304,auto,off,graph,10,1024,9.00,8.00\r\n"
                                        << "1,ll,shm,4,4194304,auto,off,graph,10,4096,10.50,9.00\r\n"
                                        << "1,auto,p2p,auto,262144,64,auto,stream,20,8,5.00,4.00\r\n"
                                        << "1,auto,p2p,auto,262144,64,auto,stream,20,16,5.00,4.00\r\n"
                                        << "1,auto,p2p,auto,262144,64,auto,stream,20,2048,6.00,5.00\r\n";
  const std::vector<AllReduceSweep> sweeps = h200_sweeps(path);
  ASSERT_EQ(sweeps.size(), 2u);
  ASSERT_EQ(sweeps[0].rows.size(), 1u);
  EXPECT_EQ(sweeps[0].rows[0].size, Bytes(4096));
  EXPECT_DOUBLE_EQ(sweeps[0].rows[0].published_us, 10.5);
  ASSERT_EQ(sweeps[1].rows.size(), 1u);
  const NcclEnvironment first = implementation_of(sweeps[0].entry).environment;
  EXPECT_EQ(first.p2p_level, PathType::loc);
  EXPECT_EQ(first.min_channels, 4);
  EXPECT_EQ(first.max_channels, 4);
  EXPECT_EQ(first.graph_register, false);
  EXPECT_TRUE(first.protocols.forces(Collective::all_reduce, Protocol::ll));
  const NcclEnvironment second = implementation_of(sweeps[1].entry).environment;
  EXPECT_EQ(second.buffsize, Bytes(262144));
  EXPECT_EQ(second.threads, 64);
  EXPECT_FALSE(second.protocols.states(Collective::all_reduce));
  EXPECT_EQ(sweeps[1].entry.call.launch, Launch::stream);
}

TEST(ErrorSummary, CountsErrorsBySizeAndKeepsTheSignOfTheMedian) {
  const ErrorSummary summary = summarise({-0.30, -0.20, 0.10});
  EXPECT_DOUBLE_EQ(summary.median, -0.20);
  EXPECT_DOUBLE_EQ(summary.median_abs, 0.20);
  EXPECT_DOUBLE_EQ(summary.max_abs, 0.30);
  EXPECT_DOUBLE_EQ(summary.p95_abs, 0.20 + 0.9 * 0.10);  // 1.9 steps of the three sorted values
}

}  // namespace
}  // namespace lanecast::cases
