#include "reports/grid.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lanecast
