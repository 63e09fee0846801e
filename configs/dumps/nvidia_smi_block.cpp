#include <algorithm>
#include <utility>

#include "configs/dumps/nvidia_smi_rows.hpp"

namespace lanecast {
namespace {

constexpr int nowhere = -1;

int position_in(const std::vector<std::string>& list, const std::string& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  return found == list.end() ? nowhere : static_cast<int>(found - list.begin());
}

/// Columns of a block: which row's own column is where, and what the columns are called.
class Columns {
 public:
  explicit Columns(const SmiBlock& block) : block_(block) {
    align_header();
    for (const SmiRow& row : block.rows) place(row);
    name_from_header();
    name_from_order();
  }

  /// Column of each row; `nowhere`: two rows claim it, and the other was first.
  const std::vector<int>& of_rows() const { return of_rows_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool is_named(const std::string& name) const { return position_in(names_, name) != nowhere; }

  /// A header may have lost its begin: the first row that it names tells where its columns are.
  void align_header() {
    for (const SmiRow& row : block_.rows) {
      const int own = position_in(row.cells, "X");
      const int in_header = position_in(block_.header, row.label);
      if (own == nowhere || in_header == nowhere) continue;
      header_begin_ = own - in_header;
      break;
    }
    use_header_ = header_begin_ >= 0;
  }

  int in_header(const SmiRow& row) const {
    const int found = use_header_ ? position_in(block_.header, row.label) : nowhere;
    return found == nowhere ? nowhere : found + header_begin_;
  }

  /// A row that was cut before its X: by the header, or by its number, or it follows the row before.
  int guessed_column(const SmiRow& row) const {
    if (const int column = in_header(row); column != nowhere) return column;
    const int index = gpu_index_of(row.label);
    if (index >= 0) return index < most_names ? index : nowhere;
    return of_rows_.empty() || of_rows_.back() == nowhere ? nowhere : of_rows_.back() + 1;
  }

  void place(const SmiRow& row) {
    const int expected = in_header(row);
    const bool as_expected = expected != nowhere && static_cast<std::size_t>(expected) < row.cells.size() &&
                             row.cells[static_cast<std::size_t>(expected)] == "X";
    int column = as_expected ? expected : position_in(row.cells, "X");
    if (column == nowhere) column = guessed_column(row);
    names_.resize(std::max(names_.size(), row.cells.size()));
    if (column != nowhere) {
      names_.resize(std::max(names_.size(), static_cast<std::size_t>(column) + 1));
      std::string& name = names_[static_cast<std::size_t>(column)];
      if (name.empty()) {
        name = row.label;
      } else {
        column = nowhere;
      }
    }
    of_rows_.push_back(column);
  }

  void name_from_header() {
    if (!use_header_) return;
    const auto begin = static_cast<std::size_t>(header_begin_);
    names_.resize(std::max(names_.size(), begin + block_.header.size()));
    for (std::size_t i = 0; i < block_.header.size(); ++i) {
      if (names_[begin + i].empty() && !is_named(block_.header[i])) names_[begin + i] = block_.header[i];
    }
  }

  /// GPUs come first, in the order of their numbers: below GPU2 in the third column are GPUs 0 and 1.
  void name_from_order() {
    int last = nowhere;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (gpu_index_of(names_[i]) == static_cast<int>(i)) last = static_cast<int>(i);
    }
    for (int i = 0; i < last; ++i) {
      const std::string name = "GPU" + std::to_string(i);
      if (names_[static_cast<std::size_t>(i)].empty() && !is_named(name))
        names_[static_cast<std::size_t>(i)] = name;
    }
  }

  const SmiBlock& block_;
  int header_begin_ = 0;
  bool use_header_ = true;
  std::vector<int> of_rows_;
  std::vector<std::string> names_;
};

/// Copies a row's cells into the columns that have a name.
void copy_cells(const SmiRow& row, const std::vector<int>& kept, std::vector<std::string>& cells) {
  const std::size_t known = row.cells.size() - (row.last_is_fragment ? 1 : 0);
  for (std::size_t column = 0; column < known; ++column) {
    if (kept[column] != nowhere) cells[static_cast<std::size_t>(kept[column])] = row.cells[column];
  }
}

}  // namespace

void SmiBlock::extend_header(const SmiHeader& found) {
  affinities += found.affinities;
  for (const std::string& name : found.names) {
    if (position_in(header, name) == nowhere) header.push_back(name);
  }
  if (header.size() > static_cast<std::size_t>(most_names)) {
    too_large = true;
    header.resize(static_cast<std::size_t>(most_names));
  }
}

std::size_t SmiBlock::columns(std::size_t rows_so_far) const {
  std::size_t most = header.size();
  for (std::size_t i = 0; i < rows_so_far; ++i) most = std::max(most, rows[i].cells.size());
  return most;
}

bool SmiBlock::has_row(const std::string& label) const {
  return std::any_of(rows.begin(), rows.end(), [&](const SmiRow& row) { return row.label == label; });
}

void SmiBlock::add(SmiRow row) {
  constexpr auto most = static_cast<std::size_t>(most_names);
  if (row.cells.size() > most || rows.size() == most) too_large = true;
  if (rows.size() < most) rows.push_back(std::move(row));
}

bool SmiBlock::continue_row(const SmiLine& rest) {
  constexpr auto most = static_cast<std::size_t>(most_names);
  if (rows.empty() || rows.back().cells.size() > most || rows.back().after.size() > most) return false;
  std::optional<SmiRow> longer = rest.rest_of_row(rows.back(), columns(rows.size() - 1), affinities);
  if (!longer) return false;
  if (longer->cells.size() > most) too_large = true;
  rows.back() = std::move(*longer);
  return true;
}

SmiMatrix SmiBlock::assembled() const {
  SmiMatrix matrix;
  const Columns found(*this);
  std::vector<int> kept(found.names().size(), nowhere);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (found.names()[i].empty()) continue;
    kept[i] = static_cast<int>(matrix.names.size());
    matrix.names.push_back(found.names()[i]);
  }
  const std::size_t size = matrix.names.size();
  const bool lonely = size == 1 && header.empty() && rows[0].after.empty();  // "GPU0 X" may be anything
  const bool has_gpu = std::any_of(matrix.names.begin(), matrix.names.end(),
                                   [](const std::string& name) { return gpu_index_of(name) >= 0; });
  if (lonely || !has_gpu) return {};
  matrix.unnamed_columns = static_cast<int>(kept.size() - size);
  matrix.cells.assign(size, std::vector<std::string>(size));
  matrix.after.resize(size);
  matrix.has_row.resize(size);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (found.of_rows()[i] == nowhere) continue;
    const auto own = static_cast<std::size_t>(kept[static_cast<std::size_t>(found.of_rows()[i])]);
    copy_cells(rows[i], kept, matrix.cells[own]);
    matrix.after[own] = rows[i].after;
    // The text ends within the affinities: "0-6" may be the begin of "0-63".
    if (rows[i].unterminated && !rows[i].after.empty() && rows[i].after.size() < affinities) {
      matrix.after[own].pop_back();
    }
    matrix.has_row[own] = true;
  }
  matrix.line = line;
  matrix.last_line = last_line;
  matrix.p2p_capability = capability;
  return matrix;
}

}  // namespace lanecast
