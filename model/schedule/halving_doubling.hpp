#pragma once
#include "model/schedule/geometry.hpp"
#include "model/schedule/turn.hpp"

namespace lanecast {

/// Recursive halving, then recursive doubling: log2(n) exchanges with ever nearer partners that each halve
/// the region a rank is responsible for, and back. 2 log2(n) flights, 2 (n - 1)/n x size on the wire.
///
/// Where the ranks are no power of two, each rank beyond it first gives its whole input to a partner within,
/// and gets the result at the end. All-gather is the second half, for powers of two.
/// Source: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005).
struct HalvingDoubling {
  int core;        // ranks that take part in the exchanges: a power of two
  int exchanges;   // log2(core)
  int extra;       // position of the partner beyond the core; -1: none
  bool beyond;     // this rank is beyond the core itself
  int before = 0;  // turns before the halving
};

LANECAST_HD constexpr HalvingDoubling halving_doubling_of(const ChannelWork& work) {
  HalvingDoubling shape{power_of_two_within(work.ranks), 0, -1, false, 0};
  while ((1 << shape.exchanges) < shape.core) ++shape.exchanges;
  shape.beyond = work.position >= shape.core;
  if (!shape.beyond && work.position + shape.core < work.ranks) {
    shape.extra = work.position + shape.core;
    shape.before = 1;
  }
  return shape;
}

LANECAST_HD constexpr int halving_doubling_step_count(const ChannelWork& work) {
  const HalvingDoubling shape = halving_doubling_of(work);
  if (work.collective == Collective::all_gather) return 2 * (work.ranks - 1);
  if (shape.beyond) return 2;
  return 2 * shape.before + 4 * shape.exchanges;
}

/// Halving: exchange `i` sends the half that the partner keeps and reduces the half that this rank keeps.
/// Doubling runs through the same exchanges backwards, sending what this rank has and copying the rest.
/// @param exchange  0 is the farthest partner and the largest region
/// @param sending   the first of an exchange's two turns
LANECAST_HD constexpr Turn exchange_turn(const HalvingDoubling& shape, int position, int exchange,
                                         bool doubling, bool sending) {
  const int distance = shape.core >> (exchange + 1);
  const int kept = position / distance * distance;  // first part of the half that this rank keeps
  const int given = kept ^ distance;
  Turn turn;
  turn.parts = distance;
  turn.part = sending != doubling ? given : kept;
  const Peers partner = only(position ^ distance);
  if (sending) {
    turn.to = partner;
    turn.own = doubling || exchange > 0 || shape.extra >= 0 ? Own::output : Own::input;
    return turn;
  }
  turn.from = partner;
  turn.keeps = true;
  if (doubling) return turn;
  turn.own = exchange > 0 || shape.extra >= 0 ? Own::output : Own::input;
  turn.finishes = exchange == shape.exchanges - 1;
  return turn;
}

/// Recursive doubling of blocks: each exchange sends all blocks that are here and takes as many, one by one
/// in turn, for they need not be neighbours in memory.
LANECAST_HD constexpr Turn doubling_gather_turn(const ChannelWork& work, int step) {
  const int sent = 1 + step / 2;  // blocks sent with this one: 1, then 2, 4, ... an exchange
  const int have = power_of_two_within(sent);
  const int base = work.position / have * have;
  const int block = sent - have;
  Turn turn;
  if (step % 2 == 0) {
    turn.part = base + block;
    turn.to = only(work.position ^ have);
    turn.own = step == 0 ? Own::input : Own::output;
    turn.keeps = step == 0 && !work.in_place;
    return turn;
  }
  turn.part = (base ^ have) + block;
  turn.from = only(work.position ^ have);
  turn.keeps = true;
  return turn;
}

/// Between a rank beyond the core and its partner: the whole loop, up before and down after the exchanges.
LANECAST_HD constexpr Turn extra_turn(const ChannelWork& work, const HalvingDoubling& shape, bool up) {
  Turn turn;
  turn.parts = shape.core;
  const Peers partner = only(shape.beyond ? work.position - shape.core : shape.extra);
  if (up == shape.beyond) {
    turn.to = partner;
    turn.own = up ? Own::input : Own::output;
    return turn;
  }
  turn.from = partner;
  turn.keeps = true;
  if (up) turn.own = Own::input;
  return turn;
}

/// @param step  0 <= step < halving_doubling_step_count
LANECAST_HD constexpr Turn halving_doubling_turn(const ChannelWork& work, int step) {
  const HalvingDoubling shape = halving_doubling_of(work);
  const int half = 2 * shape.exchanges;
  const int within = step - shape.before;
  Turn turn;
  if (work.collective == Collective::all_gather) {
    turn = doubling_gather_turn(work, step);
  } else if (shape.beyond) {
    turn = extra_turn(work, shape, step == 0);
  } else if (within < 0 || within >= 2 * half) {
    turn = extra_turn(work, shape, within < 0);
  } else {
    const bool doubling = within >= half;
    const int exchange = doubling ? shape.exchanges - 1 - (within - half) / 2 : within / 2;
    turn = exchange_turn(shape, work.position, exchange, doubling, within % 2 == 0);
  }
  turn.kind = step;
  return turn;
}

}  // namespace lanecast
