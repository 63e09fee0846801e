#include "reports/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/comparison_document.hpp"
#include "reports/grid.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewRows = 64;  // so many are listed unless asked otherwise
constexpr std::size_t kMostBreaches = 10;

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f}", share * 100) : "-"; }
std::string signed_percent(double share) {
  return std::isfinite(share) ? fmt::format("{:+.1f}", share * 100) : "-";
}

std::string time_cell(Seconds time) {
  const double us = time.value() * 1e6;
  return fmt::format("{:.{}f}", us, us < 1e4 ? 2 : us < 1e5 ? 1 : 0);
}

/// A place in a file, by the file's name alone.
std::string without_folder(const std::string& where) { return where.substr(where.rfind('/') + 1); }

std::vector<std::string> summary_cells(const ErrorSummary& summary) {
  return {std::to_string(summary.n),
          percent(summary.median_abs_error),
          percent(summary.p95_abs_error),
          percent(summary.max_abs_error),
          signed_percent(summary.median_error),
          summary.coverage ? percent(*summary.coverage) : "-"};
}

const std::vector<Column>& summary_columns() {
  static const std::vector<Column> kColumns{{"rows", "", 4},   {"median", "(%)", 6}, {"p95", "(%)", 6},
                                            {"max", "(%)", 6}, {"bias", "(%)", 6},   {"in band", "(%)", 7}};
  return kColumns;
}

/// Groups and their size bands; `model` names whose predictions they are, where there are two.
void add_groups(const std::vector<ErrorSample>& samples, const std::string& model, Grid& grid) {
  for (const ErrorGroup& group : error_groups(samples)) {
    const auto add = [&](const std::string& sizes, const ErrorSummary& summary) {
      std::vector<std::string> cells{group.protocol ? to_string(*group.protocol) : "-",
                                     group.transport.empty() ? "-" : group.transport, sizes};
      if (!model.empty()) cells.insert(cells.begin(), model);
      const std::vector<std::string> numbers = summary_cells(summary);
      cells.insert(cells.end(), numbers.begin(), numbers.end());
      grid.rows.push_back(std::move(cells));
    };
    add("all", group.summary);
    for (const ErrorGroup::Band& band : group.bands) add(band.band.name, band.summary);
  }
}

Grid groups_grid(const ComparisonReport& report) {
  Grid grid;
  if (report.with_nccl_model) grid.columns.push_back({"times of", "", 10, false});
  grid.columns.insert(grid.columns.end(),
                      {{"protocol", "", 8, false}, {"transport", "", 9, false}, {"sizes", "", 6, false}});
  grid.columns.insert(grid.columns.end(), summary_columns().begin(), summary_columns().end());
  add_groups(samples_of(report.calls.rows), report.with_nccl_model ? "simulation" : "", grid);
  if (report.with_nccl_model) add_groups(nccl_samples_of(report.calls.rows), "nccl-model", grid);
  return grid;
}

/// Keys with more than one value among the rows, beside those that are always shown.
std::vector<CallKey> varying_keys(const std::vector<const ComparedRow*>& rows) {
  static const std::set<CallKey> kAlways{CallKey::size,      CallKey::algorithm, CallKey::protocol,
                                         CallKey::transport, CallKey::channels,  CallKey::in_place};
  std::vector<CallKey> varying;
  for (std::size_t i = 0; i < call_key_count; ++i) {
    const auto key = static_cast<CallKey>(i);
    if (kAlways.count(key) != 0) continue;
    std::set<std::string> values;
    for (const ComparedRow* row : rows) values.insert(keys_of(*row)[key].value_or("-"));
    if (values.size() > 1) varying.push_back(key);
  }
  return varying;
}

std::vector<std::string> row_cells(const ComparedRow& row, const std::vector<CallKey>& varying,
                                   bool with_nccl_model) {
  const CallKeys keys = keys_of(row);
  std::vector<std::string> cells;
  for (const CallKey key :
       {CallKey::size, CallKey::algorithm, CallKey::protocol, CallKey::transport, CallKey::channels})
    cells.push_back(keys[key].value_or("-"));
  for (const CallKey key : varying) cells.push_back(keys[key].value_or("-"));
  cells.push_back(time_cell(row.measured.time));
  cells.push_back(time_cell(row.predicted.time));
  cells.push_back(signed_percent(row.error()));
  const std::optional<bool> within = row.within();
  cells.emplace_back(!within ? "-" : *within ? "in" : "out");
  if (with_nccl_model) {
    cells.push_back(row.nccl_model ? time_cell(*row.nccl_model) : "-");
    cells.push_back(row.nccl_model ? signed_percent(*row.nccl_model / row.measured.time - 1) : "-");
  }
  cells.push_back(without_folder(row.measured.where));
  return cells;
}

