#include <algorithm>
#include <array>
#include <utility>

#include "configs/dumps/nvidia_smi_matrix.hpp"
#include "configs/dumps/paste_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

struct DistanceWord {
  std::string_view word;
  Distance distance;
};

/// Legends of all driver versions. SOC is SYS before driver 384; PSB is a single switch on the board of a
/// card with two GPUs.
constexpr std::array<DistanceWord, 7> distance_words{{{"PIX", Distance::pix},
                                                      {"PXB", Distance::pxb},
                                                      {"PHB", Distance::phb},
                                                      {"NODE", Distance::node},
                                                      {"SYS", Distance::sys},
                                                      {"SOC", Distance::sys},
                                                      {"PSB", Distance::pix}}};

SmiCellWords vocabulary() {
  SmiCellWords words;
  for (const DistanceWord& each : distance_words) words.words.push_back(each.word);
  words.nvlinks = true;
  return words;
}

/// @param own  the cell of a device with itself
TopoCell cell_from(const std::string& text, bool own) {
  if (own) return {Distance::loc, 0};
  if (text.substr(0, 2) == "NV") return {Distance::nvl, small_number(std::string_view(text).substr(2))};
  for (const DistanceWord& each : distance_words) {
    if (text == each.word) return {each.distance, 0};
  }
  return {};
}

bool same(const TopoCell& a, const TopoCell& b) { return a.distance == b.distance && a.nvlinks == b.nvlinks; }

/// What a reader of the result must know about a matrix.
struct MatrixFaults {
  int unknown_pairs = 0;
  std::string first_unequal;  // "GPU0 and GPU1"
};

/// Distances are the same both ways: a cell outside of the excerpt is taken from the other row.
MatrixFaults mirror(TopoMatrix& matrix) {
  MatrixFaults faults;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.names.size(); ++j) {
      TopoCell& upper = matrix.cells[i][j];
      TopoCell& lower = matrix.cells[j][i];
      if (!upper.distance) upper = lower;
      if (!lower.distance) lower = upper;
      if (!upper.distance) ++faults.unknown_pairs;
      if (!same(upper, lower) && faults.first_unequal.empty()) {
        faults.first_unequal = matrix.names[i] + " and " + matrix.names[j];
      }
    }
  }
  return faults;
}

/// The first node of "0", "0-1", "1,3"; nothing for "N/A" and an empty cell.
std::optional<int> first_numa(std::string_view text) {
  const int node = small_number(text.substr(0, text.find_first_of(",-")));
  return node < 0 ? std::nullopt : std::optional<int>(node);
}

TopoMatrix converted(const SmiMatrix& found, const std::string& file) {
  TopoMatrix matrix;
  matrix.names = found.names;
  matrix.from = file + ":" + std::to_string(found.line) + " (nvidia-smi topo -m)";
  const std::size_t size = found.names.size();
  matrix.cells.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) matrix.cells[i].push_back(cell_from(found.cells[i][j], i == j));
    const std::vector<std::string>& after = found.after[i];
    const bool has_cores = !after.empty() && after[0] != "N/A";
    matrix.cores.push_back(has_cores ? after[0] : "");
    matrix.numa.push_back(after.size() > 1 ? first_numa(after[1]) : std::nullopt);
  }
  return matrix;
}

std::string names_without_row(const SmiMatrix& found) {
  constexpr int most = 8;
  std::string names;
  int count = 0;
  for (std::size_t i = 0; i < found.names.size(); ++i) {
    if (found.has_row[i] || ++count > most) continue;
    names += (names.empty() ? "" : ", ") + found.names[i];
  }
  return count > most ? names + ", ..." : names;
}

void add_notes(const SmiMatrix& found, const MatrixFaults& faults, const std::string& file,
               MachineFacts& facts) {
  const std::string place = file + ":" + std::to_string(found.line) + ": the matrix of `nvidia-smi topo -m` ";
  const std::string mend = "; mend: give the whole matrix, with its header";
  if (faults.unknown_pairs > 0) {
    const std::string missing = names_without_row(found);
    const std::string pairs = std::to_string(faults.unknown_pairs) + " unknown distances";
    facts.notes.push_back(place +
                          (missing.empty() ? "is not readable everywhere" : "lacks the rows of " + missing) +
                          ": " + pairs + mend);
  }
  if (found.unnamed_columns > 0) {
    facts.notes.push_back(place + "has " + std::to_string(found.unnamed_columns) +
                          " columns that neither a header nor a row names: they were left out" + mend);
  }
  if (!faults.first_unequal.empty()) {
    facts.notes.push_back(place + "states two distances for " + faults.first_unequal +
                          ", one each way: the file may have been edited" + mend);
  }
}

/// "NIC0" and "mlx5_0" of the legend's line "  NIC0: mlx5_0".
std::optional<std::pair<std::string, std::string>> legend_entry(const std::string& line) {
  const std::vector<std::string_view> found = words(line, 3);
  if (found.size() != 2 || found[0].size() < 5 || found[0].substr(0, 3) != "NIC" || found[0].back() != ':') {
    return std::nullopt;
  }
  const std::string_view nic = found[0].substr(0, found[0].size() - 1);
  if (small_number(nic.substr(3)) < 0) return std::nullopt;
  return std::pair(std::string(nic), printable(std::string(found[1])));
}

/// Adds the legend of network adapters that follows each matrix.
void add_adapters(std::string_view text, const std::vector<SmiMatrix>& found, std::size_t first,
                  MachineFacts& facts) {
  PasteLines lines(text);
  std::size_t next = 0;  // the matrix that begins next
  while (lines.next()) {
    while (next < found.size() && found[next].last_line < lines.number()) ++next;
    if (next == 0) continue;
    const auto entry = legend_entry(lines.text());
    if (!entry || lines.unterminated()) continue;  // the name may be cut
    TopoMatrix& matrix = facts.matrices[first + next - 1];
    const auto named = std::find(matrix.names.begin(), matrix.names.end(), entry->first);
    if (named != matrix.names.end()) matrix.adapters.insert(*entry);
  }
}

}  // namespace

int read_nvidia_smi_topo(std::string_view text, const std::string& file, MachineFacts& facts) {
  const SmiMatrices found = smi_matrices(text, vocabulary());
  const std::size_t first = facts.matrices.size();
  int rows = 0;
  for (const SmiMatrix& each : found.all) {
    TopoMatrix matrix = converted(each, file);
    add_notes(each, mirror(matrix), file, facts);
    rows += static_cast<int>(std::count(each.has_row.begin(), each.has_row.end(), true));
    facts.matrices.push_back(std::move(matrix));
  }
  if (!found.all.empty()) add_adapters(text, found.all, first, facts);
  for (const int line : found.too_large) {
    facts.notes.push_back(file + ":" + std::to_string(line) + ": this matrix has more than " +
                          std::to_string(most_names) +
                          " devices and was left out; mend: give the matrix of one machine");
  }
  if (found.more) {
    facts.notes.push_back(file + ": only the first " + std::to_string(most_matrices) +
                          " matrices of `nvidia-smi topo -m` were read; mend: give the files of one machine");
  }
  return rows;
}

}  // namespace lanecast
