#include "reports/measure_report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "reports/measure_table.hpp"
#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

MeasuredRun run_of(std::uint64_t size, bool in_place, double us) {
  MeasuredRun run;
  run.call.size = Bytes(size);
  run.call.in_place = in_place;
  run.ranks = 2;
  run.count = size / 4;
  run.channels = 2;
  run.threads = 512;
  run.chunk = Bytes(131072);
  run.graph_replays = 20;
  run.samples = 20;
  run.warmup = 5;
  run.working_set = Bytes(2 * size);
  run.time = {Seconds(us * 1e-6), Seconds(us * 0.9e-6), Seconds(us * 1.5e-6)};
  run.wrong = 0;
  return run;
}

MeasureReport report_of(const std::vector<MeasuredRun>& runs) {
  MeasureReport report;
  report.run = {"1.2.3", "abc", "lanecast measure -g 2", "node1", ""};
  report.machine.host = "node1";
  report.machine.gpus = {{}};
  report.machine.gpus[0].name = "Example 900";
  report.machine.gpus[0].sm_clock_MHz_max = 1980;
  report.ranks = 2;
  report.ranks_as = "threads";
  report.devices = {0, 0};
  report.runs = runs;
  return report;
}

MicroRow micro_row() {
  MicroRow row;
  row.name = "sm_store";
  row.source = "gpu0";
  row.destination = "host";
  row.GBps = 49.5;
  row.repeats = 9;
  return row;
}

TEST(MeasureTable, PutsOutOfPlaceAndInPlaceSideBySideAtTheColumnsOfNcclTests) {
  const std::string text =
      measure_text(report_of({run_of(4096, false, 10), run_of(4096, true, 8)}), Format::table);
  ASSERT_EQ(rows_of(text).size(), 1U);
  const std::vector<std::string> words = words_of(rows_of(text)[0]);
  ASSERT_GE(words.size(), 13U);
  EXPECT_EQ(words[0], "4096");
  EXPECT_EQ(words[1], "1024");
  EXPECT_EQ(words[2], "float");
  EXPECT_EQ(words[3], "sum");
  EXPECT_EQ(words[4], "-1");
  EXPECT_EQ(words[5], "10.00");  // us
  EXPECT_EQ(words[6], "0.41");   // 4096 B / 10 us
  EXPECT_EQ(words[8], "0");
  EXPECT_EQ(words[9], "8.00");
  EXPECT_EQ(words[12], "0");
}

TEST(MeasureTable, WritesAbsentForAPlaceThatWasNotMeasuredAndForWhatWasNotChecked) {
  MeasuredRun run = run_of(4096, true, 8);
  run.wrong.reset();
  const std::vector<std::string> words = words_of(rows_of(measure_text(report_of({run}), Format::table))[0]);
  EXPECT_EQ(words[5], "N/A");
  EXPECT_EQ(words[8], "N/A");
  EXPECT_EQ(words[9], "8.00");
  EXPECT_EQ(words[12], "N/A");
}

TEST(MeasureTable, GivesRowsAsTheyComeAndLosesNone) {
  MeasureTable table;
  EXPECT_EQ(table.add(run_of(8, false, 1), true), "") << "waits for the other place";
  EXPECT_EQ(rows_of(table.add(run_of(8, true, 1), true)).size(), 1U);
  EXPECT_EQ(table.add(run_of(16, false, 1), true), "");
  EXPECT_EQ(rows_of(table.add(run_of(32, false, 1), true)).size(), 1U) << "16 in place never came";
  EXPECT_EQ(rows_of(table.flush()).size(), 1U);
  EXPECT_EQ(table.flush(), "");
  EXPECT_EQ(rows_of(table.add(run_of(64, false, 1), false)).size(), 1U)
      << "one place only: nothing to wait for";
}

