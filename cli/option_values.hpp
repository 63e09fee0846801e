#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/error.hpp"

namespace lanecast {

/// A whole number between two bounds, both allowed.
/// @param flag  how the message names it: "--channels"
/// @throws Error  kind usage, as all functions here
std::int64_t read_integer(const std::string& text, const std::string& flag, std::int64_t low,
                          std::int64_t high);

/// A whole number from 0 to 2^64 - 1.
std::uint64_t read_seed(const std::string& text, const std::string& flag);

/// "0,1,3": whole numbers that are not negative, separated by commas.
std::vector<int> read_indices(const std::string& text, const std::string& flag);

/// Pieces between separators; "a,,b" has an empty one, "" is one empty piece.
std::vector<std::string> split(const std::string& text, char separator);

/// The message for a word that is none of `choices`.
Error unknown_choice(const std::string& text, const std::string& flag,
                     const std::vector<std::string>& choices);

/// The value that stands beside `text` in a list of choices.
template <class T>
T read_choice(const std::string& text, const std::string& flag,
              const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    names.push_back(name);
  }
  throw unknown_choice(text, flag, names);
}

}  // namespace lanecast