Grid rows_grid(const std::vector<const ComparedRow*>& rows, bool with_nccl_model) {
  const std::vector<CallKey> varying = varying_keys(rows);
  Grid grid;
  grid.columns = {{"size", "(B)", 11},
                  {"algorithm", "", 9, false},
                  {"protocol", "", 8, false},
                  {"transport", "", 9, false},
                  {"channels", "", 8}};
  for (const CallKey key : varying) grid.columns.push_back({to_string(key), "", 0, false});
  grid.columns.insert(
      grid.columns.end(),
      {{"measured", "(us)", 8}, {"predicted", "(us)", 9}, {"error", "(%)", 6}, {"band", "", 4, false}});
  if (with_nccl_model)
    grid.columns.insert(grid.columns.end(), {{"nccl-model", "(us)", 10}, {"error", "(%)", 6}});
  grid.columns.push_back({"where", "", 0, false});
  for (const ComparedRow* row : rows) grid.rows.push_back(row_cells(*row, varying, with_nccl_model));
  return grid;
}

/// What to list: all in their order, or the worst first.
template <class Item, class ErrorOf>
std::vector<Item> listed(std::vector<Item> items, const ComparisonReport& report, ErrorOf error_of) {
  const bool few = items.size() <= kFewRows;
  if (report.shown == RowsShown::all || (report.shown == RowsShown::automatic && few)) return items;
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return std::abs(error_of(a)) > std::abs(error_of(b));
  });
  items.resize(std::min(items.size(), report.worst));
  return items;
}

std::vector<const ComparedRow*> listed_rows(const ComparisonReport& report) {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : report.calls.rows) rows.push_back(&row);
  return listed(std::move(rows), report, [](const ComparedRow* row) { return row->error(); });
}

/// A cell and the table that it is of.
using TableCell = std::pair<const ComparedMatrix*, const ComparedCell*>;

std::vector<TableCell> cells_of(const ComparisonReport& report) {
  std::vector<TableCell> cells;
  for (const ComparedMatrix& matrix : report.matrices) {
    for (const ComparedCell& cell : matrix.cells) cells.emplace_back(&matrix, &cell);
  }
  return cells;
}

/// "device_to_device_memcpy_read_ce" as the tool names it, where that is a word; else "p2p", "p2p, no peers".
std::string label_of(const ComparedMatrix& matrix) {
  const bool word = !matrix.name.empty() && matrix.name.find(' ') == std::string::npos;
  return (word ? matrix.name : matrix.kind) + (matrix.peer_access ? "" : ", no peers");
}

Grid cells_grid(const std::vector<TableCell>& cells) {
  Grid grid;
  grid.columns = {{"table", "", 7, false},
                  {"engine", "", 6, false},
                  {"unit", "", 5, false},
                  {"source", "", 6},
                  {"destination", "", 11}};
  grid.columns.insert(
      grid.columns.end(),
      {{"measured", "", 8}, {"predicted", "", 9}, {"error", "(%)", 6}, {"where", "", 0, false}});
  for (const auto& [matrix, cell] : cells) {
    grid.rows.push_back({label_of(*matrix), matrix->engine, matrix->unit, cell->source, cell->destination,
                         fmt::format("{:.2f}", cell->measured), fmt::format("{:.2f}", cell->predicted),
                         signed_percent(cell->error()), without_folder(matrix->where)});
  }
  return grid;
}

