#include "cli/session.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <map>

#include "lanecast_version.hpp"
#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

constexpr const char* kRed = "\033[31m";
constexpr const char* kYellow = "\033[33m";
constexpr const char* kPlain = "\033[0m";
constexpr int kMostOfOneCode = 3;  // warnings on stderr

/// NO_COLOR counts when it is set and not empty (no-color.org).
bool color_is_refused() {
  const char* value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

std::string Session::painted(const char* word, const char* color) const {
  if (no_color || color_is_refused() || isatty(STDERR_FILENO) == 0) return word;
  return color + std::string(word) + kPlain;
}

void Session::warn(const std::string& code, const std::string& text) const {
  if (!quiet) std::cerr << painted("warning", kYellow) << " " << code << ": " << text << "\n";
}

void Session::warn(const std::vector<Warning>& warnings) const {
  std::map<std::string, int> told;
  for (const Warning& warning : warnings) {
    if (++told[warning.code] <= kMostOfOneCode) warn(warning.code, warning.text);
  }
  for (const auto& [code, count] : told) {
    if (count <= kMostOfOneCode) continue;
    warn(code, std::to_string(count - kMostOfOneCode) + " more like these; --format json has them all");
  }
}

void Session::note(const std::string& text) const {
  if (!quiet) std::cerr << "note: " << text << "\n";
}

void Session::detail(const std::string& text) const {
  if (verbose && !quiet) std::cerr << text << "\n";
}

void Session::error(const std::string& message) const {
  std::cerr << painted("error:", kRed) << " " << message << "\n";
}

std::string Session::command_line() const {
  std::string line = "lanecast";
  for (const std::string& word : words) line += " " + shell_quoted(word);
  return line;
}

RunInfo Session::run_info(const std::string& config_digest) const {
  return {version, commit, command_line(), host_name(), config_digest};
}

}  // namespace lanecast
