#include "reports/profile_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

ProfileReport example() {
  ProfileReport report;
  report.file = "box.yaml";
  report.name = "box";
  report.gpus = {"H200"};
  Profile profile;
  profile.set(Param::channel_spread, 0.0625, "profile `box`");
  FitRecord fit;
  fit.parameters = {{Param::channel_spread, 0.0625, 0.05, 0.07, true, ""},
                    {Param::latency_gpu, 560, 450, 650, false, "not seen"}};
  fit.sources = {{"a.csv", "00ff", "box", 40}};
  fit.holdout = {{"ll shm", "channels=2", 9, 0.02, 0.08, 0.9}};
  fit.range.ranks_from = fit.range.ranks_to = 2;
  profile.fit = fit;
  report.parts = {{"nccl", profile}, {"lanecast", Profile()}};
  return report;
}

TEST(ProfileReport, JsonHoldsEachImplementationWithAllParameters) {
  const auto document = Json::parse(profile_text(example(), Format::json));
  EXPECT_EQ(document["profile"], "box");
  EXPECT_EQ(document["gpus"], Json::array({"H200"}));
  EXPECT_TRUE(document["transfer"].is_null());
  ASSERT_EQ(document["implementations"].size(), 2U);
  const Json& nccl = document["implementations"][0];
  EXPECT_EQ(nccl["parameters"].size(), parameter_count);
  EXPECT_EQ(nccl["sources"][0]["rows"], 40);
  EXPECT_EQ(nccl["holdout"][0]["median_abs_error"], 0.02);
  EXPECT_EQ(nccl["undetermined"], Json::array({"latency.gpu"}));
  EXPECT_TRUE(document["implementations"][1]["range"].is_null());
}

TEST(ProfileReport, TheTableTellsErrorsInPercentAndWhatTheDataCannotTell) {
  for (const Format format : {Format::table, Format::markdown}) {
    const std::string text = profile_text(example(), format);
    for (const char* said : {"a.csv", "2.0 %", "8.0 %", "90.0 %", "can't tell latency.gpu", "not seen"}) {
      EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    }
    EXPECT_NE(text.find("lanecast: priors only"), std::string::npos) << text;
  }
}

TEST(ProfileReport, ARangeThatIsEmptyIsADash) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& row : rows_of(profile_text(example(), Format::table)))
    rows.push_back(words_of(row));
  using Words = std::vector<std::string>;
  EXPECT_NE(std::find(rows.begin(), rows.end(), Words{"ranks", "2", "to", "2"}), rows.end());
  EXPECT_NE(std::find(rows.begin(), rows.end(), Words{"channels", "-"}), rows.end());
}

TEST(ProfileReport, CsvHasARowForEachParameterAndImplementation) {
  const std::vector<std::string> lines = lines_of(profile_text(example(), Format::csv));
  EXPECT_EQ(lines.size(), 1 + 2 * parameter_count);
  EXPECT_EQ(lines[0].rfind("implementation,path,value,unit,origin,", 0), 0U);
}

}  // namespace
}  // namespace lanecast
