#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/time_account.hpp"

namespace lanecast {

/// The FIFO between two ranks on one channel, as times at which things become visible.
///
/// Flags and credits are timestamps, never flows (simgrid.md). Their wire bytes are not charged: a packet of
/// 32 B a slice for Simple's flag (0.08 % of a slice of 32 KiB, 1.3 % of one of 2 KiB), none in LL and LL128,
/// whose flags are in the lines; a packet of 32 B a slice the other way for the credit.
class FifoTimes {
 public:
  enum Event { begun, done, credit, event_count };
  static constexpr int nobody = -1;

  /// @param accounts  whether each time comes with an account
  explicit FifoTimes(int slots, bool accounts = false);

  /// The next event of its kind becomes visible at `when`.
  /// @return  the strand that waits for it and is to go on, or `nobody`
  /// @param account  of `when`; only looked at where the FIFO keeps accounts
  int post(Event event, double when, const TimeAccount& account = {});

  /// Whether the `number`-th event has been posted; if not, `strand` waits for it. Those before are not asked
  /// for any more.
  bool posted(Event event, std::uint64_t number, int strand);

  /// When the `number`-th event becomes visible; it has been posted.
  double when(Event event, std::uint64_t number) const;
  const TimeAccount& account(Event event, std::uint64_t number) const;

 private:
  struct Stream {
    std::vector<double> when;  // a ring; grows where one end runs ahead, as over slices without lines
    std::vector<TimeAccount> accounts;  // the same ring; empty: none are kept
    std::uint64_t posted = 0;
    std::uint64_t asked = 0;  // those before are not asked for any more
    int waiting = nobody;
  };

  static void grow(Stream& stream);

  Stream streams_[event_count];
};

/// FIFOs of one channel, by the positions of sender and receiver.
using ChannelFifos = std::map<std::pair<int, int>, FifoTimes>;

}  // namespace lanecast