Grid matrix_summary_grid(const ComparisonReport& report) {
  Grid grid;
  grid.columns = {{"table", "", 7, false}, {"engine", "", 6, false}};
  grid.columns.insert(grid.columns.end(), summary_columns().begin(), summary_columns().end() - 1);
  grid.columns[2].name = "cells";
  grid.columns.push_back({"where", "", 0, false});
  for (const ComparedMatrix& matrix : report.matrices) {
    std::vector<std::string> cells{label_of(matrix), matrix.engine};
    const std::vector<std::string> numbers = summary_cells(matrix.summary());
    cells.insert(cells.end(), numbers.begin(), numbers.end() - 1);
    cells.push_back(without_folder(matrix.where));
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

std::vector<std::string> head_of(const ComparisonReport& report) {
  std::vector<std::string> head{fmt::format("lanecast {} ({}): measured times beside predicted ones",
                                            report.run.version, report.run.commit),
                                "measured: " + report.measured, "predicted: " + report.predicted};
  if (!report.calls.rows.empty() || report.matrices.empty()) {
    head.push_back(fmt::format("{} rows, {}; error: predicted / measured - 1", report.calls.rows.size(),
                               report.in_place ? "in place" : "out of place"));
  }
  const ErrorSummary first = summarize(samples_of(report.calls.first_rows));
  if (first.n > 0) {
    head.push_back(fmt::format("apart, not in the figures: {} first {} of a sweep, median {} %, max {} %",
                               first.n, first.n == 1 ? "row" : "rows", percent(first.median_abs_error),
                               percent(first.max_abs_error)));
  }
  for (const LeftOutRows& rows : report.calls.left_out)
    head.push_back(fmt::format("left out: {} x {}", rows.rows, rows.reason));
  return head;
}

std::vector<std::string> foot_of(const ComparisonReport& report) {
  if (!report.tolerance) return {};
  const ToleranceResult& result = *report.tolerance;
  const std::string bound = bound_of(result);
  if (result.beyond.empty()) return {"all within the tolerance of " + bound};
  std::vector<std::string> lines{fmt::format("{} beyond the tolerance of {}:", result.beyond.size(), bound)};
  for (std::size_t i = 0; i < std::min(result.beyond.size(), kMostBreaches); ++i)
    lines.push_back("  " + text_of(result.beyond[i]));
  if (result.beyond.size() > kMostBreaches)
    lines.push_back(fmt::format("  and {} more", result.beyond.size() - kMostBreaches));
  return lines;
}

/// "rows"; "the 10 worst rows of 400 (`--rows all` lists all)"
std::string list_caption(const std::string& what, std::size_t shown, std::size_t all) {
  if (shown == all) return what;
  return fmt::format("the {} worst {} of {} (`--rows all` lists all)", shown, what, all);
}

/// Captions and grids below the head, in order.
std::vector<std::pair<std::string, Grid>> parts_of(const ComparisonReport& report) {
  std::vector<std::pair<std::string, Grid>> parts;
  if (!report.calls.rows.empty()) {
    parts.emplace_back("absolute errors by protocol, transport and size; bias: median with its sign",
                       groups_grid(report));
    const std::vector<const ComparedRow*> rows = listed_rows(report);
    if (!rows.empty()) {
      parts.emplace_back(list_caption("rows", rows.size(), report.calls.rows.size()),
                         rows_grid(rows, report.with_nccl_model));
    }
  }
  if (!report.matrices.empty()) {
    parts.emplace_back("absolute errors of pairwise tables", matrix_summary_grid(report));
    const std::vector<TableCell> all = cells_of(report);
    const std::vector<TableCell> cells =
        listed(all, report, [](const TableCell& cell) { return cell.second->error(); });
    if (!cells.empty())
      parts.emplace_back(list_caption("cells", cells.size(), all.size()), cells_grid(cells));
  }
  return parts;
}

std::string as_table(const ComparisonReport& report) {
  std::string text;
  for (const std::string& line : head_of(report)) text += comment_line(line);
  for (const auto& [caption, grid] : parts_of(report))
    text += comment_line("") + comment_line(caption) + aligned_text(grid);
  const std::vector<std::string> foot = foot_of(report);
  if (!foot.empty()) text += comment_line("");
  for (const std::string& line : foot) text += comment_line(line);
  return text;
}

std::string as_markdown(const ComparisonReport& report) {
  std::string text;
  for (const std::string& line : head_of(report)) text += markdown_item(line);
  for (const auto& [caption, grid] : parts_of(report)) text += "\n" + markdown_text(caption, grid);
  const std::vector<std::string> foot = foot_of(report);
  if (!foot.empty()) text += "\n";
  for (const std::string& line : foot) text += markdown_item(line);
  return text;
}

void add_csv(const Json& row, std::string& text) {
  std::vector<Json> names;
  std::vector<Json> fields;
  for (const auto& [key, value] : row.items()) {
    names.emplace_back(key);
    fields.push_back(value);
  }
  if (text.empty()) text = csv_line(names);
  text += csv_line(fields);
}

std::string as_csv(const ComparisonReport& report) {
  std::string text;
  for (const ComparedRow& row : report.calls.rows)
    add_csv(compared_row_as_json(row, report.with_nccl_model), text);
  if (!text.empty()) return text;
  for (const ComparedMatrix& matrix : report.matrices) {
    for (const Json& cell : cells_as_json(matrix)) add_csv(cell, text);
  }
  return text;
}

}  // namespace

const char* to_string(ToleranceOf of) {
  switch (of) {
    case ToleranceOf::median:
      return "median";
    case ToleranceOf::p95:
      return "p95";
    case ToleranceOf::max:
      break;
  }
  return "max";
}

std::string bound_of(const ToleranceResult& result) {
  return fmt::format("{:g} % ({})", result.tolerance * 100, to_string(result.of));
}

std::string text_of(const Breach& breach) { return signed_percent(breach.error) + " %  " + breach.what; }

std::string comparison_text(const ComparisonReport& report, Format format) {
  switch (format) {
    case Format::json:
      return document_text(comparison_as_json(report));
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
