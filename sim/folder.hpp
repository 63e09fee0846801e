#pragma once
#include <cstdint>
#include <vector>

namespace lanecast {

/// Finds out when turns (loops, or steps) repeat with one period for every actor of a group, and then lets all of them
/// leave out the same turns.
///
/// Actors report the time at which they are about to begin each turn. Once *all* of them have shown one period, of at
/// most four turns, over `window` turns, the next turn that nobody has begun becomes the jump: there every actor goes
/// on `skipped` turns later. The state of the simulation stays as it is, so that what follows (the last turns, the
/// drain) is simulated as it would have been; only the clock lacks `offset` seconds. A link that slows down far away
/// shows as two different periods until its wave has reached every actor, which keeps the group from folding
/// (simgrid.md: "period detection is treacherous").
class Folder {
 public:
  /// @param actors  in the group
  /// @param window  turns over which the period must hold for all, 2 or more
  /// @param end     turns from here on are never left out (tail and last, shorter turn); 0: never folds
  Folder(int actors, int window, std::uint64_t end);

  /// `actor` is about to begin turn `index` at `now`; returns the turn to begin instead.
  std::uint64_t advance(int actor, std::uint64_t index, double now);

  bool folded() const { return skipped_ > 0; }
  std::uint64_t skipped() const { return skipped_; }

  /// Simulated seconds that the clock lacks.
  double offset() const { return offset_; }

 private:
  struct History {
    std::vector<double> times;  // ring buffer by turn
    std::uint64_t reached = 0;  // turns begun
  };

  bool last_to_arrive(std::uint64_t index);
  double time_of(const History& history, std::uint64_t index) const { return history.times[index % depth_]; }
  void decide(std::uint64_t index);
  bool periodic(std::uint64_t index, std::uint64_t period_turns, double& period) const;

  int window_;
  std::uint64_t end_;
  std::uint64_t depth_;
  std::vector<History> actors_;
  struct Arrivals {
    std::uint64_t turn = 0;
    std::size_t count = 0;
  };
  std::vector<Arrivals> arrivals_;  // actors that have reported a turn, ring buffer by turn
  std::uint64_t jump_at_ = 0;
  std::uint64_t skipped_ = 0;
  double offset_ = 0;
};

}  // namespace lanecast
