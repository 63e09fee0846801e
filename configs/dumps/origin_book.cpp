#include "configs/dumps/origin_book.hpp"

#include <algorithm>

namespace lanecast {
namespace {

constexpr std::size_t most_contradictions = 256;
constexpr std::size_t most_pieces = 12;

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// "gpu" and 12 of "gpu12"; -1 for a name without a number.
std::pair<std::string, long> stem_and_number(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string::npos ? 0 : last + 1;
  if (begin == name.size() || name.size() - begin > 9) return {name, -1};
  return {name.substr(0, begin), std::stol(name.substr(begin))};
}

}  // namespace

int distrust(const std::string& from) {
  const std::size_t begin = from.rfind(" (");
  const std::string what = begin == std::string::npos ? "" : from.substr(begin + 2);
  for (const char* of_nccl : {"link_speed)", "link_width)", "numaid", "enclosing pci"}) {
    if (what.rfind(of_nccl, 0) == 0) return 2;
  }
  if (what.empty() || contains(what, "/")) return 0;  // files of the kernel
  for (const char* of_lspci : {"Lnk", "Dev", "ACS", "NUMA node", "lspci"}) {
    if (what.rfind(of_lspci, 0) == 0) return 0;
  }
  return 1;
}

std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < names.size(); ++pieces) {
    if (pieces == most_pieces) return text + " and " + std::to_string(names.size() - i) + " more";
    const auto [stem, number] = stem_and_number(names[i]);
    std::size_t end = i + 1;
    while (number >= 0 && end < names.size()) {
      const auto [other, next] = stem_and_number(names[end]);
      if (other != stem || next != number + static_cast<long>(end - i)) break;
      ++end;
    }
    if (!text.empty()) text += ", ";
    text += names[i];
    if (end > i + 1) text += (end > i + 2 ? " to " : ", ") + names[end - 1];
    i = end;
  }
  return text;
}

void OriginBook::contradict(Contradiction contradiction) {
  if (contradictions_.size() < most_contradictions) {
    contradictions_.push_back(std::move(contradiction));
  } else {
    note("more contradictions than " + std::to_string(most_contradictions) +
         ": the files are hardly of one machine");
  }
}

void OriginBook::note(const std::string& text) {
  if (noted_.insert(text).second) notes_.push_back(text);
}

void OriginBook::missing(const std::string& what, const std::string& of, const std::string& remedy) {
  const std::pair<std::string, std::string> key{what, remedy};
  if (unknown_.count(key) == 0) unknown_order_.push_back(key);
  unknown_[key].push_back(of);
}

void OriginBook::hand_over(ImportedMachine& result) {
  for (const auto& [path, origin] : origins_) {
    if (origin.assumed) result.machine.assumed.push_back(path);
  }
  result.origins = std::move(origins_);
  result.contradictions = std::move(contradictions_);
  result.notes = std::move(notes_);
  for (const auto& key : unknown_order_) {
    const std::string of = name_list(unknown_.at(key));
    result.unknown.push_back(key.first + (of.empty() ? "" : " of " + of) + ": " + key.second);
  }
}

}  // namespace lanecast
