#include "reports/difference_report.hpp"

#include <gtest/gtest.h>

#include "reports/safe_text.hpp"
#include "tests/configs/random_machine.hpp"
#include "tests/reports/lines.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using support::link_named;

/// A narrow link and a card that is gone; some values that only B knows.
DifferenceReport example() {
  const Machine before = support::one_root(3);
  Machine after = before;
  link_named(after, "gpu0").width = 8;
  after.gpus[2].present = false;
  link_named(after, "gpu0").max_mps = Bytes(512);
  link_named(after, "gpu1").max_mps = Bytes(512);
  after.driver = "580.95";
  return {{"0.1.0", "abc", "lanecast topo diff a.yaml b.yaml", "here", ""},
          "a.yaml",
          "b.yaml",
          differences(before, after)};
}

TEST(DifferenceReport, TheTableNamesBothMachinesAndCountsWhatOnlyOneKnows) {
  EXPECT_EQ(difference_text(example(), Format::table),
            "# A is a.yaml, B is b.yaml: 2 changes\n"
            "# kind         where  what        A     B\n"
            "gone           gpu2   -           gpu2  -\n"
            "link-narrower  gpu0   link width  x16   x8\n"
            "# not known in A: driver, possible payload (2)\n");
}

TEST(DifferenceReport, TwoEqualMachinesHaveNoChange) {
  DifferenceReport report = example();
  report.differences.clear();
  EXPECT_EQ(difference_text(report, Format::table), "# A is a.yaml, B is b.yaml: no change\n");
  const auto document = nlohmann::json::parse(difference_text(report, Format::json));
  EXPECT_FALSE(document["changed"].get<bool>());
  EXPECT_TRUE(document["differences"].empty());
}

TEST(DifferenceReport, JsonHasEachDifferenceWithNullForWhatIsAbsent) {
  const auto document = nlohmann::json::parse(difference_text(example(), Format::json));
  EXPECT_EQ(document["a"], "a.yaml");
  EXPECT_TRUE(document["changed"].get<bool>());
  ASSERT_EQ(document["differences"].size(), 5U);
  const auto& gone = document["differences"][0];
  EXPECT_EQ(gone["kind"], "gone");
  EXPECT_TRUE(gone["b"].is_null());
  const auto& narrower = document["differences"][1];
  EXPECT_EQ(narrower["where"], "gpu0");
  EXPECT_EQ(narrower["a"], "x16");
  EXPECT_EQ(narrower["b"], "x8");
  EXPECT_EQ(narrower["text"], "gpu0: link width x8, x16 in A");
  EXPECT_FALSE(document["differences"][2]["change"].get<bool>());
  EXPECT_EQ(document["differences"][2]["kind"], "not-known");
}

TEST(DifferenceReport, CsvHasTheSameRows) {
  const std::vector<std::string> lines = lines_of(difference_text(example(), Format::csv));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "change,kind,where,what,a,b,text");
  EXPECT_EQ(lines[2], "true,link-narrower,gpu0,link width,x16,x8,\"gpu0: link width x8, x16 in A\"");
}

TEST(DifferenceReport, MarkdownHasATableOfChangesAndAListOfRemarks) {
  const std::string text = difference_text(example(), Format::markdown);
  EXPECT_NE(text.find("| link-narrower | gpu0 | link width | x16 | x8 |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n- not known in A: driver, possible payload (2)\n"), std::string::npos) << text;
}

TEST(DifferenceReportProperty, NamesPutNoControlCharacterIntoATable) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Machine before = random_machine(seed), after = random_machine(seed + 1);
    EXPECT_TRUE(differences(before, before).empty()) << "seed " << seed;
    const DifferenceReport report{{}, "a\x1b[0m", "b", differences(before, after)};
    for (const Format format : {Format::table, Format::csv, Format::markdown}) {
      for (const std::string& line : lines_of(difference_text(report, format))) {
        EXPECT_EQ(safe_text(line), line) << "seed " << seed;
      }
    }
    EXPECT_TRUE(nlohmann::json::accept(difference_text(report, Format::json))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lanecast
