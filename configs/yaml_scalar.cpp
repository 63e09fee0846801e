#include "configs/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lanecast {
namespace {

/// True where YAML (1.1 or 1.2) reads the bare word as this very text.
bool is_plain_word(const std::string& text) {
  constexpr std::array<std::string_view, 9> special{"true", "false", "yes", "no", "on",
                                                    "off",  "null",  "y",   "n"};
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view inner = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (text.empty() || letters.find(text[0]) == std::string_view::npos) return false;
  if (text.find_first_not_of(inner) != std::string::npos) return false;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(special.begin(), special.end(), lower) == special.end();
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
  constexpr const char* hex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += std::string("\\") + c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += std::string("\\x") + hex[byte >> 4] + hex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string yaml_text(const std::string& text) { return is_plain_word(text) ? text : yaml_quoted(text); }

}  // namespace lanecast
