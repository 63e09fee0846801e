#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/topology/machine.hpp"
#include "sim/copies.hpp"

namespace lanecast::cases {

/// The machine that stands for a case of pairwise or host copies.
struct CaseMachine {
  std::string case_id;
  std::string machine;  // a file of tests/fixtures/machines without .yaml, else the name of a shipped one
  std::vector<std::string> sets;    // changes to it, as `--set` takes them
  bool stated = false;              // layout, widths and peer access are stated by the source: gated
  std::string staged_not_modelled;  // why the copies without peer access are listed, but not gated
};

const std::vector<CaseMachine>& case_machines();

/// Cases of pairwise or host copies that stay out, and why.
struct CaseLeftOut {
  std::string case_id;
  std::string reason;
};

const std::vector<CaseLeftOut>& cases_left_out();

/// The fixture of that name, or else the shipped machine.
/// @throws Error  as load_machine and apply_sets
Machine machine_of(const std::string& name, const std::vector<std::string>& sets);

/// What a published matrix holds, from its title.
struct MatrixReading {
  std::optional<MatrixKind> kind;  // p2p or bidir; absent: not compared
  bool peer_off = false;           // measured with P2P=Disabled
  std::string why;                 // not compared, or read otherwise than its title says
};

MatrixReading read_title(const std::string& case_id, std::size_t index, const std::string& title);

/// Why a cell is left out of the comparison; nothing for the others.
std::optional<std::string> cell_left_out(const std::string& case_id, std::size_t index, int row, int column);

}  // namespace lanecast::cases
