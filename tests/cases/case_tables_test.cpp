#include <gtest/gtest.h>

#include <set>

#include "tests/cases/all_reduce_comparison.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/copy_sets.hpp"
#include "tests/cases/errors.hpp"

namespace lanecast::cases {
namespace {

TEST(CaseTables, NameOnlyMachinesThatLoad) {
  for (const CaseMachine& entry : case_machines()) {
    EXPECT_FALSE(machine_of(entry.machine, entry.sets).gpus.empty()) << entry.case_id;
  }
  for (const AllReduceCase& entry : all_reduce_cases()) {
    if (!machine_exists(entry.machine)) continue;
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

TEST(ErrorSummary, CountsErrorsBySizeAndKeepsTheSignOfTheMedian) {
  const ErrorSummary summary = summarise({-0.30, -0.20, 0.10});
  EXPECT_DOUBLE_EQ(summary.median, -0.20);
  EXPECT_DOUBLE_EQ(summary.median_abs, 0.20);
  EXPECT_DOUBLE_EQ(summary.max_abs, 0.30);
  EXPECT_DOUBLE_EQ(summary.p95_abs, 0.20 + 0.9 * 0.10);  // 1.9 steps of the three sorted values
}

}  // namespace
}  // namespace lanecast::cases
