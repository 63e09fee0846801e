#pragma once
#include <string>
#include <vector>

#include "model/topology/difference.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What `differences` found between machine A (before) and machine B (after).
struct DifferenceReport {
  RunInfo run;
  std::string before;  // as the command line names them
  std::string after;
  std::vector<MachineChange> differences;
};

/// The document in a format.
///
/// Table and markdown: a line a change, then the remarks; values that only one of the two states are counted
/// by what they are, since two kinds of dumps differ in dozens of them. JSON and CSV have them all, one by
/// one:
/// `{"a", "b", "changed", "differences": [{"change": true, "kind", "where", "what", "a", "b", "text"}]}`.
std::string difference_text(const DifferenceReport& report, Format format);

}  // namespace lanecast
