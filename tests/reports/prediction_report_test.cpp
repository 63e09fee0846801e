#include "reports/prediction_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/reports/lines.hpp"
#include "tests/reports/prediction_example.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const PredictionReport& report) { return Json::parse(prediction_text(report, Format::json)); }

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(PredictionJson, BeginsWithVersionFormatAndCommand) {
  const Json document = json_of(example_report());
  const auto keys = keys_of(document);
  ASSERT_GE(keys.size(), 3U);
  EXPECT_EQ(std::vector<std::string>(keys.begin(), keys.begin() + 3),
            (std::vector<std::string>{"lanecast", "format", "command"}));
  EXPECT_EQ(document["lanecast"], "1.2.3");
  EXPECT_TRUE(document["format"].is_number_integer());
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["command"], "lanecast predict 'my box'");
}

TEST(PredictionJson, HasEveryKeyOfTheContract) {
  const Json document = json_of(example_report());
  for (const char* key : {"machine", "profile", "implementation", "ranks", "collective", "results",
                          "warnings", "seed", "commit"}) {
    EXPECT_TRUE(document.contains(key)) << key;
  }
  const Json& result = document["results"][0];
  for (const char* key : {"size_bytes",     "time_us",     "time_us_low",     "time_us_high", "algbw_GBps",
                          "busbw_GBps",     "algorithm",   "protocol",        "transport",    "channels",
                          "threads",        "chunk_bytes", "launch",          "in_place",     "datatype",
                          "buffsize_bytes", "op",          "ring_order",      "folded",       "bottleneck",
                          "count",          "root",        "limit_busbw_GBps"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(keys_of(result["bottleneck"]), (std::vector<std::string>{"link", "direction", "utilization"}));
}

TEST(PredictionJson, NumbersAreNumbersAndBooleansAreBooleans) {
  const Json document = json_of(example_report());
  EXPECT_EQ(document["ranks"], 3);
  EXPECT_EQ(document["seed"], 7);
  const Json& result = document["results"][0];
  for (const char* key : {"size_bytes", "count", "channels", "threads", "chunk_bytes", "buffsize_bytes"}) {
    EXPECT_TRUE(result[key].is_number_integer()) << key;
  }
  for (const char* key : {"time_us", "time_us_low", "time_us_high", "algbw_GBps", "busbw_GBps"}) {
    EXPECT_TRUE(result[key].is_number()) << key;
  }
  EXPECT_TRUE(result["folded"].is_boolean());
  EXPECT_TRUE(result["in_place"].is_boolean());
  EXPECT_EQ(result["ring_order"], Json({0, 3, 1}));
}

TEST(PredictionJson, GivesMicrosecondsAndGigabytesPerSecond) {
  const Json result = json_of(example_report())["results"][0];
  const double size = 1 << 20;
  // Nine digits are printed.
  EXPECT_NEAR(result["time_us"].get<double>(), 100, 1e-6);
  EXPECT_NEAR(result["algbw_GBps"].get<double>(), size / 100e-6 / 1e9, 1e-7);
  EXPECT_NEAR(result["busbw_GBps"].get<double>(), size / 100e-6 / 1e9 * 4 / 3, 1e-7);
  EXPECT_NEAR(result["limit_busbw_GBps"].get<double>(), 20, 1e-7);
}

TEST(PredictionJson, AbsentIsNull) {
  PredictionReport report = example_report();
  report.predictions[0].bottleneck.reset();
  report.predictions[0].limit_busbw.reset();
  const Json result = json_of(report)["results"][0];
  EXPECT_TRUE(result["bottleneck"].is_null());
  EXPECT_TRUE(result["limit_busbw_GBps"].is_null());
  EXPECT_TRUE(result["root"].is_null()) << "an all-reduce has no root";
  EXPECT_EQ(result["op"], "sum");
}

TEST(PredictionJson, WhatIsNoNumberIsNull) {
  PredictionReport report = example_report();
  report.predictions[0].time = Seconds(0);
  report.predictions[0].time_high = Seconds(std::numeric_limits<double>::infinity());
  const Json result = json_of(report)["results"][0];
  EXPECT_TRUE(result["busbw_GBps"].is_null());
  EXPECT_TRUE(result["time_us_high"].is_null());
}

TEST(PredictionJson, ABroadcastHasARootAndNoOp) {
  PredictionReport report = example_report();
  for (Prediction& p : report.predictions) {
    p.call.collective = Collective::broadcast;
    p.call.root = 3;
  }
  const Json document = json_of(report);
  EXPECT_EQ(document["collective"], "broadcast");
  EXPECT_EQ(document["results"][0]["root"], 3);
  EXPECT_TRUE(document["results"][0]["op"].is_null());
}

TEST(PredictionJson, ListsEachWarningOnce) {
  const Json warnings = json_of(example_report())["warnings"];
  EXPECT_EQ(warnings, Json::parse(R"([{"code": "LC-LINK-01", "text": "link `gpu0` runs slow"},
                                      {"code": "LC-PROFILE-01", "text": "priors"}])"));
}

TEST(PredictionJson, TakesNamesThatAreNoUtf8) {
  PredictionReport report = example_report();
  report.run.command = "lanecast predict '\xff.yaml'";
  EXPECT_NO_THROW(json_of(report));
}

TEST(ElementCount, IsThatOfOneBlockWhereEachRankHasOne) {
  Call call;
  call.size = Bytes(96);
  call.datatype = Datatype::float32;
  EXPECT_EQ(element_count(call, 3), 96U / 4);
  call.collective = Collective::all_gather;
  EXPECT_EQ(element_count(call, 3), 96U / 4 / 3);
  call.collective = Collective::reduce_scatter;
  EXPECT_EQ(element_count(call, 3), 96U / 4 / 3);
}

TEST(PredictionCsv, HasTheKeysOfTheJsonFlat) {
  const PredictionReport report = example_report();
  const auto lines = lines_of(prediction_text(report, Format::csv));
  ASSERT_EQ(lines.size(), 3U);
  std::string expected = "machine,profile,implementation,ranks,collective,seed";
  for (const std::string& key : keys_of(json_of(report)["results"][0])) {
    expected +=
        key == "bottleneck" ? ",bottleneck_link,bottleneck_direction,bottleneck_utilization" : "," + key;
  }
  EXPECT_EQ(lines[0], expected);
}

TEST(PredictionCsv, WritesRingOrderWithDashesAndAbsentAsNothing) {
  PredictionReport report = example_report();
  report.predictions[0].bottleneck.reset();
  const std::string row = lines_of(prediction_text(report, Format::csv)).at(1);
  EXPECT_NE(row.find(",0-3-1,true,,,,20.0"), std::string::npos) << row;
}

TEST(PredictionCsv, QuotesByRfc4180) {
  PredictionReport report = example_report();
  report.machine = "a \"wide\", box";
  const std::string row = lines_of(prediction_text(report, Format::csv)).at(1);
  EXPECT_EQ(row.rfind("\"a \"\"wide\"\", box\",generic,", 0), 0U) << row;
}

TEST(PredictionTable, HasTheColumnsOfNcclTestsFirst) {
  const auto lines = lines_of(prediction_text(example_report(), Format::table));
  std::vector<std::string> head;
  for (const std::string& line : lines) {
    if (line.find("busbw  ") != std::string::npos) head = words_of(line);
  }
  EXPECT_EQ(head, (std::vector<std::string>{"#", "size", "count", "type", "redop", "root", "time", "algbw",
                                            "busbw", "limit", "algorithm", "protocol", "transport",
                                            "channels", "bottleneck", "util"}));
}

TEST(PredictionTable, SplitsAtBlanksIntoItsColumns) {
  const auto rows = rows_of(prediction_text(example_report(), Format::table));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(words_of(rows[0]),
            (std::vector<std::string>{"1048576", "262144", "float", "sum", "-1", "100.00", "10.49", "13.98",
                                      "20.00", "ring", "ll128", "mixed", "2", "memory_cpu0:both", "0.75"}));
}

TEST(PredictionTable, SaysWhatItIsInComments) {
  const auto lines = lines_of(prediction_text(example_report(), Format::table));
  std::string comments;
  for (const std::string& line : lines) comments += line.front() == '#' ? line : "";
  for (const char* fact : {"1.2.3", "box", "generic", "nccl-2.30", "seed 7", "all_reduce", "GPUs 0 1 3"}) {
    EXPECT_NE(comments.find(fact), std::string::npos) << fact;
  }
}

TEST(PredictionTable, ANameWithALineEndStaysInItsComment) {
  PredictionReport report = example_report();
  report.machine = "two\nlines";
  EXPECT_EQ(rows_of(prediction_text(report, Format::table)).size(), 2U);
}

TEST(PredictionMarkdown, EscapesWhatWouldBreakACell) {
  PredictionReport report = example_report();
  report.predictions[0].bottleneck->link = "up|link";
  const std::string text = prediction_text(report, Format::markdown);
  EXPECT_NE(text.find("| up\\|link:both |"), std::string::npos) << text;
}

TEST(PredictionFormats, PrintTheSameRows) {
  const PredictionReport report = example_report();
  const Json results = json_of(report)["results"];
  const auto csv = lines_of(prediction_text(report, Format::csv));
  const auto table = rows_of(prediction_text(report, Format::table));
  std::vector<std::string> markdown;
  for (const std::string& line : lines_of(prediction_text(report, Format::markdown))) {
    if (!line.empty() && line.front() == '|') markdown.push_back(line);
  }
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(csv.size(), 1 + results.size());
  ASSERT_EQ(table.size(), results.size());
  ASSERT_EQ(markdown.size(), 2 + results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string size = std::to_string(results[i]["size_bytes"].get<int>());
    EXPECT_NE(csv[1 + i].find(",7," + size + ","), std::string::npos);
    EXPECT_EQ(words_of(table[i]).front(), size);
    EXPECT_EQ(markdown[2 + i].rfind("| " + size + " |", 0), 0U);
  }
}

}  // namespace
}  // namespace lanecast
