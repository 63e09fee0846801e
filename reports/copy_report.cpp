#include "reports/copy_report.hpp"

#include <fmt/format.h>

#include "reports/grid.hpp"
#include "reports/prediction_row.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

/// A GPU's index, or "host".
Json end_as_json(const std::optional<int>& gpu) { return gpu ? Json(*gpu) : Json("host"); }
std::string end_label(const std::optional<int>& gpu) { return gpu ? std::to_string(*gpu) : "host"; }

Json cell_as_json(const std::optional<double>& cell) { return cell ? number_or_null(*cell) : Json(); }
std::string cell_label(const std::optional<double>& cell) {
  return cell ? fmt::format("{:.2f}", *cell) : "N/A";
}

std::optional<int> source_of(const MatrixReport& report, std::size_t row, std::size_t column) {
  if (report.ends == MatrixEnds::host_to_gpu) return std::nullopt;
  return report.gpus[report.ends == MatrixEnds::gpu_to_gpu ? row : column];
}

std::optional<int> destination_of(const MatrixReport& report, std::size_t column) {
  if (report.ends == MatrixEnds::gpu_to_host) return std::nullopt;
  return report.gpus[column];
}

std::string row_label(const MatrixReport& report, std::size_t row) {
  return report.ends == MatrixEnds::gpu_to_gpu ? std::to_string(report.gpus[row]) : "host";
}

std::string matrix_json(const MatrixReport& report) {
  Json document = document_head(report.run);
  document["machine"] = report.machine;
  document["profile"] = report.profile;
  document["kind"] = report.kind;
  document["engine"] = report.engine;
  document["unit"] = report.unit;
  document["gpus"] = report.gpus;
  document["rows"] = Json::array();
  for (const auto& row : report.rows) {
    Json line = Json::array();
    for (const auto& cell : row) line.push_back(cell_as_json(cell));
    document["rows"].push_back(line);
  }
  document["warnings"] = warnings_as_json(report.warnings);
  return document_text(document);
}

std::string matrix_csv(const MatrixReport& report) {
  std::string text =
      csv_line({"machine", "profile", "kind", "engine", "unit", "source", "destination", "value"});
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    for (std::size_t column = 0; column < report.rows[row].size(); ++column) {
      text += csv_line({report.machine, report.profile, report.kind, report.engine, report.unit,
                        end_as_json(source_of(report, row, column)),
                        end_as_json(destination_of(report, column)), cell_as_json(report.rows[row][column])});
    }
  }
  return text;
}

std::string title_of(const MatrixReport& report) {
  const std::string ends = "; row source, column destination";
  if (report.kind == "latency") return "One-way latency matrix (us)" + ends;
  if (report.kind == "bidir")
    return "Bidirectional bandwidth matrix (GB/s), the sum of both directions" + ends;
  if (report.kind == "h2d") return "Host to device bandwidth (GB/s)";
  if (report.kind == "d2h") return "Device to host bandwidth (GB/s)";
  return "Unidirectional bandwidth matrix (GB/s)" + ends;
}

std::string title_of(const FlowsReport&) { return "Copies that run at the same time"; }

/// What a table or a markdown document begins with.
template <class Report>
std::vector<std::string> head_of(const Report& report) {
  return {fmt::format("lanecast {} ({}): predicted by simulation, not measured", report.run.version,
                      report.run.commit),
          fmt::format("machine {}, profile {}, engine {}", report.machine, report.profile,
                      report.engine == "ce" ? "ce (copy engines)" : "sm (thread blocks)"),
          title_of(report)};
}

template <class Report>
std::string comments_of(const Report& report) {
  std::string text;
  for (const std::string& line : head_of(report)) text += comment_line(line);
  return text;
}

template <class Report>
std::string caption_of(const Report& report) {
  const std::vector<std::string> lines = head_of(report);
  return lines[0] + "; " + lines[1] + "; " + lines[2];
}

