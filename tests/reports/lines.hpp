#pragma once
#include <sstream>
#include <string>
#include <vector>

namespace lanecast {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The words between blanks, as a scraper takes a table's row apart.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Lines that hold rows: neither comments, nor empty.
inline std::vector<std::string> rows_of(const std::string& table) {
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(table)) {
    if (!line.empty() && line.front() != '#') rows.push_back(line);
  }
  return rows;
}

}  // namespace lanecast
