#include <gtest/gtest.h>

#include "tests/cases/case_machines.hpp"
#include "tests/cases/whatif_comparison.hpp"

namespace lanecast::cases {
namespace {

std::vector<CopyWhatIf> all_copy_what_ifs() {
  std::vector<CopyWhatIf> all = copy_what_ifs();
  all.insert(all.end(), cited_what_ifs().begin(), cited_what_ifs().end());
  return all;
}

TEST(WhatIfTables, MakeOnlyChangesThatTheirMachinesTake) {
  for (const CopyWhatIf& pair : all_copy_what_ifs()) {
    EXPECT_NO_THROW(machine_of(pair.before.machine, pair.before.sets)) << pair.source;
    EXPECT_NO_THROW(machine_of(pair.after.machine, pair.after.sets)) << pair.source;
  }
  for (const AllReduceWhatIf& pair : all_reduce_what_ifs()) {
    for (const AllReduceSide* side : {&pair.before, &pair.after}) {
      EXPECT_NO_THROW(machine_of(side->entry.machine, side->entry.sets)) << side->entry.name();
      EXPECT_NO_THROW(implementation_of(side->entry)) << side->entry.name();
    }
  }
  for (const PeerMatrices& entry : peer_matrices()) {
    EXPECT_TRUE(machine_of(entry.machine, {}).p2p.enabled) << entry.case_id;
    EXPECT_FALSE(machine_of(entry.machine, peer_access_off()).p2p.enabled) << entry.case_id;
  }
}

TEST(WhatIfTables, ChangeOneMachineAndNotItsFile) {
  for (const CopyWhatIf& pair : all_copy_what_ifs())
    EXPECT_EQ(pair.before.machine, pair.after.machine) << pair.source;
  for (const AllReduceWhatIf& pair : all_reduce_what_ifs()) {
    EXPECT_EQ(pair.before.entry.machine, pair.after.entry.machine) << pair.before.entry.name();
    EXPECT_EQ(pair.before.entry.implementation, pair.after.entry.implementation) << pair.before.entry.name();
    EXPECT_FALSE(pair.sizes.empty()) << pair.before.entry.name();
  }
}

TEST(WhatIfTables, LetEachCopyEndAtGpusOfItsMachine) {
  for (const CopyWhatIf& pair : all_copy_what_ifs()) {
    const int gpus = static_cast<int>(machine_of(pair.before.machine, {}).gpus.size());
    for (const CopySet* set : {&pair.before, &pair.after}) {
      EXPECT_FALSE(set->flows.empty()) << pair.source;
      for (const CopyFlow& flow : set->flows) {
        EXPECT_LT(flow.source.value_or(0), gpus) << pair.source;
        EXPECT_LT(flow.destination.value_or(0), gpus) << pair.source;
      }
    }
  }
}

TEST(WhatIfTables, CarryEveryCitedFigure) {
  for (const CopyWhatIf& pair : cited_what_ifs()) {
    EXPECT_TRUE(pair.before.carried && pair.after.carried) << pair.source;
    EXPECT_NE(pair.source.find("facts.md"), std::string::npos) << pair.source;
  }
}

/// The wiring V3 by `--set` is the machine that its own file describes.
TEST(WhatIfTables, RewireTheTwoChipsIntoTheMachineOfTheOtherFile) {
  const Machine file = machine_of("wrx90-2vs-per-chip-v3", {});
  int rewired = 0;
  for (const CopyWhatIf& pair : copy_what_ifs()) {
    if (pair.before.machine != "wrx90-2vs-per-chip-v1") continue;
    const Machine machine = machine_of(pair.after.machine, pair.after.sets);
    ASSERT_EQ(machine.links.size(), file.links.size());
    for (std::size_t i = 0; i < file.links.size(); ++i) {
      EXPECT_EQ(machine.links[i].name, file.links[i].name);
      EXPECT_EQ(machine.links[i].from, file.links[i].from) << file.links[i].name;
    }
    ++rewired;
  }
  EXPECT_GT(rewired, 0);
}

TEST(ChangeText, NamesOnlyWhatDiffers) {
  EXPECT_EQ(change_text({"--set p2p.enabled=false"}, {}), "--set p2p.enabled=false -> as the file");
  EXPECT_EQ(change_text({"a", "b"}, {"b", "c"}), "a -> c");
}

TEST(WhatIfRow, ComparesFactorsAndNotFigures) {
  WhatIfRow row;
  row.published = {20, 40};
  row.predicted = {10, 22};
  EXPECT_NEAR(row.error_of(row.predicted), 0.10, 1e-12);  // 2.2 / 2 - 1
}

TEST(WhatIfSummary, TellsDirectionsOnlyWhereThePublishedFigureMoved) {
  WhatIfRow still;
  still.published = {100, 101};
  still.predicted = {100, 50};
  WhatIfRow risen = still;
  risen.published = {100, 200};
  risen.predicted = {100, 150};
  WhatIfRow missed = risen;
  missed.predicted = {100, 101};
  const Grid grid = what_if_summary({still, risen, missed});
  ASSERT_EQ(grid.rows.size(), 1u);
  EXPECT_EQ(grid.rows[0][1], "3");
  EXPECT_EQ(grid.rows[0][5], "1 of 2");
}

}  // namespace
}  // namespace lanecast::cases
