#pragma once
#include <string>
#include <vector>

namespace lanecast {

/// A warning code, explained. Codes are stable: one that is no longer emitted keeps its entry.
struct CodeEntry {
  std::string code;   // "LC-LINK-01"
  std::string title;  // one line
  std::string text;   // what it means for the numbers
  std::string mend;   // what the reader can do
};

/// All codes, sorted.
const std::vector<CodeEntry>& code_table();

}  // namespace lanecast
