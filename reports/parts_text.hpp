#pragma once
#include <string>
#include <utility>
#include <vector>

#include "reports/grid.hpp"

namespace lanecast {

/// Sentences, and the tables that they are about.
struct ReportPart {
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, Grid>> tables;  // caption, table
};

/// A document that people read in a terminal: the head and all sentences are comments.
std::string parts_as_table(const std::vector<std::string>& head, const std::vector<ReportPart>& parts);

/// The same in markdown: the head in one line, sentences as items.
/// @param head  its first three lines are shown
std::string parts_as_markdown(const std::vector<std::string>& head, const std::vector<ReportPart>& parts);

}  // namespace lanecast
