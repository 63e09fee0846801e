#include "tests/support/fifo_depth.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/schedule/schedule.hpp"

namespace lanecast::support {
namespace {

/// Slices of one connection so far.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  std::uint64_t given_back = 0;
};

using TrafficMap = std::map<std::pair<int, int>, Traffic>;  // by (sender, receiver), positions

/// One strand, stopped before the wait that it is in.
class Player {
 public:
  Player(const ChannelWork& work, std::uint64_t loops)
      : work_(work),
        slices_(static_cast<std::uint64_t>(work.slices_per_chunk)),
        end_(loops * static_cast<std::uint64_t>(step_count(work)) * slices_) {
    for (int step = 0; step < step_count(work); ++step) turns_.push_back(turn_of(work, step));
  }

  bool done() const { return at_ == end_; }

  /// Goes as far as data and credit allow; true if it went on at all.
  bool play(TrafficMap& traffic, std::uint64_t depth, CreditReturn credit_return) {
    bool moved = false;
    while (!done() && one_slice(traffic, depth, credit_return, moved)) {
    }
    return moved;
  }

 private:
  bool one_slice(TrafficMap& traffic, std::uint64_t depth, CreditReturn credit_return, bool& moved) {
    const Turn& turn = turns_[at_ / slices_ % turns_.size()];
    for (; taken_ < turn.from.count; ++taken_, moved = true) {
      Traffic& from = traffic[{turn.from.at(taken_), work_.position}];
      if (from.sent == from.taken) return false;
      ++from.taken;
      if (credit_return == CreditReturn::after_read) ++from.given_back;
    }
    for (; given_ < turn.to.count; ++given_, moved = true) {
      Traffic& to = traffic[{work_.position, turn.to.at(given_)}];
      if (to.sent == to.given_back + depth) return false;
      ++to.sent;
    }
    if (credit_return == CreditReturn::after_turn) {
      for (int i = 0; i < turn.from.count; ++i) ++traffic[{turn.from.at(i), work_.position}].given_back;
    }
    taken_ = given_ = 0;
    ++at_;
    return true;
  }

  ChannelWork work_;
  std::uint64_t slices_;
  std::uint64_t end_;
  std::vector<Turn> turns_;
  std::uint64_t at_ = 0;  // slices done
  int taken_ = 0;         // peers dealt with in this slice
  int given_ = 0;
};

int ring_depth(Collective collective, int ranks, int slices, int held) {
  if (collective == Collective::broadcast || collective == Collective::reduce) return 1;
  return slices + (ranks > 2 || collective == Collective::all_reduce ? held : 0);
}

int hierarchical_depth(const ChannelWork& work, int slices, int held) {
  const int groups = work.ranks / work.group_ranks;
  const int within =
      work.group_ranks == 1 ? 1 : ring_depth(Collective::all_gather, work.group_ranks, slices, held);
  if (groups == 1) return within;
  const int between = work.outer_tree ? std::max(1, (slices + held) / 2)
                                      : ring_depth(Collective::all_reduce, groups, slices, held);
  return std::max(within, between);
}

}  // namespace

int min_fifo_depth(const ChannelWork& work, CreditReturn credit_return) {
  const int slices = work.slices_per_chunk;
  const int held = credit_return == CreditReturn::after_turn ? 1 : 0;
  switch (work.schedule) {
    case Schedule::ring:
      return ring_depth(work.collective, work.ranks, slices, held);
    case Schedule::tree:
      return 1;
    case Schedule::one_shot:
    case Schedule::halving_doubling:
      return slices;
    case Schedule::two_shot:
      return slices + (work.collective == Collective::all_reduce ? held : 0);
    case Schedule::hierarchical:
      return hierarchical_depth(work, slices, held);
  }
  return slices;
}

bool locks_up(const std::vector<ChannelWork>& strands, int depth, CreditReturn credit_return) {
  constexpr std::uint64_t loops = 3;
  std::vector<Player> players;
  for (const ChannelWork& work : strands) players.emplace_back(work, loops);
  TrafficMap traffic;
  for (bool moved = true; moved;) {
    moved = false;
    for (Player& player : players)
      moved = player.play(traffic, static_cast<std::uint64_t>(depth), credit_return) || moved;
  }
  return !std::all_of(players.begin(), players.end(), [](const Player& player) { return player.done(); });
}

}  // namespace lanecast::support
