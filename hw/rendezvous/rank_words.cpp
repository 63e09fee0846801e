#include "hw/rendezvous/rank_words.hpp"

#include <cstddef>

namespace lanecast {

std::string ranks_in_words(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
  std::string words = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) words += i + 1 == ranks.size() ? " and " : ", ";
    words += std::to_string(ranks[i]);
  }
  return words;
}

std::string time_in_words(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms < 1000) return std::to_string(ms) + " ms";
  std::string words = std::to_string(ms / 1000);
  if (ms % 1000 >= 100) words += "." + std::to_string(ms % 1000 / 100);
  return words + " s";
}

}  // namespace lanecast
