#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "configs/json_document.hpp"
#include "configs/measured/measured_reading.hpp"

namespace lanecast {

/// The readers of each format; `read_measured` picks one. Lines of a text are counted from 1.
/// What is wrong with the text goes to `reading`; nothing is thrown but what ProblemList throws.
using TextLines = std::vector<std::string_view>;

void read_measure_json(const JsonNode& document, MeasuredReading& reading);
void read_json_lines(const TextLines& lines, MeasuredReading& reading);
void read_csv_rows(const TextLines& lines, MeasuredReading& reading);

/// Tables of rates as in shared/measurements (sm-rates.csv, copy-engine.csv); false for another table.
struct DataRow;
bool has_rate_columns(const DataRow& header);
void add_table_rates(const DataRow& row, MeasuredReading& reading);

void read_nccl_tests_text(const TextLines& lines, MeasuredReading& reading);
void read_nccl_tests_json(const JsonNode& document, MeasuredReading& reading);
void read_nvbandwidth_text(const TextLines& lines, MeasuredReading& reading);
void read_nvbandwidth_json(const JsonNode& document, MeasuredReading& reading);
void read_p2p_latency_text(const TextLines& lines, MeasuredReading& reading);

}  // namespace lanecast