/// Laid out as p2pBandwidthLatencyTest prints it: labels and cells six wide. Source: facts.md B3.
std::string matrix_table(const MatrixReport& report) {
  std::string text = comments_of(report) + "   D\\D";
  for (const int gpu : report.gpus) text += fmt::format("{:>6} ", gpu);
  text += "\n";
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    text += fmt::format("{:>6} ", row_label(report, row));
    for (const auto& cell : report.rows[row]) text += fmt::format("{:>6} ", cell_label(cell));
    text += "\n";
  }
  return text;
}

std::string matrix_markdown(const MatrixReport& report) {
  Grid grid;
  grid.columns.push_back({"D\\D", "", 0, false});
  for (const int gpu : report.gpus) grid.columns.push_back({std::to_string(gpu), "", 0, true});
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    std::vector<std::string> cells{row_label(report, row)};
    for (const auto& cell : report.rows[row]) cells.push_back(cell_label(cell));
    grid.rows.push_back(cells);
  }
  return markdown_text(caption_of(report), grid);
}

BytesPerSecond total_rate(const FlowsReport& report) {
  BytesPerSecond total{0};
  for (const FlowRate& flow : report.flows) total += flow.rate;
  return total;
}

Json flow_as_json(const FlowRate& flow) {
  return {{"source", end_as_json(flow.source)},
          {"destination", end_as_json(flow.destination)},
          {"GBps", number_or_null(in_GBps(flow.rate))},
          {"bottleneck", flow.bottleneck.empty() ? Json() : Json(flow.bottleneck)}};
}

std::string flows_json(const FlowsReport& report) {
  Json document = document_head(report.run);
  document["machine"] = report.machine;
  document["profile"] = report.profile;
  document["engine"] = report.engine;
  document["unit"] = "GB/s";
  document["flows"] = Json::array();
  for (const FlowRate& flow : report.flows) document["flows"].push_back(flow_as_json(flow));
  document["total_GBps"] = number_or_null(in_GBps(total_rate(report)));
  document["warnings"] = warnings_as_json(report.warnings);
  return document_text(document);
}

std::string flows_csv(const FlowsReport& report) {
  std::string text =
      csv_line({"machine", "profile", "engine", "source", "destination", "GBps", "bottleneck"});
  for (const FlowRate& flow : report.flows) {
    const Json object = flow_as_json(flow);
    std::vector<Json> fields{report.machine, report.profile, report.engine};
    for (const auto& [key, value] : object.items()) fields.push_back(value);
    text += csv_line(fields);
  }
  return text;
}

Grid flows_grid(const FlowsReport& report) {
  Grid grid;
  grid.columns = {{"source", "", 8, true},
                  {"destination", "", 11, true},
                  {"rate", "(GB/s)", 8, true},
                  {"bottleneck", "", 12, false}};
  for (const FlowRate& flow : report.flows) {
    grid.rows.push_back({end_label(flow.source), end_label(flow.destination),
                         fmt::format("{:.2f}", in_GBps(flow.rate)),
                         flow.bottleneck.empty() ? "-" : flow.bottleneck});
  }
  return grid;
}

std::string flows_table(const FlowsReport& report) {
  return comments_of(report) + aligned_text(flows_grid(report)) +
         comment_line(fmt::format("total {:.2f} GB/s", in_GBps(total_rate(report))));
}

}  // namespace

std::string matrix_text(const MatrixReport& report, Format format) {
  switch (format) {
    case Format::json:
      return matrix_json(report);
    case Format::csv:
      return matrix_csv(report);
    case Format::markdown:
      return matrix_markdown(report);
    case Format::table:
      break;
  }
  return matrix_table(report);
}

std::string flows_text(const FlowsReport& report, Format format) {
  switch (format) {
    case Format::json:
      return flows_json(report);
    case Format::csv:
      return flows_csv(report);
    case Format::markdown:
      return markdown_text(caption_of(report), flows_grid(report));
    case Format::table:
      break;
  }
  return flows_table(report);
}

}  // namespace lanecast