TEST(MeasureTable, HasHeadLinesAsWideAsItsRows) {
  const std::vector<std::string> lines =
      lines_of(measure_text(report_of({run_of(4096, false, 10)}), Format::table));
  std::size_t names = 0;
  while (lines[names].find("algbw") == std::string::npos) ++names;
  const std::string& row = lines[names + 2];
  EXPECT_EQ(lines[names].find("count") + 5, row.find("1024") + 4) << "right aligned";
  EXPECT_EQ(lines[names].size(), row.size());
}

TEST(MeasureTable, SaysBelowWhatIsWrongAndWhatIsMissing) {
  MeasuredRun run = run_of(4096, false, 10);
  run.wrong = 3;
  run.first_wrong = "rank 1: element 17 of the output is 3, not 2.5";
  MeasureReport report = report_of({run});
  report.left_out = {"LL128 needs NVLink\n  at rank 0\n  mend: take LL"};
  report.ended = "stopped by SIGINT";
  const std::string text = measure_text(report, Format::table);
  EXPECT_NE(text.find("# wrong: all_reduce of 4096 bytes, rank 1: element 17"), std::string::npos) << text;
  EXPECT_NE(text.find("# left out: LL128 needs NVLink\n"), std::string::npos);
  EXPECT_NE(text.find("# not complete: stopped by SIGINT"), std::string::npos);
  EXPECT_EQ(wrong_elements(report), 3U);
}

TEST(MeasureJson, HasTheKeysOfItsSchemaAndNoOthers) {
  MeasureReport report = report_of({run_of(4096, false, 10)});
  report.micro = {micro_row()};
  const Json document = Json::parse(measure_text(report, Format::json));
  std::ifstream file(LANECAST_SOURCE "/configs/schema/measure.schema.json");
  const Json schema = Json::parse(file);
  const auto names = [](const Json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
  };
  const Json& parts = schema.at("properties");
  EXPECT_EQ(names(document), names(parts));
  EXPECT_EQ(names(document["machine"]), names(parts["machine"]["properties"]));
  EXPECT_EQ(names(document["machine"]["gpus"][0]),
            names(parts["machine"]["properties"]["gpus"]["items"]["properties"]));
  EXPECT_EQ(names(document["runs"][0]), names(parts["runs"]["items"]["properties"]));
  EXPECT_EQ(names(document["micro"][0]), names(parts["micro"]["items"]["properties"]));
}

TEST(MeasureJson, KeepsNumbersAsNumbersAndAbsentAsNull) {
  MeasuredRun run = run_of(1'000'000, false, 100);
  run.wrong.reset();
  const Json row = Json::parse(measure_text(report_of({run}), Format::json))["runs"][0];
  EXPECT_EQ(row["time_us"], 100.0);
  EXPECT_EQ(row["time_us_min"], 90.0);
  EXPECT_EQ(row["time_us_p99"], 150.0);
  EXPECT_EQ(row["algbw_GBps"], 10.0);
  EXPECT_EQ(row["busbw_GBps"], 10.0);  // 2 (n-1)/n of two ranks is 1
  EXPECT_TRUE(row["wrong"].is_null());
  EXPECT_TRUE(row["root"].is_null());
  EXPECT_TRUE(row["staging"].is_null());
  EXPECT_EQ(row["devices"], Json({0, 0}));
}

TEST(MeasureJson, SaysThatItIsNotComplete) {
  MeasureReport report = report_of({});
  EXPECT_EQ(Json::parse(measure_text(report, Format::json))["complete"], true);
  report.ended = "rank 1 is gone";
  const Json document = Json::parse(measure_text(report, Format::json));
  EXPECT_EQ(document["complete"], false);
  EXPECT_EQ(document["ended"], "rank 1 is gone");
}

TEST(MeasureCsv, HasALineForEachRunOrForEachMicroBenchmarkWhereThereIsNoRun) {
  MeasureReport report = report_of({run_of(8, false, 1), run_of(8, true, 1)});
  report.micro = {micro_row()};
  EXPECT_EQ(lines_of(measure_text(report, Format::csv)).size(), 3U);
  report.runs.clear();
  const std::vector<std::string> lines = lines_of(measure_text(report, Format::csv));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 12), "name,source,");
}

}  // namespace
}  // namespace lanecast
