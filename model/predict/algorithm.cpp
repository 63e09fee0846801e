#include "model/predict/algorithm.hpp"

#include <array>
#include <utility>

namespace lanecast {
namespace {

constexpr std::array kNames = {std::pair(Algorithm::ring, "ring"),
                               std::pair(Algorithm::tree, "tree"),
                               std::pair(Algorithm::direct, "direct"),
                               std::pair(Algorithm::one_shot, "one_shot"),
                               std::pair(Algorithm::two_shot, "two_shot"),
                               std::pair(Algorithm::one_shot_pull, "one_shot_pull"),
                               std::pair(Algorithm::two_shot_pull, "two_shot_pull"),
                               std::pair(Algorithm::halving_doubling, "halving_doubling"),
                               std::pair(Algorithm::hierarchical, "hierarchical"),
                               std::pair(Algorithm::hierarchical_ring, "hierarchical_ring"),
                               std::pair(Algorithm::hierarchical_tree, "hierarchical_tree"),
                               std::pair(Algorithm::star, "star"),
                               std::pair(Algorithm::nvls, "nvls")};

}  // namespace

const char* to_string(Algorithm a) {
  for (const auto& [algorithm, name] : kNames) {
    if (algorithm == a) return name;
  }
  return "ring";
}

std::optional<Algorithm> algorithm_from_string(const std::string& text) {
  for (const auto& [algorithm, name] : kNames) {
    if (text == name) return algorithm;
  }
  return std::nullopt;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const auto& named : kNames) names.emplace_back(named.second);
  return names;
}

std::vector<Algorithm> simulated_algorithms() {
  std::vector<Algorithm> algorithms;
  for (const auto& named : kNames) {
    const bool family = variants_of(named.first).size() > 1;
    if (!family && named.first != Algorithm::nvls) algorithms.push_back(named.first);
  }
  return algorithms;
}

Algorithm family_of(Algorithm a) {
  switch (a) {
    case Algorithm::one_shot:
    case Algorithm::two_shot:
    case Algorithm::one_shot_pull:
    case Algorithm::two_shot_pull:
      return Algorithm::direct;
    case Algorithm::hierarchical_ring:
    case Algorithm::hierarchical_tree:
      return Algorithm::hierarchical;
    default:
      return a;
  }
}

bool is_of_nccl(Algorithm a) { return a == Algorithm::ring || a == Algorithm::tree || a == Algorithm::nvls; }

std::vector<Algorithm> variants_of(Algorithm a) {
  if (a == Algorithm::direct) {
    return {Algorithm::one_shot, Algorithm::two_shot, Algorithm::one_shot_pull, Algorithm::two_shot_pull};
  }
  if (a == Algorithm::hierarchical) return {Algorithm::hierarchical_ring, Algorithm::hierarchical_tree};
  return {a};
}

Schedule schedule_of(Algorithm a) {
  switch (a) {
    case Algorithm::ring:
    case Algorithm::nvls:
      return Schedule::ring;
    case Algorithm::tree:
    case Algorithm::star:
      return Schedule::tree;
    case Algorithm::direct:
    case Algorithm::one_shot:
    case Algorithm::one_shot_pull:
      return Schedule::one_shot;
    case Algorithm::two_shot:
    case Algorithm::two_shot_pull:
      return Schedule::two_shot;
    case Algorithm::halving_doubling:
      return Schedule::halving_doubling;
    case Algorithm::hierarchical:
    case Algorithm::hierarchical_ring:
    case Algorithm::hierarchical_tree:
      return Schedule::hierarchical;
  }
  return Schedule::ring;
}

bool pulls(Algorithm a) { return a == Algorithm::one_shot_pull || a == Algorithm::two_shot_pull; }

bool has_form(Algorithm a, Collective collective, int ranks) {
  const bool blocks = collective == Collective::all_gather || collective == Collective::reduce_scatter;
  switch (schedule_of(a)) {
    case Schedule::ring:
      return true;
    case Schedule::tree:
      return a == Algorithm::star ? !blocks : collective == Collective::all_reduce;
    case Schedule::two_shot:
      return collective == Collective::all_reduce || blocks;
    case Schedule::halving_doubling:
      return collective == Collective::all_reduce ||
             (collective == Collective::all_gather && power_of_two_within(ranks) == ranks);
    case Schedule::one_shot:
    case Schedule::hierarchical:
      return collective == Collective::all_reduce;
  }
  return false;
}

}  // namespace lanecast
