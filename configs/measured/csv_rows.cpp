#include <algorithm>
#include <string>

#include "configs/measured/call_row.hpp"
#include "configs/measured/readers.hpp"
#include "configs/measured/sweep_cutter.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostColumns = 256;

/// One line of CSV as its fields; in quotes, commas are text and two quotes are one. Nothing where a quote
/// stays open.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      const bool twice = c == '"' && i + 1 < line.size() && line[i + 1] == '"';
      if (c != '"' || twice) fields.back() += c;
      if (twice) ++i;
      if (c == '"' && !twice) quoted = false;
    } else if (c == '"' && trimmed(fields.back()).empty()) {
      fields.back().clear();
      quoted = true;
    } else if (c == ',') {
      if (fields.size() >= kMostColumns) break;
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

/// A table of CSV: its header, and what its rows are.
class CsvTable {
 public:
  explicit CsvTable(MeasuredReading& reading) : reading_(reading), sweeps_(reading) {}

  void take(std::string_view line, int number);
  void finish() { sweeps_.finish(); }

 private:
  enum class Kind { none, calls, rates, table_rates };

  bool is_header(const std::vector<std::string>& fields) const;
  void begin(const std::vector<std::string>& fields, int line);
  void add(const std::vector<std::string>& fields, int line);
  DataRow row(const std::vector<std::string>& fields, int line) const;

  MeasuredReading& reading_;
  SweepCutter sweeps_;
  std::vector<std::string> columns_;
  Kind kind_ = Kind::none;
  bool refused_ = false;
};

DataRow CsvTable::row(const std::vector<std::string>& fields, int line) const {
  DataRow row{{line, 1}, {}};
  for (std::size_t i = 0; i < columns_.size() && i < fields.size(); ++i) {
    row.cells.push_back({columns_[i], fields[i], {line, static_cast<int>(i) + 1}});
  }
  return row;
}

/// The first row, and later ones that say again what the columns are (several tables in one file).
bool CsvTable::is_header(const std::vector<std::string>& fields) const {
  if (columns_.empty() || fields == columns_) return true;
  const auto names = [&](const char* key) {
    return std::find(fields.begin(), fields.end(), key) != fields.end();
  };
  return (names("size_bytes") && fields.size() > 1) || (names("name") && names("source")) || names("blocks");
}

void CsvTable::begin(const std::vector<std::string>& fields, int line) {
  columns_ = fields;
  sweeps_.cut();
  const DataRow header = row(fields, line);
  const bool sized = header.has("size_bytes") || header.has("size");
  const bool timed =
      header.has("time_us") || header.has("time_us_out_of_place") || header.has("time_us_in_place");
  kind_ = Kind::none;
  if (header.has("time_us_low") || header.has("bottleneck")) {
    reading_.problem(line, "these are predictions, not measurements",
                     "give measured data; `lanecast compare` takes predictions");
  } else if (sized && timed) {
    kind_ = Kind::calls;
    note_unknown_keys(header, call_keys(), reading_);
  } else if (header.has("name") && (header.has("GBps") || header.has("us"))) {
    kind_ = Kind::rates;
    note_unknown_keys(header, rate_keys(), reading_);
  } else if (has_rate_columns(header)) {
    kind_ = Kind::table_rates;
  } else {
    reading_.problem(line, "the columns " + listed(fields) + " are of no table that is read",
                     "collectives need `size_bytes` and `time_us`, `time_us_out_of_place` or "
                     "`time_us_in_place`; rates need `name` and `GBps` or `us`");
  }
  for (const std::string& column : columns_) {
    if (column.empty() || std::count(columns_.begin(), columns_.end(), column) == 1) continue;
    reading_.problem(line, "there are two columns `" + printable(column) + "`", "keep one of them");
    return;
  }
}

void CsvTable::add(const std::vector<std::string>& fields, int line) {
  if (fields.size() != columns_.size()) {
    reading_.problem(line,
                     "a row of " + std::to_string(fields.size()) + " fields below " +
                         std::to_string(columns_.size()) + " columns",
                     "give each row a field for each column; it may be empty");
    return;
  }
  const DataRow cells = row(fields, line);
  if (kind_ == Kind::rates) add_rate_of_row(cells, reading_);
  if (kind_ == Kind::table_rates) add_table_rates(cells, reading_);
  if (kind_ != Kind::calls) return;
  std::vector<MeasuredCall> calls = calls_of_row(cells, reading_);
  sweeps_.place(cells, calls);
  for (MeasuredCall& call : calls) reading_.data.calls.push_back(std::move(call));
}

void CsvTable::take(std::string_view line, int number) {
  const std::string_view text = trimmed(line);
  if (text.empty() || text.front() == '#') return;
  const auto fields = fields_of(text);
  if (!fields) {
    reading_.problem(number, "a quote that is not closed", "close it in the same line");
  } else if (is_header(*fields)) {
    begin(*fields, number);
  } else if (kind_ != Kind::none) {
    add(*fields, number);
  }
}

}  // namespace

void read_csv_rows(const TextLines& lines, MeasuredReading& reading) {
  CsvTable table(reading);
  for (std::size_t i = 0; i < lines.size(); ++i) table.take(lines[i], static_cast<int>(i) + 1);
  table.finish();
}

}  // namespace lanecast
