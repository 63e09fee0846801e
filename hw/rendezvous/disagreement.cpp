#include <algorithm>
#include <utility>

#include "hw/rendezvous/call_text.hpp"
#include "hw/rendezvous/rank_words.hpp"
#include "hw/rendezvous/status_board.hpp"

namespace lanecast {
namespace {

/// Ranks that entered the same call.
struct Group {
  CallEntry call;
  std::vector<int> ranks;
};

std::vector<Group> groups_of(const StatusBoard& board, std::uint64_t number) {
  std::vector<Group> groups;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const std::optional<CallEntry> call = entered_call(board.page(rank), number);
    if (!call) continue;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.call == *call; });
    if (same == groups.end()) {
      groups.push_back({*call, {rank}});
    } else {
      same->ranks.push_back(rank);
    }
  }
  return groups;
}

template <class Member>
bool differ(const std::vector<Group>& groups, Member member) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const Group& group) { return group.call.*member != groups[0].call.*member; });
}

std::string in_words(const std::vector<Group>& groups, std::uint64_t number) {
  const bool staging = differ(groups, &CallEntry::staging);
  const bool shape = differ(groups, &CallEntry::shape);
  std::string words = "ranks disagree about call " + std::to_string(number) + ":";
  for (const Group& group : groups) {
    const bool first = &group == &groups.front();
    words += std::string(first ? " " : ", ") + ranks_in_words(group.ranks);
    if (first) words += group.ranks.size() == 1 ? " calls" : " call";
    words += " " + call_in_words(group.call);
    if (staging) words += std::string(" staged by ") + (group.call.staging == 0 ? "kernels" : "copy engines");
  }
  if (shape) words += "; their channels, threads, chunks or buffers differ";
  return words;
}

}  // namespace

std::optional<std::string> disagreement(const StatusBoard& board) {
  std::uint64_t most = 0;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    most = std::max(most, board.page(rank).calls.load(std::memory_order_acquire));
  }
  const std::uint64_t first = most < StatusPage::kEntries ? 1 : most - StatusPage::kEntries + 1;
  for (std::uint64_t number = first; number <= most; ++number) {
    const std::vector<Group> groups = groups_of(board, number);
    if (groups.size() > 1) return in_words(groups, number);
  }
  return std::nullopt;
}

}  // namespace lanecast
