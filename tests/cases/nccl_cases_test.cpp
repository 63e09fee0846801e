// What others logged and published of NCCL's choices, and what was measured on 2 x H200, decided again.
// The files are not part of the repository: without them these tests are skipped.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/cases/choice_table.hpp"
#include "tests/cases/logged_decisions.hpp"
#include "tests/cases/protocol_switch.hpp"

namespace lanecast::cases {
namespace {

const std::string kCases = LANECAST_CASES_DIR;
const std::string kH200 = kCases + "/../measurements/h200x2-nvlink";

void expect_agreement(const std::vector<LoggedFact>& facts) {
  for (const LoggedFact& fact : facts) EXPECT_EQ(fact.logged, fact.ours) << fact.where << ": " << fact.what;
}

const LoggedFact& fact_named(const std::vector<LoggedFact>& facts, const std::string& where,
                             const std::string& what) {
  for (const LoggedFact& fact : facts) {
    if (fact.where.rfind(where, 0) == 0 && fact.what == what) return fact;
  }
  throw std::runtime_error("no fact `" + what + "` of " + where);
}

TEST(SharedLogs, OfTwoH200AreReproduced) {
  if (!std::filesystem::exists(kH200))
    GTEST_SKIP() << kH200 << " is absent; it is not part of the repository";
  const std::vector<LoggedFact> facts = h200_log_facts(kH200);
  expect_agreement(facts);
  EXPECT_EQ(fact_named(facts, "2 x H200, NVLink", "channels").logged, "24");
  EXPECT_EQ(fact_named(facts, "2 x H200, host memory", "channels").logged, "4");
  EXPECT_EQ(fact_named(facts, "2 x H200, host memory", "transports (channels)").logged,
            "0 to 1 SHM (4), 1 to 0 SHM (4)");
}

TEST(SharedLogs, OfTwoCardsInDifferentNumaNodesFallBackToTwoChannels) {
  if (!std::filesystem::exists(kCases))
    GTEST_SKIP() << kCases << " is absent; it is not part of the repository";
  const std::vector<LoggedFact> facts = published_log_facts(kCases + "/raw");
  expect_agreement(facts);
  EXPECT_EQ(fact_named(facts, "2 x RTX 5090", "search without a path").logged, "patterns 1 4");
  EXPECT_EQ(fact_named(facts, "2 x RTX 5090", "channels").logged, "2");
  EXPECT_EQ(fact_named(facts, "2 GPUs on an NVSwitch", "from GPU to GPU").logged, "160 GB/s NVL");
}

TEST(SharedLogs, OfOneRankShowWhatNcclMayTakeAndNotWhatALinkCarries) {
  if (!std::filesystem::exists(kCases))
    GTEST_SKIP() << kCases << " is absent; it is not part of the repository";
  const std::vector<LoggedFact> facts = graph_file_facts(kCases + "/raw");
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts.front().logged, "16 x 40 GB/s, LOC");
  EXPECT_FALSE(facts.front().agrees());
  EXPECT_FALSE(facts.front().why.empty());
}

TEST(RecordedDecisions, HoldOnTheShippedMachine) {
  const std::vector<LoggedFact> facts = recorded_facts();
  expect_agreement(facts);
  EXPECT_EQ(fact_named(facts, "2 x H200, NVLink", "all-reduce left to NCCL").logged, "Simple from 2 MiB");
  EXPECT_EQ(fact_named(facts, "2 x H200, host memory", "all-reduce left to NCCL").logged,
            "Simple from 512 KiB");
}

TEST(PublishedChoices, DifferOnlyWhereTheTableSaysWhy) {
  const std::string file = kCases + "/cases.yaml";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent; it is not part of the repository";
  int agreed = 0;
  for (const AllReduceComparison& sweep :
       choose_all_reduce(published_sweeps(read_published_cases(file)), Profile())) {
    bool differs = false;
    for (const ChoiceRegion& region : choice_regions(sweep)) {
      differs = differs || verdict_on(region) == Verdict::differs;
      agreed += verdict_on(region) == Verdict::agrees ? 1 : 0;
    }
    EXPECT_EQ(differs, !sweep.entry.difference.empty()) << sweep.entry.name();
  }
  EXPECT_GT(agreed, 0);
}

}  // namespace
}  // namespace lanecast::cases
