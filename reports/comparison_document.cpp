#include "reports/comparison_document.hpp"

#include <cstdlib>

#include "reports/prediction_row.hpp"

namespace lanecast {

nlohmann::ordered_json summary_as_json(const ErrorSummary& summary) {
  return {{"n", summary.n},
          {"median_abs_error", number_or_null(summary.median_abs_error)},
          {"p95_abs_error", number_or_null(summary.p95_abs_error)},
          {"max_abs_error", number_or_null(summary.max_abs_error)},
          {"median_error", number_or_null(summary.median_error)},
          {"coverage", summary.coverage ? number_or_null(*summary.coverage) : nlohmann::ordered_json()}};
}

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::optional<std::string>& text) {
  return text && !text->empty() ? Json(*text) : Json();
}

Json whole_or_null(const std::optional<std::string>& digits) {
  return digits ? Json(std::strtoull(digits->c_str(), nullptr, 10)) : Json();
}

Json time_or_null(const std::optional<Seconds>& time) { return time ? number_or_null(in_us(*time)) : Json(); }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void add_algorithm(const CallKeys& keys, Json& row) {
  const std::optional<std::string>& name = keys[CallKey::algorithm];
  const std::optional<Algorithm> algorithm = name ? algorithm_from_string(*name) : std::nullopt;
  row["algorithm"] = algorithm ? Json(to_string(family_of(*algorithm))) : Json();
  row["variant"] = algorithm ? variant_or_null(*algorithm) : Json();
}

Json group_as_json(const ErrorGroup& group) {
  Json json;
  json["protocol"] = group.protocol ? Json(to_string(*group.protocol)) : Json();
  json["transport"] = text_or_null(group.transport);
  json.update(summary_as_json(group.summary));
  return json;
}

Json band_as_json(const ErrorGroup& group, const ErrorGroup::Band& band) {
  Json json;
  json["protocol"] = group.protocol ? Json(to_string(*group.protocol)) : Json();
  json["transport"] = text_or_null(group.transport);
  json["size_from_bytes"] = band.band.from.value();
  json["size_to_bytes"] = band.band.to ? Json(band.band.to->value()) : Json();
  json.update(summary_as_json(band.summary));
  return json;
}

/// `summary`, `groups` and `bands` of some samples.
void add_statistics(const std::vector<ErrorSample>& samples, Json& json) {
  json["summary"] = summary_as_json(summarize(samples));
  json["groups"] = Json::array();
  json["bands"] = Json::array();
  for (const ErrorGroup& group : error_groups(samples)) {
    json["groups"].push_back(group_as_json(group));
    for (const ErrorGroup::Band& band : group.bands) json["bands"].push_back(band_as_json(group, band));
  }
}

Json rows_as_json(const std::vector<ComparedRow>& rows, bool with_nccl_model) {
  Json list = Json::array();
  for (const ComparedRow& row : rows) list.push_back(compared_row_as_json(row, with_nccl_model));
  return list;
}

Json matrix_as_json(const ComparedMatrix& matrix) {
  Json json{{"name", text_or_null(matrix.name)},
            {"kind", matrix.kind},
            {"engine", text_or_null(matrix.engine)},
            {"peer_access", matrix.peer_access},
            {"unit", text_or_null(matrix.unit)},
            {"where", text_or_null(matrix.where)},
            {"summary", summary_as_json(matrix.summary())},
            {"cells", Json::array()}};
  for (const ComparedCell& cell : matrix.cells) {
    json["cells"].push_back({{"source", cell.source},
                             {"destination", cell.destination},
                             {"measured", number_or_null(cell.measured)},
                             {"predicted", number_or_null(cell.predicted)},
                             {"error", number_or_null(cell.error())}});
  }
  return json;
}

Json left_out_as_json(const std::vector<LeftOutRows>& left_out) {
  Json list = Json::array();
  for (const LeftOutRows& rows : left_out)
    list.push_back({{"reason", rows.reason}, {"rows", rows.rows}, {"where", text_or_null(rows.where)}});
  return list;
}

