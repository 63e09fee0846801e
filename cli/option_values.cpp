#include "cli/option_values.hpp"

#include <charconv>

#include "configs/problem_list.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

template <class T>
bool parse_whole(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

}  // namespace

std::int64_t read_integer(const std::string& text, const std::string& flag, std::int64_t low,
                          std::int64_t high) {
  std::int64_t value = 0;
  if (parse_whole(text, value) && value >= low && value <= high) return value;
  throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
              "take a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

std::uint64_t read_seed(const std::string& text, const std::string& flag) {
  std::uint64_t value = 0;
  if (parse_whole(text, value)) return value;
  throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
              "take a whole number from 0 to 18446744073709551615");
}

std::vector<int> read_indices(const std::string& text, const std::string& flag) {
  std::vector<int> indices;
  for (const std::string& piece : split(text, ',')) {
    int value = 0;
    if (!parse_whole(piece, value) || value < 0) {
      throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
                  "write GPU indices separated by commas, such as `0,1,3`");
    }
    indices.push_back(value);
  }
  return indices;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

Error unknown_choice(const std::string& text, const std::string& flag,
                     const std::vector<std::string>& choices) {
  const std::string near = nearest(text, choices);
  return {ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
          "take one of " + listed(choices) + (near.empty() ? "" : "; did you mean `" + near + "`?")};
}

}  // namespace lanecast
