#include "reports/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/topology/change_list.hpp"
#include "reports/parts_text.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNoDifference = 1e-3;  // of the time

Json common_as_json(const TuneReport& report) {
  return {{"machine", report.machine},
          {"profile", report.profile},
          {"implementation", report.implementation},
          {"ranks", report.ranks},
          {"collective", to_string(report.tuning.as_is.front().call.collective)},
          {"seed", report.seed}};
}

double gain_of(const Prediction& before, const Prediction& after) { return before.time / after.time; }

Json load_as_json(const RingLoad& load) {
  return {{"order", load.order},         {"busbw_GBps", number_or_null(in_GBps(load.busbw))},
          {"link", load.link},           {"direction", load.direction},
          {"crossings", load.crossings}, {"latency_us", number_or_null(in_us(load.latency))}};
}

Json orders_as_json(const TuneReport& report) {
  const RingOrders& orders = report.tuning.orders;
  return {{"best", load_as_json(orders.best)},   {"as_is", load_as_json(orders.as_is)},
          {"worst", load_as_json(orders.worst)}, {"exact", orders.exact},
          {"looked_at", orders.looked_at},       {"gains", report.tuning.order_gains},
          {"why", report.order_reason}};
}

Json crossovers_as_json(const Tuning& tuning) {
  Json list = Json::array();
  for (const Crossover& crossover : tuning.crossovers) {
    list.push_back({{"size_bytes", crossover.size.value()},
                    {"below", way_name(crossover.below)},
                    {"above", way_name(crossover.above)}});
  }
  return list;
}

Json curve_as_json(const Tuning& tuning) {
  if (!tuning.chunk_curve) return nullptr;
  const ChunkCurve& curve = *tuning.chunk_curve;
  Json points = Json::array();
  for (const ChunkPoint& point : curve.points) {
    points.push_back({{"chunk_bytes", point.prediction.chunk.value()},
                      {"buffsize_bytes", point.prediction.buffsize.value()},
                      {"time_us", number_or_null(in_us(point.prediction.time))},
                      {"busbw_GBps", number_or_null(in_GBps(point.prediction.busbw()))}});
  }
  return {{"size_bytes", curve.call.size.value()}, {"way", way_name(curve.way)}, {"points", points}};
}

Json advice_as_json(const Tuning& tuning, const NcclAdvice& advice) {
  Json gain = Json::array();
  for (std::size_t i = 0; i < advice.alone.size(); ++i) {
    gain.push_back({{"size_bytes", tuning.as_is[i].call.size.value()},
                    {"before_us", number_or_null(in_us(tuning.as_is[i].time))},
                    {"after_us", number_or_null(in_us(advice.alone[i].time))}});
  }
  return {{"name", advice.name},
          {"value", advice.value},
          {"reason", advice.reason},
          {"gains", advice.gains},
          {"alone", gain}};
}

Json sizes_as_json(const TuneReport& report) {
  Json sizes = Json::array();
  for (std::size_t i = 0; i < report.tuning.best.size(); ++i) {
    const Prediction& before = report.tuning.as_is[i];
    const Prediction& best = report.tuning.best[i];
    const bool exports = !report.tuning.exported.empty();
    sizes.push_back(
        {{"size_bytes", before.call.size.value()},
         {"gain", number_or_null(gain_of(before, best))},
         {"exported_us", exports ? number_or_null(in_us(report.tuning.exported[i].time)) : Json()},
         {"as_is", prediction_as_json(before, report.ranks)},
         {"best", prediction_as_json(best, report.ranks)}});
  }
  return sizes;
}

std::vector<Warning> warnings_of(const TuneReport& report) {
  std::vector<Prediction> all = report.tuning.as_is;
  all.insert(all.end(), report.tuning.best.begin(), report.tuning.best.end());
  return unique_warnings(all);
}

