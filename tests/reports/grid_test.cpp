#include "reports/grid.hpp"

#include <gtest/gtest.h>

#include "reports/config_report.hpp"
#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

TEST(CsvLine, QuotesCommasQuotesAndLineEndsOnly) {
  EXPECT_EQ(csv_line({"plain", "with, comma", "say \"hi\"", "two\nlines", "two\rlines"}),
            "plain,\"with, comma\",\"say \"\"hi\"\"\",\"two\nlines\",\"two\rlines\"\n");
}

TEST(CsvLine, WritesNullAsNothingAndArraysWithDashes) {
  EXPECT_EQ(csv_line({nullptr, 1.5, true, {0, 1, 2}, nlohmann::ordered_json::array()}), ",1.5,true,0-1-2,\n");
}

TEST(AlignedText, WidensAColumnToItsLongestCell) {
  const Grid grid{{{"a", "(u)", 3}, {"b", "", 0}}, {{"1", "long name"}, {"123456", ""}}};
  EXPECT_EQ(aligned_text(grid),
            "#     a          b\n"
            "#   (u)\n"
            "      1  long_name\n"
            " 123456          -\n");
}

TEST(AlignedText, CountsCharactersNotBytes) {
  const Grid grid{{{"a", "", 3}}, {{"\xc3\xa4"}}};
  EXPECT_EQ(lines_of(aligned_text(grid)).at(2), "   \xc3\xa4");
}

TEST(MarkdownText, EscapesSpecialCharactersAndLineEnds) {
  const Grid grid{{{"a", "", 0, false}}, {{"a|b\n*c* `d` <e> [f] \\"}}};
  EXPECT_EQ(lines_of(markdown_text("what", grid)),
            (std::vector<std::string>{"what", "", "| a |", "| --- |",
                                      "| a\\|b \\*c\\* \\`d\\` \\<e\\> \\[f\\] \\\\ |"}));
}

TEST(LeftAlignedText, ALongCellPushesItsOwnLineOnly) {
  const Grid grid{{{"a", ""}, {"b", ""}}, {{"x", "1"}, {"yy", "2"}, {std::string(41, 'z'), "3"}}};
  EXPECT_EQ(lines_of(left_aligned_text(grid)),
            (std::vector<std::string>{"x   1", "yy  2", std::string(41, 'z') + "  3"}));
}

TEST(ConfigReport, TellsValueOriginRangeAndSourceInEveryFormat) {
  ConfigReport report;
  report.machine = "box";
  report.values = {{"links.gpu0.width", "x8", "", "box.yaml:3:4", "", std::nullopt, std::nullopt, "lanes"}};
  report.parameters = {{"pcie.dllp_share", "0.02", "1", "prior", "a paper", 0.0, 0.05, "share of Acks"}};
  const auto document = nlohmann::ordered_json::parse(config_text(report, Format::json));
  EXPECT_EQ(document["values"][0]["path"], "links.gpu0.width");
  EXPECT_TRUE(document["values"][0]["low"].is_null());
  EXPECT_EQ(document["parameters"][0]["high"], 0.05);
  EXPECT_EQ(lines_of(config_text(report, Format::csv)),
            (std::vector<std::string>{"path,value,unit,origin,low,high,source,doc",
                                      "links.gpu0.width,x8,,box.yaml:3:4,,,,lanes",
                                      "pcie.dllp_share,0.02,1,prior,0.0,0.05,a paper,share of Acks"}));
  EXPECT_EQ(rows_of(config_text(report, Format::table)),
            (std::vector<std::string>{"links.gpu0.width  x8  box.yaml:3:4  lanes",
                                      "pcie.dllp_share  0.02  prior, 0 to 0.05  share of Acks [a paper]"}));
}

}  // namespace
}  // namespace lanecast
