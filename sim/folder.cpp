#include "sim/folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanecast {
namespace {

// Both bound the error of what is left out, as a share of it. A beat of channels in step is exact but for
// what is still settling; one of channels that drift past each other closes only nearly.
constexpr double kInStep = 1e-4;
constexpr double kDrifting = 6e-4;
constexpr std::uint64_t kShortBeat = 4;          // turns: looked for at every turn
constexpr std::uint64_t kTurnsBetweenLooks = 8;  // for longer beats
constexpr std::uint64_t kLeastGain = 2;          // turns of the leader

}  // namespace

std::uint64_t Folder::ChannelState::reported_by_all() const {
  return *std::min_element(next.begin(), next.end());
}
std::uint64_t Folder::ChannelState::reported_by_any() const {
  return *std::max_element(next.begin(), next.end());
}

Folder::Folder(const std::vector<Channel>& channels, int window, int longest_beat)
    : window_(static_cast<std::uint64_t>(window)),
      longest_(static_cast<std::uint64_t>(longest_beat)),
      depth_(4 * longest_ + 2 * window_ + 16) {
  for (const Channel& channel : channels) {
    ChannelState state;
    state.end = channel.end;
    state.first = channel.settled;
    state.times.assign(static_cast<std::size_t>(channel.actors), std::vector<double>(depth_, 0.0));
    state.next.assign(static_cast<std::size_t>(channel.actors), 0);
    state.running = static_cast<std::size_t>(channel.actors);
    channels_.push_back(std::move(state));
  }
}

std::uint64_t Folder::advance(int channel, int actor, std::uint64_t turn, double now) {
  ChannelState& state = channels_[static_cast<std::size_t>(channel)];
  const auto index = static_cast<std::size_t>(actor);
  if (state.jump_by == 0) {
    state.times[index][turn % depth_] = now;
    state.next[index] = turn + 1;
    const bool leads = std::all_of(channels_.begin(), channels_.begin() + channel,
                                   [](const ChannelState& other) { return other.running == 0; });
    if (leads && jumping_ == 0 && state.reported_by_all() == turn + 1 && may_look(state)) look_for_a_beat();
  }
  if (state.jump_by == 0 || turn != state.jump_at) return turn;
  const std::uint64_t to = turn + state.jump_by;
  state.times[index][to % depth_] = now;
  state.next[index] = to + 1;
  if (--state.to_jump == 0) {
    state.first = to;
    state.skipped += state.jump_by;
    state.jump_by = 0;
    --jumping_;
  }
  return to;
}

void Folder::finish(int channel) { --channels_[static_cast<std::size_t>(channel)].running; }

bool Folder::may_look(const ChannelState& leader) const {
  if (leader.reported_by_all() <= leader.first + window_ + 1 ||
      leader.reported_by_any() + kLeastGain > leader.end)
    return false;
  return std::all_of(channels_.begin(), channels_.end(), [](const ChannelState& c) {
    // who is through its turns but not yet finished, or has hardly begun, keeps the others from folding
    return c.running == 0 ||
           (c.running == c.next.size() && c.reported_by_any() < c.end && c.reported_by_all() > c.first + 2);
  });
}

std::uint64_t Folder::turns_within(const ChannelState& channel, std::uint64_t last, double seconds) const {
  // the number of turns before `last` whose span comes nearest to `seconds`
  const std::uint64_t seen = std::min(last - channel.first, depth_ - 1);
  std::uint64_t low = 0;
  std::uint64_t high = seen;
  const double end = time_of(channel, 0, last);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (end - time_of(channel, 0, last - middle) < seconds) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > 0 && std::abs(end - time_of(channel, 0, last - low) - seconds) >
                     std::abs(end - time_of(channel, 0, last - low + 1) - seconds)) {
    --low;
  }
  return low;
}

std::optional<Folder::Beat> Folder::beat_of(std::uint64_t turns, double tolerance) const {
  Beat beat;
  for (const ChannelState& channel : channels_) {
    if (channel.running == 0) {
      beat.turns.push_back(0);
      continue;
    }
    const std::uint64_t last = channel.reported_by_all() - 1;
    if (beat.seconds == 0) {
      beat.seconds = time_of(channel, 0, last) - time_of(channel, 0, last - turns);
      beat.turns.push_back(turns);
      continue;
    }
    const std::uint64_t taken = turns_within(channel, last, beat.seconds);
    if (taken == 0 || last - channel.first < taken) return std::nullopt;
    const double span = time_of(channel, 0, last) - time_of(channel, 0, last - taken);
    if (std::abs(span - beat.seconds) > tolerance * beat.seconds) return std::nullopt;
    beat.turns.push_back(taken);
  }
  return beat;
}

bool Folder::repeats(const Beat& beat, double tolerance) const {
  const double allowed = tolerance * beat.seconds;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const ChannelState& channel = channels_[c];
    if (channel.running == 0) continue;
    const std::uint64_t turns = beat.turns[c];
    const std::uint64_t last = channel.reported_by_all() - 1;
    // over the window, and over one whole beat more than the one found
    const std::uint64_t back = std::max(window_, turns);
    if (last - channel.first < back + turns || back + turns >= depth_) return false;
    for (std::size_t a = 0; a < channel.next.size(); ++a) {
      if (channel.next[a] > last + depth_ - back - turns) return false;  // what this compares is overwritten
      for (std::uint64_t b = 0; b <= back; ++b) {
        const double span = time_of(channel, a, last - b) - time_of(channel, a, last - b - turns);
        if (std::abs(span - beat.seconds) > allowed) return false;
      }
    }
  }
  return true;
}

void Folder::look_for_a_beat() {
  const auto leader =
      std::find_if(channels_.begin(), channels_.end(), [](const auto& c) { return c.running > 0; });
  const std::uint64_t seen = leader->reported_by_all() - 1 - leader->first;
  for (std::uint64_t turns = 1; turns <= std::min(kShortBeat, longest_); ++turns) {
    const auto beat = beat_of(turns, kInStep);
    if (beat && repeats(*beat, kInStep)) return jump(*beat);
  }
  if (seen % kTurnsBetweenLooks != 0) return;
  std::optional<Beat> best;
  for (std::uint64_t turns = kShortBeat + 1; turns <= std::min(longest_, seen / 2); ++turns) {
    const auto beat = beat_of(turns, kDrifting);
    if (beat && repeats(*beat, kDrifting))
      best = beat;  // the longest that repeats: the smaller share of mismatch
  }
  if (best) jump(*best);
}

void Folder::jump(const Beat& beat) {
  std::uint64_t beats = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const ChannelState& channel = channels_[c];
    if (channel.running == 0) continue;
    const std::uint64_t from = channel.reported_by_any();  // the first turn that nobody has begun
    beats = std::min(beats, from < channel.end ? (channel.end - from) / beat.turns[c] : 0);
  }
  if (beats == 0 || *std::max_element(beat.turns.begin(), beat.turns.end()) * beats < kLeastGain) return;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    ChannelState& channel = channels_[c];
    if (channel.running == 0) continue;
    channel.jump_at = channel.reported_by_any();
    channel.jump_by = beats * beat.turns[c];
    channel.to_jump = channel.next.size();
    ++jumping_;
  }
  offset_ += beat.seconds * static_cast<double>(beats);
}

}  // namespace lanecast