std::string as_json(const TuneReport& report) {
  Json document = document_head(report.run);
  document.update(common_as_json(report));
  document["sizes"] = sizes_as_json(report);
  document["crossovers"] = crossovers_as_json(report.tuning);
  document["ring_order"] = orders_as_json(report);
  document["chunk_curve"] = curve_as_json(report.tuning);
  document["variables"] = Json::array();
  document["files"] = Json::array();
  if (report.tuning.nccl) {
    for (const NcclAdvice& advice : report.tuning.nccl->variables)
      document["variables"].push_back(advice_as_json(report.tuning, advice));
  }
  for (const NcclAdvice& advice : report.tuning.files)
    document["files"].push_back(advice_as_json(report.tuning, advice));
  document["written"] = report.written;
  document["warnings"] = warnings_as_json(warnings_of(report));
  return document_text(document);
}

std::string as_csv(const TuneReport& report) {
  const Json common = common_as_json(report);
  std::string text;
  for (std::size_t i = 0; i < report.tuning.best.size(); ++i) {
    const Prediction& before = report.tuning.as_is[i];
    std::vector<Json> names;
    std::vector<Json> fields;
    add_flat(common, names, fields);
    add_flat(prediction_as_json(report.tuning.best[i], report.ranks), names, fields);
    add_flat({{"as_is_algorithm", to_string(before.algorithm)},
              {"as_is_protocol", to_string(before.protocol)},
              {"as_is_channels", before.channels},
              {"as_is_time_us", number_or_null(in_us(before.time))},
              {"gain", number_or_null(gain_of(before, report.tuning.best[i]))}},
             names, fields);
    if (text.empty()) text = csv_line(names);
    text += csv_line(fields);
  }
  return text;
}

std::string gain_cell(const Prediction& before, const Prediction& after) {
  const double change = after.time / before.time - 1;
  return std::abs(change) < kNoDifference ? "0" : fmt::format("{:+.1f}", 100 * change);
}

Grid sizes_grid(const TuneReport& report) {
  Grid grid;
  grid.columns = {{"size", "(B)", 11},    {"as", "is", 11, false},     {"channels", "as_is", 8},
                  {"time", "(us)", 8},    {"best", "", 11, false},     {"channels", "best", 8},
                  {"threads", "best", 7}, {"chunk", "best", 7, false}, {"time", "(us)", 8},
                  {"busbw", "(GB/s)", 7}, {"change", "(%)", 6}};
  if (!report.tuning.exported.empty()) grid.columns.push_back({"exported", "(us)", 8});
  for (std::size_t i = 0; i < report.tuning.best.size(); ++i) {
    const Prediction& before = report.tuning.as_is[i];
    const Prediction& best = report.tuning.best[i];
    grid.rows.push_back({std::to_string(before.call.size.value()),
                         way_name(before) + (before.stands_in_for.empty() ? "" : "*"),
                         std::to_string(before.channels), time_cell(before.time), way_name(best),
                         std::to_string(best.channels), std::to_string(best.threads), shown(best.chunk),
                         time_cell(best.time), rate_cell(best.busbw()), gain_cell(before, best)});
    if (!report.tuning.exported.empty())
      grid.rows.back().push_back(time_cell(report.tuning.exported[i].time));
  }
  return grid;
}

Grid curve_grid(const ChunkCurve& curve) {
  Grid grid;
  grid.columns = {{"chunk", "(B)", 10},
                  {"buffer", "(B)", 10},
                  {"time", "(us)", 8},
                  {"busbw", "(GB/s)", 7},
                  {"", "", 4, false}};
  const auto fastest = std::min_element(
      curve.points.begin(), curve.points.end(),
      [](const ChunkPoint& a, const ChunkPoint& b) { return a.prediction.time < b.prediction.time; });
  for (auto point = curve.points.begin(); point != curve.points.end(); ++point) {
    const Prediction& p = point->prediction;
    grid.rows.push_back({std::to_string(p.chunk.value()), std::to_string(p.buffsize.value()),
                         time_cell(p.time), rate_cell(p.busbw()), point == fastest ? "best" : "-"});
  }
  return grid;
}

