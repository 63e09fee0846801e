#pragma once
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// The value that dumps state; nothing where none or several do.
template <class T>
std::optional<T> only(const Statements<T>& statements) {
  if (statements.all().size() != 1) return std::nullopt;
  return statements.all().front().value;
}

/// Whether a later text states nothing that an earlier one does not.
template <class T>
bool within(const Statements<T>& part, const Statements<T>& whole) {
  for (const Statement<T>& each : part.all()) {
    bool found = false;
    for (const Statement<T>& other : whole.all()) found = found || each.value == other.value;
    if (!found) return false;
  }
  return true;
}

/// Whether a note holds these words.
inline bool noted(const MachineFacts& facts, const std::string& words) {
  for (const std::string& note : facts.notes) {
    if (note.find(words) != std::string::npos) return true;
  }
  return false;
}

/// Real dumps are no part of the repository; nothing where they are absent.
inline std::optional<std::string> shared_dump(const std::string& name) {
  const std::string path = std::string(LANECAST_TEST_SHARED_DIR) + "/" + name;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lanecast
