#include "reports/copy_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

MatrixReport pairs() {
  MatrixReport report;
  report.run = {"1.2.3", "abc", "lanecast matrix box", "node1", ""};
  report.machine = "box";
  report.profile = "generic";
  report.kind = "p2p";
  report.engine = "ce";
  report.unit = "GB/s";
  report.gpus = {0, 2};
  report.rows = {{std::nullopt, 25.5}, {24.25, std::nullopt}};
  return report;
}

MatrixReport to_host() {
  MatrixReport report = pairs();
  report.kind = "d2h";
  report.ends = MatrixEnds::gpu_to_host;
  report.rows = {{11.0, 12.0}};
  return report;
}

FlowsReport flows() {
  FlowsReport report;
  report.run = pairs().run;
  report.machine = "box";
  report.profile = "generic";
  report.engine = "sm";
  report.flows = {{0, 4, BytesPerSecond(10e9), "uplink0 up"}, {std::nullopt, 2, BytesPerSecond(5.5e9), ""}};
  return report;
}

TEST(MatrixJson, HasTheKeysOfTheContractAndNullOnTheDiagonal) {
  const Json document = Json::parse(matrix_text(pairs(), Format::json));
  EXPECT_EQ(document["machine"], "box");
  EXPECT_EQ(document["kind"], "p2p");
  EXPECT_EQ(document["engine"], "ce");
  EXPECT_EQ(document["unit"], "GB/s");
  EXPECT_EQ(document["rows"], Json::parse("[[null, 25.5], [24.25, null]]"));
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["warnings"], Json::array());
}

TEST(MatrixTable, IsLaidOutAsP2pBandwidthLatencyTest) {
  const auto rows = rows_of(matrix_text(pairs(), Format::table));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "   D\\D     0      2 ");
  EXPECT_EQ(rows[1], "     0    N/A  25.50 ");
  EXPECT_EQ(rows[2], "     2  24.25    N/A ");
}

TEST(MatrixTable, HasOneRowWhereHostMemoryIsAnEnd) {
  const auto rows = rows_of(matrix_text(to_host(), Format::table));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1], "  host  11.00  12.00 ");
}

TEST(MatrixCsv, IsTidyAndNamesBothEnds) {
  const auto lines = lines_of(matrix_text(pairs(), Format::csv));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "machine,profile,kind,engine,unit,source,destination,value");
  EXPECT_EQ(lines[1], "box,generic,p2p,ce,GB/s,0,0,");
  EXPECT_EQ(lines[2], "box,generic,p2p,ce,GB/s,0,2,25.5");
  EXPECT_EQ(lines[3], "box,generic,p2p,ce,GB/s,2,0,24.25");
  EXPECT_EQ(lines_of(matrix_text(to_host(), Format::csv))[2], "box,generic,d2h,ce,GB/s,2,host,12.0");
}

TEST(MatrixMarkdown, HasARowASource) {
  const auto lines = lines_of(matrix_text(pairs(), Format::markdown));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[2], "| D\\\\D | 0 | 2 |");
  EXPECT_EQ(lines[4], "| 0 | N/A | 25.50 |");
}

TEST(FlowsJson, HasTheKeysOfTheContract) {
  const Json document = Json::parse(flows_text(flows(), Format::json));
  EXPECT_EQ(document["flows"], Json::parse(R"([
    {"source": 0, "destination": 4, "GBps": 10.0, "bottleneck": "uplink0 up"},
    {"source": "host", "destination": 2, "GBps": 5.5, "bottleneck": null}])"));
  EXPECT_EQ(document["total_GBps"], 15.5);
}

TEST(FlowsFormats, PrintTheSameRows) {
  EXPECT_EQ(lines_of(flows_text(flows(), Format::csv)),
            (std::vector<std::string>{"machine,profile,engine,source,destination,GBps,bottleneck",
                                      "box,generic,sm,0,4,10.0,uplink0 up", "box,generic,sm,host,2,5.5,"}));
  const auto rows = rows_of(flows_text(flows(), Format::table));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(words_of(rows[1]), (std::vector<std::string>{"host", "2", "5.50", "-"}));
  EXPECT_NE(flows_text(flows(), Format::markdown).find("| host | 2 | 5.50 | - |"), std::string::npos);
}

}  // namespace
}  // namespace lanecast
