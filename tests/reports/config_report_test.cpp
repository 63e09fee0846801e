#include "reports/config_report.hpp"

#include <gtest/gtest.h>

#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

ConfigReport example() {
  ConfigReport report;
  report.machine = "box";
  report.reason = "it was asked for";
  report.values = {{"links.gpu0.width", "x8", "box.yaml:3:4", "lanes"}};
  report.profile.name = "fitted";
  report.profile.set(Param::channel_spread, 0.0625, "profile `fitted`");
  report.profile.fit.emplace();
  report.profile.fit->parameters = {{Param::channel_spread, 0.0625, 0.05, 0.07, true, "from two sweeps"}};
  return report;
}

Json row_of(const Json& rows, const std::string& path) {
  for (const Json& row : rows) {
    if (row["path"] == path) return row;
  }
  return nullptr;
}

TEST(ConfigReport, JsonHoldsMachineAndProfileValuesWithTheSameFirstKeys) {
  const auto document = Json::parse(config_text(example(), Format::json));
  EXPECT_EQ(document["profile"], "fitted");
  EXPECT_EQ(document["profile_reason"], "it was asked for");
  EXPECT_EQ(document["values"][0]["path"], "links.gpu0.width");
  EXPECT_TRUE(document["values"][0]["low"].is_null());
  EXPECT_EQ(document["parameters"].size(), parameter_count);
}

TEST(ConfigReport, AFittedParameterHasItsIntervalBesideItsPrior) {
  const Json row =
      row_of(Json::parse(config_text(example(), Format::json))["parameters"], "gpu.channel_spread");
  EXPECT_EQ(row["value"], 0.0625);
  EXPECT_EQ(row["interval_low"], 0.05);
  EXPECT_EQ(row["interval_high"], 0.07);
  EXPECT_EQ(row["prior"], info(Param::channel_spread).prior);
  EXPECT_EQ(row["high"], info(Param::channel_spread).high);
  EXPECT_EQ(row["origin"], "profile `fitted`");
  EXPECT_EQ(row["note"], "from two sweeps");
}

TEST(ConfigReport, APriorHasNoInterval) {
  const Json row = row_of(Json::parse(config_text(example(), Format::json))["parameters"], "duplex.host");
  EXPECT_EQ(row["origin"], "prior");
  EXPECT_TRUE(row["interval_low"].is_null());
  EXPECT_TRUE(row["determined"].is_null());
}

TEST(ConfigReport, EveryFormatHoldsARowForEachValueAndParameter) {
  const ConfigReport report = example();
  const std::vector<std::string> csv = lines_of(config_text(report, Format::csv));
  ASSERT_EQ(csv.size(), 1 + 1 + parameter_count);
  EXPECT_EQ(csv[0],
            "path,value,unit,origin,low,high,source,doc,prior,interval_low,interval_high,determined,note");
  EXPECT_EQ(csv[1], "links.gpu0.width,x8,,box.yaml:3:4,,,,lanes,,,,,");
  const std::vector<std::string> table = rows_of(config_text(report, Format::table));
  ASSERT_EQ(table.size(), 1 + parameter_count);
  EXPECT_EQ(table[0], "links.gpu0.width  x8  box.yaml:3:4  lanes");
}

}  // namespace
}  // namespace lanecast
