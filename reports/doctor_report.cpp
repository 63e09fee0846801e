#include "reports/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/grid.hpp"
#include "reports/prediction_row.hpp"
#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTextWidth = 100;
constexpr const char* kIndent = "      ";
constexpr std::array<FindingStatus, 4> kOrder{FindingStatus::fail, FindingStatus::warn, FindingStatus::skip,
                                              FindingStatus::pass};

std::size_t count_of(const DoctorReport& report, FindingStatus status) {
  return static_cast<std::size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                                [&](const Finding& f) { return f.status == status; }));
}

/// "2 FAIL, 1 WARN, 3 SKIP, 9 PASS".
std::string summary_line(const DoctorReport& report) {
  std::string line;
  for (const FindingStatus status : kOrder)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count_of(report, status), to_string(status));
  return line;
}

Json cost_as_json(const FindingCost& cost) {
  return {{"size_bytes", cost.size.value()},
          {"before_us", number_or_null(in_us(cost.before))},
          {"after_us", number_or_null(in_us(cost.after))}};
}

Json finding_as_json(const Finding& finding) {
  Json json;
  json["code"] = finding.code;
  json["status"] = to_string(finding.status);
  json["where"] = finding.where;
  json["fact"] = finding.fact;
  json["cost"] = Json::array();
  for (const FindingCost& cost : finding.cost) json["cost"].push_back(cost_as_json(cost));
  json["mend"] = finding.mend.empty() ? Json() : Json(finding.mend);
  return json;
}

Json common_as_json(const DoctorReport& report) {
  return {{"machine", report.machine},
          {"earlier", report.earlier.empty() ? Json() : Json(report.earlier)},
          {"profile", report.profile},
          {"implementation", report.implementation},
          {"ranks", report.ranks}};
}

std::string as_json(const DoctorReport& report) {
  Json document = document_head(report.run);
  document.update(common_as_json(report));
  for (const FindingStatus status : kOrder) document["summary"][to_string(status)] = count_of(report, status);
  document["findings"] = Json::array();
  for (const Finding& finding : report.findings) document["findings"].push_back(finding_as_json(finding));
  return document_text(document);
}

std::string as_csv(const DoctorReport& report) {
  const Json common = common_as_json(report);
  std::vector<Json> names;
  for (const auto& [key, value] : common.items()) names.emplace_back(key);
  for (const char* key : {"code", "status", "where", "fact", "size_bytes", "before_us", "after_us", "mend"})
    names.emplace_back(key);
  std::string text = csv_line(names);
  for (const Finding& finding : report.findings) {
    const Json json = finding_as_json(finding);
    Json costs = json["cost"];
    if (costs.empty())
      costs.push_back({{"size_bytes", nullptr}, {"before_us", nullptr}, {"after_us", nullptr}});
    for (const Json& cost : costs) {
      std::vector<Json> fields;
      for (const auto& [key, value] : common.items()) fields.push_back(value);
      for (const char* key : {"code", "status", "where", "fact"}) fields.push_back(json[key]);
      for (const char* key : {"size_bytes", "before_us", "after_us"}) fields.push_back(cost[key]);
      fields.push_back(json["mend"]);
      text += csv_line(fields);
    }
  }
  return text;
}

std::string size_text(Bytes size) {
  const std::uint64_t size_bytes = size.value();
  return size_bytes % (1U << 20) == 0 ? fmt::format("{} MiB", size_bytes >> 20)
                                      : fmt::format("{} B", size_bytes);
}

/// "1 MiB: 131.0 -> 112.0 us (-14.5 %)".
std::string cost_text(const FindingCost& cost) {
  const double before_us = in_us(cost.before);
  const double after_us = in_us(cost.after);
  const bool in_ms = std::max(before_us, after_us) >= 1e4;
  const double scale = in_ms ? 1e-3 : 1;
  const double change = before_us > 0 ? after_us / before_us - 1 : 0;
  const std::string share =
      std::abs(change) < 0.0005 ? "no difference" : fmt::format("{:+.1f} %", 100 * change);
  return fmt::format("{}: {:.{}f} -> {:.{}f} {} ({})", size_text(cost.size), before_us * scale, in_ms ? 2 : 1,
                     after_us * scale, in_ms ? 2 : 1, in_ms ? "ms" : "us", share);
}

