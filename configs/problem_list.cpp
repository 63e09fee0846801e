#include "configs/problem_list.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_problems = 100;  // enough to mend; bounds the time that a hostile file can take
constexpr std::size_t most_candidates = 512;
constexpr std::size_t most_listed_names = 24;
constexpr std::size_t longest_compared = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Levenshtein's distance, upper and lower case being the same.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string to_string(const Position& at, const std::string& file) {
  const std::string shown = printable(file);
  return at.line == 0 ? shown : shown + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void ProblemList::add(Problem problem) {
  paths_.insert(problem.path);
  problems_.push_back(std::move(problem));
  if (problems_.size() >= most_problems) throw_if_any();
}

void ProblemList::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  std::string message;
  for (const Problem& problem : sorted) {
    message += (message.empty() ? "" : "\nerror: ") + problem.text + "\n  at " + to_string(problem.at, file_);
    if (!problem.path.empty()) message += " (" + printable(problem.path) + ")";
    if (!problem.mend.empty()) message += "\n  mend: " + problem.mend;
  }
  if (sorted.size() >= most_problems) message += "\nerror: too many problems; there may be more";
  throw Error(ErrorKind::usage, message);
}

std::string nearest(const std::string& text, const std::vector<std::string>& candidates) {
  if (text.size() > longest_compared) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (std::size_t i = 0; i < std::min(candidates.size(), most_candidates); ++i) {
    const std::string& candidate = candidates[i];
    if (candidate.size() > longest_compared) continue;
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best_distance && distance < std::max(text.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), most_listed_names);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + ("`" + printable(names[i]) + "`");
  }
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace lanecast
