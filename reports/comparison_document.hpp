#pragma once
#include <nlohmann/json.hpp>

#include "reports/comparison_report.hpp"

namespace lanecast {

/// A row with all of its keys: those of the call as `predict` has them, then times and errors.
nlohmann::ordered_json compared_row_as_json(const ComparedRow& row, bool with_nccl_model);

/// The cells of a table, flat: name, kind, engine, unit, source, destination, measured, predicted, error.
std::vector<nlohmann::ordered_json> cells_as_json(const ComparedMatrix& matrix);

/// The whole document.
nlohmann::ordered_json comparison_as_json(const ComparisonReport& report);

/// `{"n", "median_abs_error", "p95_abs_error", "max_abs_error", "median_error", "coverage"}`
nlohmann::ordered_json summary_as_json(const ErrorSummary& summary);

}  // namespace lanecast