Grid advice_grid(const Tuning& tuning) {
  Grid grid;
  grid.columns = {{"what", "", 18, false}, {"value", "", 10, false}};
  const std::size_t last = tuning.as_is.size() - 1;
  std::vector<std::size_t> sizes{0, last / 2, last};
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const std::size_t i : sizes)
    grid.columns.push_back({"alone_(%)", fmt::format("{}", shown(tuning.as_is[i].call.size)), 9});
  grid.columns.push_back({"advised", "", 7, false});
  const auto add = [&](const NcclAdvice& advice) {
    std::vector<std::string> row{advice.name, advice.value};
    for (const std::size_t i : sizes) row.push_back(gain_cell(tuning.as_is[i], advice.alone[i]));
    row.emplace_back(advice.gains ? "yes" : "no");
    grid.rows.push_back(std::move(row));
  };
  if (tuning.nccl) std::for_each(tuning.nccl->variables.begin(), tuning.nccl->variables.end(), add);
  std::for_each(tuning.files.begin(), tuning.files.end(), add);
  return grid;
}

std::vector<std::string> head_of(const TuneReport& report) {
  const Call& call = report.tuning.as_is.front().call;
  return {fmt::format("lanecast {} ({}): predicted by simulation, not measured", report.run.version,
                      report.run.commit),
          fmt::format("machine {}, profile {}, implementation {}, seed {}", report.machine, report.profile,
                      report.implementation, report.seed),
          fmt::format("{}, {} ranks, {}, {} of {} launches", to_string(call.collective), report.ranks,
                      call.in_place ? "in place" : "out of place", to_string(call.launch), call.iterations)};
}

std::vector<std::string> finding_lines(const TuneReport& report) {
  std::vector<std::string> lines{"ring order: " + report.order_reason};
  for (const Crossover& crossover : report.tuning.crossovers) {
    lines.push_back(fmt::format("from {} B on {} is faster than {}", crossover.size.value(),
                                way_name(crossover.above), way_name(crossover.below)));
  }
  const Prediction& largest = report.tuning.best.back();
  lines.push_back(
      fmt::format("band of the best at {} B: {} to {} us; what gains less than that may gain nothing",
                  largest.call.size.value(), time_cell(largest.time_low), time_cell(largest.time_high)));
  if (!report.tuning.exported.empty())
    lines.push_back("exported: with exactly what nccl.env exports, which is what is advised below");
  for (const Prediction& p : report.tuning.as_is) {
    if (p.stands_in_for.empty()) continue;
    lines.push_back("*: NCCL takes " + p.stands_in_for +
                    ", which is not simulated; its choice is left alone there");
    break;
  }
  return lines;
}

std::vector<std::string> advice_lines(const TuneReport& report) {
  std::vector<std::string> lines;
  const auto add = [&](const NcclAdvice& advice) {
    lines.push_back(fmt::format("{}={}: {}", advice.name, advice.value, advice.reason));
  };
  if (report.tuning.nccl)
    std::for_each(report.tuning.nccl->variables.begin(), report.tuning.nccl->variables.end(), add);
  std::for_each(report.tuning.files.begin(), report.tuning.files.end(), add);
  for (const std::string& file : report.written) lines.push_back("written: " + file);
  return lines;
}

std::vector<ReportPart> parts_of(const TuneReport& report) {
  ReportPart found{finding_lines(report), {}};
  found.tables.emplace_back("as the implementation decides by itself, and the best way found",
                            sizes_grid(report));
  if (report.tuning.chunk_curve && !report.tuning.chunk_curve->points.empty()) {
    const ChunkCurve& curve = *report.tuning.chunk_curve;
    found.tables.emplace_back(
        fmt::format("chunk curve of {} B, {}", curve.call.size.value(), way_name(curve.way)),
        curve_grid(curve));
  }
  if (report.tuning.files.empty()) return {found};
  ReportPart advice{advice_lines(report), {}};
  advice.tables.emplace_back("what to tell NCCL, and how the time changes with that alone",
                             advice_grid(report.tuning));
  return {found, advice};
}

}  // namespace

std::string tune_text(const TuneReport& report, Format format) {
  switch (format) {
    case Format::json:
      return as_json(report);
    case Format::csv:
      return as_csv(report);
    case Format::markdown:
      return parts_as_markdown(head_of(report), parts_of(report));
    case Format::table:
      break;
  }
  return parts_as_table(head_of(report), parts_of(report));
}

}  // namespace lanecast