std::string costs_text(const Finding& finding) {
  std::string text;
  for (const FindingCost& cost : finding.cost) text += (text.empty() ? "" : "; ") + cost_text(cost);
  return text;
}

std::vector<std::string> head_of(const DoctorReport& report) {
  std::vector<std::string> lines{
      fmt::format("lanecast {} ({}): what is wrong with a machine, and how to mend it", report.run.version,
                  report.run.commit),
      fmt::format("machine {}, profile {}, implementation {}", report.machine, report.profile,
                  report.implementation)};
  if (!report.earlier.empty()) lines.push_back("compared with the earlier dump " + report.earlier);
  if (std::any_of(report.findings.begin(), report.findings.end(),
                  [](const Finding& f) { return !f.cost.empty(); }))
    lines.push_back(
        fmt::format("cost: an all-reduce of {} rank{} as the machine is -> with this fault alone mended, "
                    "by simulation",
                    report.ranks, report.ranks == 1 ? "" : "s"));
  return lines;
}

/// Lines that begin with the indent, and the first with a label besides; a word that is too long stands
/// alone.
std::string wrapped(const std::string& label, const std::string& text) {
  std::string lines;
  std::string line = kIndent + label;
  const std::size_t margin = line.size();
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line.size() > margin && line.size() + 1 + word.size() > kTextWidth) {
      lines += line + "\n";
      line = std::string(margin, ' ') + word;
    } else {
      line += (line.size() > margin ? " " : "") + word;
    }
    begin = end + 1;
  }
  return lines + line + "\n";
}

std::string block(const Finding& finding) {
  const bool skipped = finding.status == FindingStatus::skip;
  std::string text =
      fmt::format("{}  {:<13} {}\n", to_string(finding.status), finding.code, safe_text(finding.where));
  text += wrapped("", safe_text(finding.fact));
  if (!finding.cost.empty()) text += wrapped("cost: ", costs_text(finding));
  if (!finding.mend.empty()) text += wrapped(skipped ? "to know: " : "mend: ", safe_text(finding.mend));
  return text + "\n";
}

std::string as_table(const DoctorReport& report) {
  std::string text;
  for (const std::string& line : head_of(report)) text += comment_line(line);
  text += comment_line("");
  for (const Finding& finding : report.findings) {
    if (finding.status == FindingStatus::pass) {
      text +=
          fmt::format("{}  {:<13} {}\n", to_string(finding.status), finding.code, safe_text(finding.fact));
    } else {
      text += block(finding);
    }
  }
  return text + (count_of(report, FindingStatus::pass) == 0 ? "" : "\n") + summary_line(report) + "\n";
}

std::string as_markdown(const DoctorReport& report) {
  Grid grid;
  for (const char* name : {"status", "code", "where", "fact", "cost", "mend"})
    grid.columns.push_back({name, "", 0, false});
  for (const Finding& finding : report.findings) {
    grid.rows.push_back({to_string(finding.status), finding.code, finding.where, finding.fact,
                         costs_text(finding), finding.mend});
  }
  std::string caption;
  for (const std::string& line : head_of(report)) caption += (caption.empty() ? "" : "; ") + line;
  return markdown_text(caption, grid) + "\n" + summary_line(report) + "\n";
}

}  // namespace

std::string doctor_text(const DoctorReport& report, Format format) {
  switch (format) {
    case Format::json:
      return as_json(report);
    case Format::csv:
      return as_csv(report);
    case Format::markdown:
      return as_markdown(report);
    case Format::table:
      break;
  }
  return as_table(report);
}

}  // namespace lanecast
