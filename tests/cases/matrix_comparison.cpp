#include "tests/cases/matrix_comparison.hpp"

#include <map>

#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "sim/copies.hpp"
#include "tests/cases/case_machines.hpp"

namespace lanecast::cases {
namespace {

struct Cells {
  std::vector<double> published;
  std::vector<double> predicted;
  std::vector<double> errors;
};

void join_note(std::string& note, const std::string& more) {
  if (more.empty() || note.find(more) != std::string::npos) return;
  note += (note.empty() ? "" : "; ") + more;
}

std::string title_of(const MatrixReading& reading) {
  const std::string way = reading.kind == MatrixKind::bidir ? "both ways" : "one way";
  return way + (reading.peer_off ? ", P2P off" : "");
}

void compare_matrix(const CaseMachine& entry, std::size_t index, const PublishedMatrix& published,
                    const MatrixReading& reading, const Profile& profile, MatrixComparison& comparison) {
  Machine machine = machine_of(entry.machine, entry.sets);
  if (reading.peer_off) machine.p2p.enabled = false;
  const CopyMatrix predicted = copy_matrix(machine, profile, Engine::copy, *reading.kind);
  std::map<CopyWay, Cells> ways;
  std::string note = reading.why;
  for (std::size_t r = 0; r < published.rows.size(); ++r) {
    for (std::size_t c = 0; c < published.rows[r].size(); ++c) {
      if (r == c || !published.rows[r][c]) continue;
      const int from = static_cast<int>(r);
      const int to = static_cast<int>(c);
      if (const auto why = cell_left_out(entry.case_id, index, from, to)) {
        join_note(note, *why);
        continue;
      }
      const double measured = *published.rows[r][c];
      const double expected = predicted.rows.at(r).at(c).value();
      Cells& cells = ways[way_of(machine, from, to)];
      cells.published.push_back(measured);
      cells.predicted.push_back(expected);
      cells.errors.push_back(expected / measured - 1);
    }
  }
  for (const auto& [way, cells] : ways) {
    MatrixRow row{
        entry.case_id,           title_of(reading),       way, entry.stated, median(cells.published),
        median(cells.predicted), summarise(cells.errors), note};
    if (way == CopyWay::staged && !entry.staged_not_modelled.empty()) {
      row.gated = false;
      join_note(row.note, entry.staged_not_modelled);
    }
    comparison.rows.push_back(std::move(row));
  }
}

}  // namespace

const char* to_string(CopyWay way) {
  switch (way) {
    case CopyWay::direct:
      return "direct";
    case CopyWay::across_sockets:
      return "across sockets";
    case CopyWay::staged:
      return "staged";
  }
  return "";
}

CopyWay way_of(const Machine& machine, int from, int to) {
  if (!peer_access(machine, from, to, Distance::sys).allowed) return CopyWay::staged;
  return distance(machine, from, to) == Distance::sys ? CopyWay::across_sockets : CopyWay::direct;
}

double bound_of(CopyWay way) {
  switch (way) {
    case CopyWay::direct:
      return 0.10;
    case CopyWay::across_sockets:
      return 0.40;
    case CopyWay::staged:
      return 0.40;
  }
  return 0;
}

MatrixComparison compare_matrices(const std::vector<PublishedCase>& cases, const Profile& profile) {
  MatrixComparison comparison;
  for (const CaseMachine& entry : case_machines()) {
    const PublishedCase& published = find_case(cases, entry.case_id);
    for (std::size_t i = 0; i < published.matrices.size(); ++i) {
      const PublishedMatrix& matrix = published.matrices[i];
      const MatrixReading reading = read_title(entry.case_id, i, matrix.name);
      if (reading.kind) {
        compare_matrix(entry, i, matrix, reading, profile, comparison);
      } else {
        comparison.not_compared.push_back(entry.case_id + ": " + matrix.name + ": " + reading.why);
      }
    }
  }
  return comparison;
}

Grid matrix_grid(const MatrixComparison& comparison) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},          {"matrix", "", 0, false},     {"copies", "", 0, false},
                  {"cells", "", 0, true},          {"published", "(GB/s)"},      {"predicted", "(GB/s)"},
                  {"median |error|", "", 0, true}, {"max |error|", "", 0, true}, {"bound", "", 0, true},
                  {"note", "", 0, false}};
  for (const MatrixRow& row : comparison.rows) {
    grid.rows.push_back({row.case_id, row.matrix, to_string(row.way), std::to_string(row.errors.count),
                         two_decimals(row.published_median), two_decimals(row.predicted_median),
                         percent(row.errors.median_abs), percent(row.errors.max_abs),
                         row.gated ? percent(bound_of(row.way)) : "-", row.note});
  }
  return grid;
}

}  // namespace lanecast::cases
