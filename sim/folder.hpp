#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace lanecast {

/// Finds out when turns (loops, or steps) repeat, and then lets actors leave out turns that would be as those
/// before.
///
/// Actors belong to channels; all actors of a channel take the same turns. They report the time at which they
/// are about to begin each. A beat is a stretch of time in which each channel takes a whole number of turns
/// and after which all stand to each other as before: one turn each where channels are in step, 23 and 24
/// where one channel is that much faster. Once a beat has been seen to repeat for *all* actors, over more
/// turns than a slow link's wave takes to reach everyone, each channel goes on some whole number of beats
/// later. The state of the simulation stays as it is, so that what follows (other beats, the last turns, the
/// drain) is simulated as it would have been; only the clock lacks `offset` seconds. A link that slows down
/// far away shows as unequal spans until its wave has reached every actor, which keeps the group from folding
/// (simgrid.md: "period detection is treacherous").
class Folder {
 public:
  struct Channel {
    int actors = 1;
    std::uint64_t end =
        0;  // turns from here on are never left out (the last and shorter one, and one before)
    std::uint64_t settled = 0;  // turns before say nothing of those after
  };

  /// @param window         turns over which beats must repeat, 2 or more
  /// @param longest_beat   turns of the first channel that a beat may take, 1 or more
  Folder(const std::vector<Channel>& channels, int window, int longest_beat);

  /// `actor` of `channel` is about to begin `turn` at `now`; returns the turn to begin instead.
  std::uint64_t advance(int channel, int actor, std::uint64_t turn, double now);

  /// `actor` of `channel` has taken its last turn. Those that go on may fold again.
  void finish(int channel);

  bool folded() const { return offset_ > 0; }

  /// Turns that a channel has left out so far.
  std::uint64_t skipped(int channel) const { return channels_[static_cast<std::size_t>(channel)].skipped; }

  /// Simulated seconds that the clock lacks.
  double offset() const { return offset_; }

 private:
  struct ChannelState {
    std::uint64_t end = 0;
    std::vector<std::vector<double>> times;  // of each actor, ring buffers by turn
    std::vector<std::uint64_t> next;         // of each actor: turns reported
    std::uint64_t first = 0;                 // first turn since the last jump, or settled
    std::uint64_t jump_at = 0;
    std::uint64_t jump_by = 0;  // 0: no jump under way
    std::size_t to_jump = 0;    // actors that have not jumped yet
    std::size_t running = 0;    // actors that have not finished
    std::uint64_t skipped = 0;

    std::uint64_t reported_by_all() const;
    std::uint64_t reported_by_any() const;
  };

  /// Turns that each channel takes in a beat, and how long it lasts.
  struct Beat {
    std::vector<std::uint64_t> turns;
    double seconds = 0;
  };

  double time_of(const ChannelState& channel, std::size_t actor, std::uint64_t turn) const {
    return channel.times[actor][turn % depth_];
  }
  bool may_look(const ChannelState& leader) const;
  std::optional<Beat> beat_of(std::uint64_t turns, double tolerance) const;
  std::uint64_t turns_within(const ChannelState& channel, std::uint64_t last, double seconds) const;
  bool repeats(const Beat& beat, double tolerance) const;
  void look_for_a_beat();
  void jump(const Beat& beat);

  std::uint64_t window_;
  std::uint64_t longest_;
  std::uint64_t depth_;
  std::vector<ChannelState> channels_;
  std::size_t jumping_ = 0;  // channels with a jump under way
  double offset_ = 0;
};

}  // namespace lanecast
