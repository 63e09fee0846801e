#pragma once
#include <cstdint>

#include "model/units.hpp"

namespace lanecast {

/// Positions that a turn takes from or gives to, in a form that a kernel can take by copy: up to three named
/// ones, or an arithmetic series around the ring of positions.
struct Peers {
  int count = 0;
  int first = 0;
  int stride = 1;
  int modulo = 0;  // 0: the positions in `named`
  int named[3] = {-1, -1, -1};

  LANECAST_HD constexpr int at(int i) const { return modulo == 0 ? named[i] : (first + i * stride) % modulo; }
};

LANECAST_HD constexpr Peers nobody() { return {}; }

LANECAST_HD constexpr Peers only(int position) {
  Peers peers;
  peers.count = 1;
  peers.named[0] = position;
  return peers;
}

/// Everyone but `position`, the next one first, so that ranks don't all begin with the same peer.
LANECAST_HD constexpr Peers all_others(int position, int ranks) {
  Peers peers;
  peers.count = ranks - 1;
  peers.first = (position + 1) % ranks;
  peers.modulo = ranks;
  return peers;
}

/// Where a turn takes a rank's own share of the value from.
enum class Own : std::uint8_t { nothing, input, output };

/// One turn of a rank: what it does with one region of a loop, slice by slice.
///
/// It takes the region from each of `from` (waiting for it), combines what came with its own (`own`), writes
/// its output (`keeps`) and passes the result on to each of `to` (waiting for credit). What comes from
/// several is combined in the order of positions, its own at its own place: ranks that compute the same sum
/// get the same bits.
struct Turn {
  int kind = 0;   // 0 .. kind_count(work) - 1: turns of a kind have the same peers and do the same
  int part = 0;   // first part of the loop that it is about (geometry.hpp)
  int parts = 1;  // how many
  Peers from;
  Peers to;
  Own own = Own::nothing;
  bool keeps = false;
  bool finishes = false;  // the combined value is the result: an average is divided here
};

/// What a turn does, in the terms that costs are given in.
///
/// | action           | takes | combines own | gives | keeps |
/// | send             |       | yes          | yes   |       |
/// | keep_send        |       | yes          | yes   | yes   |
/// | reduce_send      | yes   | yes          | yes   |       |
/// | reduce_keep_send | yes   | yes          | yes   | yes   |
/// | reduce_keep      | yes   | yes          |       | yes   |
/// | copy_send        | yes   |              | yes   | yes   |
/// | copy             | yes   |              |       | yes   |
enum class TurnAction : std::uint8_t {
  send,
  keep_send,
  reduce_send,
  reduce_keep_send,
  reduce_keep,
  copy_send,
  copy
};

LANECAST_HD constexpr bool receives(TurnAction a) {
  return a != TurnAction::send && a != TurnAction::keep_send;
}
LANECAST_HD constexpr bool reduces(TurnAction a) {
  return a == TurnAction::reduce_send || a == TurnAction::reduce_keep_send || a == TurnAction::reduce_keep;
}
LANECAST_HD constexpr bool sends(TurnAction a) {
  return a != TurnAction::copy && a != TurnAction::reduce_keep;
}

LANECAST_HD constexpr TurnAction action_of(const Turn& turn) {
  if (turn.from.count == 0) return turn.keeps ? TurnAction::keep_send : TurnAction::send;
  if (turn.own == Own::nothing) return turn.to.count > 0 ? TurnAction::copy_send : TurnAction::copy;
  if (turn.to.count == 0) return TurnAction::reduce_keep;
  return turn.keeps ? TurnAction::reduce_keep_send : TurnAction::reduce_send;
}

}  // namespace lanecast
