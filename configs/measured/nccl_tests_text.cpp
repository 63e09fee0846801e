#include <optional>
#include <string>
#include <utility>

#include "configs/measured/launcher_prefix.hpp"
#include "configs/measured/nccl_tests_row.hpp"
#include "configs/measured/nccl_tests_run.hpp"
#include "configs/measured/nccl_tests_table.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

bool holds(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

/// Whether a word may be a field of a row: a number, N/A, or a name of letters and digits.
bool is_field(std::string_view word) {
  return word.size() <= 24 && (word == "N/A" || word.find_first_not_of("0123456789.eE+-") == word.npos ||
                               word == "nan" || word == "-nan" || word == "inf");
}

/// Goes through the lines of one file, run by run.
class NcclTestsReader {
 public:
  explicit NcclTestsReader(MeasuredReading& reading) : reading_(reading) { begin(1); }

  void take(std::string_view whole, int line, bool last);
  void finish() {
    close_row(/*last=*/false);
    close();
  }

 private:
  void begin(int line);
  void close();
  void close_row(bool last);
  bool take_row(std::string_view text, int line);
  bool take_footer(std::string_view text, int line);

  MeasuredReading& reading_;
  std::optional<NcclTestsRun> run_;
  std::optional<NcclTestsTable> table_;
  std::optional<NcclTestsColumns> columns_;
  std::vector<std::string> row_;  // fields of a row that is not complete: NCCL wrote into it
  int row_line_ = 0;
};

void NcclTestsReader::begin(int line) {
  run_.emplace(reading_.name(), line);
  table_.emplace(reading_);
}

void NcclTestsReader::close() {
  const bool counts_wrong = !columns_ || columns_->places[0].wrong >= 0;
  table_->finish(*std::move(run_), columns_ && columns_->milliseconds, columns_ && columns_->cpu_time,
                 counts_wrong);
}

/// Takes the row that is complete by now, or says that it is not.
void NcclTestsReader::close_row(bool last) {
  if (row_.empty()) return;
  const std::vector<std::string> fields = std::exchange(row_, {});
  if (!columns_) columns_ = usual_columns(fields.size());
  if (!columns_) {
    reading_.problem(row_line_, "a row of " + std::to_string(fields.size()) + " fields without a header",
                     "copy the line with `size count type` as well");
  } else if (static_cast<int>(fields.size()) >= columns_->fields) {
    table_->add(row_of_fields(fields, *columns_, row_line_));
  } else if (last) {
    reading_.leave_out("the last row is cut off", row_line_);
  } else {
    reading_.problem(row_line_,
                     "a row of " + std::to_string(fields.size()) + " fields below a header of " +
                         std::to_string(columns_->fields),
                     "give the row as nccl-tests printed it, or leave it out");
  }
}

/// A row, or the rest of one.
bool NcclTestsReader::take_row(std::string_view text, int line) {
  const std::vector<std::string_view> words = words_of(text);
  if (auto fields = row_fields(words)) {
    close_row(/*last=*/false);
    row_ = std::move(*fields);
    row_line_ = line;
    return true;
  }
  const bool waits = !row_.empty() && columns_ && static_cast<int>(row_.size()) < columns_->fields;
  if (!waits || words.empty()) return false;
  for (const std::string_view word : words) {
    if (!is_field(word)) return false;
  }
  for (const std::string_view word : words) row_.emplace_back(word);
  return true;
}

bool NcclTestsReader::take_footer(std::string_view text, int line) {
  if (holds(text, "Out of bounds values")) {
    table_->ended();
    if (holds(text, "FAILED")) {
      table_->failed(line);
      reading_.note("the run says FAILED: some results were wrong", line);
    }
    return true;
  }
  if (holds(text, "Avg bus bandwidth")) {
    table_->ended();
    return true;
  }
  if (holds(text, "Test NCCL failure") || holds(text, "Test CUDA failure") || holds(text, "Test failure")) {
    reading_.note("the run ended with a failure", line);
    return true;
  }
  return false;
}

void NcclTestsReader::take(std::string_view whole, int line, bool last) {
  const NcclSplit split = split_nccl(whole.substr(0, 8192));
  if (!split.message.empty()) run_->take_nccl(split.message, line);
  const std::string_view text = without_launcher(split.before);
  if (split.message.empty() && take_row(text, line)) {
    if (last) close_row(/*last=*/true);
    return;
  }
  if (!split.message.empty()) {
    const bool row = !trimmed(text).empty() && take_row(text, line);
    if (!row) return;
    return;
  }
  if (trimmed(text).empty()) return;
  close_row(/*last=*/false);
  if (run_->begins_another(text, !table_->empty())) {
    close();
    begin(line);
    columns_.reset();
  }
  if (auto columns = columns_of_header(text)) {
    if (!table_->empty()) {
      close();
      begin(line);
    }
    columns_ = columns;
    return;
  }
  if (take_footer(text, line) || run_->take(text)) return;
  if (holds(text, "CCL version ")) run_->take_nccl(text, line);
}

}  // namespace

void read_nccl_tests_text(const TextLines& lines, MeasuredReading& reading) {
  NcclTestsReader reader(reading);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    reader.take(lines[i], static_cast<int>(i) + 1, i + 1 == lines.size());
  }
  reader.finish();
}

}  // namespace lanecast
