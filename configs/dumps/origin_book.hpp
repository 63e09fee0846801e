#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/import.hpp"

namespace lanecast {

/// How little a place is trusted, by what stands in brackets behind it: 0 the kernel's files and lspci, 1
/// other tools (nvidia-smi), 2 NCCL's topology files, which hold what a link could do.
int distrust(const std::string& from);

/// Keeps the accounts of an import: where each value comes from, what contradicts what, what is unknown.
class OriginBook {
 public:
  void stated(const std::string& path, const std::string& from) { origins_[path] = {from, false}; }
  void assumed(const std::string& path, const std::string& rule) { origins_[path] = {rule, true}; }

  /// A value that a dump states, or else one that a rule chose.
  void stated_or_assumed(const std::string& path, const std::string& from, const std::string& rule) {
    from.empty() ? assumed(path, rule) : stated(path, from);
  }

  /// At most 256 of them: a machine of which more is wrong is not one machine.
  void contradict(Contradiction contradiction);
  void note(const std::string& text);

  /// "link status of gpu0 to gpu7: run `lspci -vvv` as root". Calls for the same value and remedy make one
  /// line.
  void missing(const std::string& what, const std::string& of, const std::string& remedy);

  /// The statement that holds: of the most trusted place, and of these the first. All that differ become
  /// contradictions.
  /// @param show  makes text of a value
  template <class T, class Show>
  std::optional<Statement<T>> judge(const std::string& what, const std::vector<Statement<T>>& statements,
                                    const Show& show) {
    const Statement<T>* best = nullptr;
    for (const Statement<T>& each : statements) {
      if (best == nullptr || distrust(each.from) < distrust(best->from)) best = &each;
    }
    if (best == nullptr) return std::nullopt;
    for (const Statement<T>& each : statements) {
      if (each.value == best->value) continue;
      contradict({what, show(best->value), best->from, show(each.value), each.from});
    }
    return *best;
  }

  /// Moves everything into the result, and the sorted paths of assumed values into its machine.
  void hand_over(ImportedMachine& result);

 private:
  std::map<std::string, Origin> origins_;
  std::vector<Contradiction> contradictions_;
  std::vector<std::string> notes_;
  std::set<std::string> noted_;
  std::vector<std::pair<std::string, std::string>> unknown_order_;  // what, remedy
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> unknown_;
};

/// The statements whose value is a possible one.
template <class T, class Good>
std::vector<Statement<T>> good_ones(const Statements<T>& statements, const Good& good) {
  std::vector<Statement<T>> kept;
  for (const Statement<T>& each : statements.all()) {
    if (good(each.value)) kept.push_back(each);
  }
  return kept;
}

/// Both together; equal values are kept once, the first one.
template <class T>
std::vector<Statement<T>> joined(std::vector<Statement<T>> first, const std::vector<Statement<T>>& second) {
  for (const Statement<T>& each : second) {
    bool known = false;
    for (const Statement<T>& kept : first) known = known || kept.value == each.value;
    if (!known) first.push_back(each);
  }
  return first;
}

/// "gpu0 to gpu3, nic0": names in order, runs of numbers as their ends; at most 12 pieces.
std::string name_list(const std::vector<std::string>& names);

}  // namespace lanecast
