#include "reports/doctor_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/lines.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Finding finding(const std::string& code, FindingStatus status) {
  Finding finding;
  finding.code = code;
  finding.status = status;
  finding.where = "link gpu0";
  finding.fact = "the fact of " + code;
  if (status != FindingStatus::pass) finding.mend = "the way to mend " + code;
  return finding;
}

DoctorReport example() {
  DoctorReport report;
  report.run = {"1.2.3", "abc", "lanecast doctor box", "nodea", "0123"};
  report.machine = "box";
  report.profile = "generic";
  report.implementation = "nccl-2.30";
  report.ranks = 8;
  report.findings = {finding("LC-LINK-01", FindingStatus::fail), finding("LC-BAR-01", FindingStatus::warn),
                     finding("LC-AER-01", FindingStatus::skip), finding("LC-ACS-01", FindingStatus::pass)};
  report.findings[0].cost = {{Bytes(1u << 20), Seconds(200e-6), Seconds(150e-6)},
                             {Bytes(256u << 20), Seconds(80e-3), Seconds(80e-3)}};
  return report;
}

TEST(DoctorTable, ShowsABlockForWhatIsWrongAndALineForWhatPassed) {
  const std::string text = doctor_text(example(), Format::table);
  for (const char* part :
       {"FAIL  LC-LINK-01    link gpu0\n      the fact of LC-LINK-01\n",
        "      cost: 1 MiB: 200.0 -> 150.0 us (-25.0 %); 256 MiB: 80.00 -> 80.00 ms (no difference)\n",
        "      mend: the way to mend LC-LINK-01\n", "SKIP  LC-AER-01     link gpu0\n",
        "      to know: the way to mend LC-AER-01\n", "PASS  LC-ACS-01     the fact of LC-ACS-01\n",
        "\n1 FAIL, 1 WARN, 1 SKIP, 1 PASS\n", "all-reduce of 8 ranks"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST(DoctorTable, SpeaksOfCostsOnlyWhereThereAreSome) {
  DoctorReport report = example();
  report.findings[0].cost.clear();
  EXPECT_EQ(doctor_text(report, Format::table).find("cost"), std::string::npos);
}

TEST(DoctorTable, WrapsLongTextsAndLetsNoControlCharacterThrough) {
  DoctorReport report = example();
  report.findings[0].fact = "a \x1b[31mred\r\n name";
  for (int i = 0; i < 60; ++i) report.findings[0].mend += " and more";
  for (const std::string& line : lines_of(doctor_text(report, Format::table))) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\r'), std::string::npos);
  }
}

TEST(DoctorJson, HoldsTheKeysOfTheContract) {
  const Json json = Json::parse(doctor_text(example(), Format::json));
  EXPECT_EQ(json["lanecast"], "1.2.3");
  EXPECT_EQ(json["machine"], "box");
  EXPECT_TRUE(json["earlier"].is_null());
  EXPECT_EQ(json["summary"], (Json{{"FAIL", 1}, {"WARN", 1}, {"SKIP", 1}, {"PASS", 1}}));
  ASSERT_EQ(json["findings"].size(), 4u);
  const Json& first = json["findings"][0];
  std::vector<std::string> keys;
  for (const auto& [key, value] : first.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"code", "status", "where", "fact", "cost", "mend"}));
  EXPECT_EQ(first["cost"][0], (Json{{"size_bytes", 1048576}, {"before_us", 200.0}, {"after_us", 150.0}}));
  EXPECT_EQ(json["findings"][1]["cost"], Json::array());
  EXPECT_TRUE(json["findings"][3]["mend"].is_null());
}

TEST(DoctorCsv, HasARowForEachFindingAndSize) {
  const std::vector<std::string> rows = lines_of(doctor_text(example(), Format::csv));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0],
            "machine,earlier,profile,implementation,ranks,code,status,where,fact,size_bytes,before_us,"
            "after_us,mend");
  EXPECT_EQ(rows[1],
            "box,,generic,nccl-2.30,8,LC-LINK-01,FAIL,link gpu0,the fact of LC-LINK-01,1048576,200.0,150.0,"
            "the way to mend LC-LINK-01");
  EXPECT_EQ(rows[3],
            "box,,generic,nccl-2.30,8,LC-BAR-01,WARN,link gpu0,the fact of LC-BAR-01,,,,the way to mend "
            "LC-BAR-01");
}

TEST(DoctorMarkdown, IsATableWithTheSummaryBelow) {
  const std::string text = doctor_text(example(), Format::markdown);
  EXPECT_NE(
      text.find("| FAIL | LC-LINK-01 | link gpu0 | the fact of LC-LINK-01 | 1 MiB: 200.0 -\\> 150.0 us"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\n1 FAIL, 1 WARN, 1 SKIP, 1 PASS\n"), std::string::npos);
}

}  // namespace
}  // namespace lanecast
