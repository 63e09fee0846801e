#include "configs/dumps/paste_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lanecast {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> found;
  PasteLines lines(text);
  while (lines.next()) found.push_back(lines.text());
  return found;
}

using Lines = std::vector<std::string>;

TEST(PasteLines, TakesAwayWhatTerminalsMailsAndChatsAdd) {
  EXPECT_EQ(lines_of("a\r\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("\x1b[4ma\x1b[0m\tb"), (Lines{"a\tb"}));
  EXPECT_EQ(lines_of("[4ma[0m b[1] c[31;1mc"), (Lines{"a b[1] cc"}));
  EXPECT_EQ(lines_of("^[[1ma"), (Lines{"a"}));
  EXPECT_EQ(lines_of("\x1b]0;title\x07"
                     "a\x1b]8;;x\x1b\\b"),
            (Lines{"ab"}));
  EXPECT_EQ(lines_of("> > # a # b"), (Lines{"a # b"}));
  EXPECT_EQ(lines_of("a\xc2\xa0z"), (Lines{"a z"}));
  EXPECT_EQ(lines_of(std::string_view("a\0b\bc", 5)), (Lines{"abc"}));
  EXPECT_EQ(lines_of("\xff\xfe bytes \x80"), (Lines{"\xff\xfe bytes \x80"}));
}

TEST(PasteLines, CountsLinesAndTellsWhereTheTextEndsWithinOne) {
  PasteLines lines("a\n\nb");
  ASSERT_TRUE(lines.next() && lines.next());
  EXPECT_FALSE(lines.unterminated());
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.number(), 3);
  EXPECT_TRUE(lines.unterminated());
  EXPECT_FALSE(lines.next());
}

TEST(PasteLines, SurvivesSequencesThatTheTextCuts) {
  for (const char* text : {"\x1b", "\x1b[", "\x1b[4", "\x1b]0;x", "^[", "[4", "\xc2"}) {
    EXPECT_EQ(lines_of(text).size(), 1U);
  }
}

TEST(Words, AreCutAtBlanksAndTabsUpToABound) {
  EXPECT_EQ(words(" a\t b  ", 9), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(words("a b c", 2), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(words(" \t", 9).empty());
}

TEST(SmallNumber, IsDecimalDigitsOnly) {
  EXPECT_EQ(small_number("007"), 7);
  EXPECT_EQ(small_number("999999999"), 999999999);
  for (const char* text : {"", "1000000000", "-1", "+1", "1 ", "0x1", "a"})
    EXPECT_EQ(small_number(text), -1) << text;
}

}  // namespace
}  // namespace lanecast
