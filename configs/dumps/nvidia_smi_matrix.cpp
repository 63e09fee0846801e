#include "configs/dumps/nvidia_smi_matrix.hpp"

#include <optional>
#include <utility>

#include "configs/dumps/nvidia_smi_rows.hpp"

namespace lanecast {
namespace {

/// Lines of one matrix as they come in, and the matrices that are complete.
class MatrixScanner {
 public:
  explicit MatrixScanner(const SmiCellWords& words) : vocabulary_(words) {}

  bool full() const { return found_.more; }
  void take(const PasteLines& line);
  SmiMatrices finish() {
    close();
    return std::move(found_);
  }

 private:
  bool take_header(const SmiLine& line);
  bool take_row(const SmiLine& line);
  void take_other(const SmiLine& line);
  void close();

  SmiCellWords vocabulary_;
  SmiBlock block_;
  std::string capability_;  // of the command line last seen
  int last_taken_ = 0;      // line of the header or row that may go on in the next line
  int strange_lines_ = 0;   // since a header without rows
  SmiMatrices found_;
};

void MatrixScanner::take(const PasteLines& text) {
  const SmiLine line(text, vocabulary_);
  if (line.words().empty()) return;
  if (take_header(line) || take_row(line)) {
    last_taken_ = line.number();
    strange_lines_ = 0;
    return;
  }
  if (last_taken_ + 1 == line.number() && block_.continue_row(line)) {
    last_taken_ = block_.last_line = line.number();
    return;
  }
  take_other(line);
}

bool MatrixScanner::take_header(const SmiLine& line) {
  const bool goes_on = block_.rows.empty() && !block_.header.empty() && last_taken_ + 1 == line.number();
  const std::optional<SmiHeader> header = line.header(goes_on);
  if (!header) return false;
  if (goes_on) {
    block_.extend_header(*header);
    return true;
  }
  close();
  block_.extend_header(*header);
  block_.line = line.number();
  block_.capability = capability_;
  return true;
}

bool MatrixScanner::take_row(const SmiLine& line) {
  std::optional<SmiRow> row = line.row(block_.columns(block_.rows.size()), block_.header);
  if (!row) return false;
  if (block_.has_row(row->label)) close();
  if (block_.rows.empty() && block_.header.empty()) {
    block_.line = line.number();
    block_.capability = capability_;
  }
  block_.add(std::move(*row));
  block_.last_line = line.number();
  return true;
}

/// Prose, a legend, a command line: it ends a matrix. A header waits for its rows over one such line: the cut
/// rest of a header that a terminal wrapped inside of a word.
void MatrixScanner::take_other(const SmiLine& line) {
  ++strange_lines_;
  if (!block_.rows.empty() || strange_lines_ > 1) close();
  if (const std::optional<std::string> capability = line.p2p_capability()) capability_ = *capability;
}

void MatrixScanner::close() {
  SmiBlock block = std::exchange(block_, {});
  if (block.rows.empty()) return;
  capability_.clear();
  if (static_cast<int>(found_.all.size() + found_.too_large.size()) == most_matrices) {
    found_.more = true;
    return;
  }
  if (block.too_large) {
    found_.too_large.push_back(block.line);
    return;
  }
  SmiMatrix matrix = block.assembled();
  if (!matrix.names.empty()) found_.all.push_back(std::move(matrix));
}

}  // namespace

SmiMatrices smi_matrices(std::string_view text, const SmiCellWords& words) {
  MatrixScanner scanner(words);
  PasteLines lines(text);
  while (!scanner.full() && lines.next()) scanner.take(lines);
  return scanner.finish();
}

int gpu_index_of(std::string_view name) {
  return name.substr(0, 3) == "GPU" ? small_number(name.substr(3)) : -1;
}

}  // namespace lanecast