Json tolerance_as_json(const std::optional<ToleranceResult>& result) {
  if (!result) return nullptr;
  Json beyond = Json::array();
  for (const Breach& breach : result->beyond)
    beyond.push_back({{"what", breach.what}, {"error", number_or_null(breach.error)}});
  return {{"value", number_or_null(result->tolerance)},
          {"of", to_string(result->of)},
          {"kept", result->beyond.empty()},
          {"beyond", beyond}};
}

}  // namespace

Json compared_row_as_json(const ComparedRow& row, bool with_nccl_model) {
  const CallKeys keys = keys_of(row);
  Json json;
  json["size_bytes"] = row.measured.call.size.value();
  json["collective"] = text_or_null(keys[CallKey::collective]);
  json["datatype"] = text_or_null(keys[CallKey::datatype]);
  json["op"] = text_or_null(keys[CallKey::op]);
  json["in_place"] = row.measured.call.in_place;
  add_algorithm(keys, json);
  json["protocol"] = text_or_null(keys[CallKey::protocol]);
  json["transport"] = text_or_null(keys[CallKey::transport]);
  json["channels"] = whole_or_null(keys[CallKey::channels]);
  json["threads"] = whole_or_null(keys[CallKey::threads]);
  json["chunk_bytes"] = whole_or_null(keys[CallKey::chunk]);
  json["buffsize_bytes"] = whole_or_null(keys[CallKey::buffsize]);
  json["register"] = keys[CallKey::registration].value_or("auto");
  json["launch"] = text_or_null(keys[CallKey::launch]);
  json["iterations"] = whole_or_null(keys[CallKey::iterations]);
  json["ranks"] = whole_or_null(keys[CallKey::ranks]);
  json["implementation"] = text_or_null(keys[CallKey::implementation]);
  json["session"] = whole_or_null(keys[CallKey::session]);
  json["first_of_sweep"] = row.first_of_sweep();
  json["where"] = text_or_null(row.measured.where);
  json["measured_time_us"] = number_or_null(in_us(row.measured.time));
  json["predicted_time_us"] = number_or_null(in_us(row.predicted.time));
  json["error"] = number_or_null(row.error());
  json["predicted_time_us_low"] = time_or_null(row.predicted.time_low);
  json["predicted_time_us_high"] = time_or_null(row.predicted.time_high);
  json["within_band"] = or_null(row.within());
  if (!with_nccl_model) return json;
  json["nccl_model_time_us"] = time_or_null(row.nccl_model);
  json["nccl_model_error"] =
      row.nccl_model ? number_or_null(*row.nccl_model / row.measured.time - 1) : Json();
  return json;
}

std::vector<Json> cells_as_json(const ComparedMatrix& matrix) {
  std::vector<Json> rows;
  for (const ComparedCell& cell : matrix.cells) {
    rows.push_back({{"name", text_or_null(matrix.name)},
                    {"kind", matrix.kind},
                    {"engine", text_or_null(matrix.engine)},
                    {"peer_access", matrix.peer_access},
                    {"unit", text_or_null(matrix.unit)},
                    {"source", cell.source},
                    {"destination", cell.destination},
                    {"measured", number_or_null(cell.measured)},
                    {"predicted", number_or_null(cell.predicted)},
                    {"error", number_or_null(cell.error())}});
  }
  return rows;
}

Json comparison_as_json(const ComparisonReport& report) {
  Json document = document_head(report.run);
  document["measured"] = report.measured;
  document["predicted"] = report.predicted;
  document["machine"] = text_or_null(report.machine);
  document["profile"] = text_or_null(report.profile);
  document["in_place"] = report.in_place;
  document["rows"] = rows_as_json(report.calls.rows, report.with_nccl_model);
  add_statistics(samples_of(report.calls.rows), document);
  if (report.with_nccl_model) add_statistics(nccl_samples_of(report.calls.rows), document["nccl_model"]);
  document["first_rows"] = {{"summary", summary_as_json(summarize(samples_of(report.calls.first_rows)))},
                            {"rows", rows_as_json(report.calls.first_rows, report.with_nccl_model)}};
  document["matrices"] = Json::array();
  for (const ComparedMatrix& matrix : report.matrices) document["matrices"].push_back(matrix_as_json(matrix));
  document["left_out"] = left_out_as_json(report.calls.left_out);
  document["tolerance"] = tolerance_as_json(report.tolerance);
  document["warnings"] = warnings_as_json(report.warnings);
  return document;
}

}  // namespace lanecast
