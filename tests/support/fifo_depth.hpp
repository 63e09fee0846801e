#pragma once
#include <cstdint>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

/// When a turn that receives gives the slot back. The GPU reduces from FIFO to FIFO and gives the slots of
/// all sources back when the whole turn is done, credit for its own sends included. `after_read` copies each
/// slot first.
enum class CreditReturn : std::uint8_t { after_turn, after_read };

/// The fewest slots of a connection with which the call cannot lock up, S being the slices of a chunk:
///
/// | schedule                                       | slots                                      |
/// | tree; ring broadcast and reduce                | 1: nobody sends before it receives         |
/// | ring, more than two ranks or all-reduce        | S; S + 1 after_turn                        |
/// | ring of two ranks, all-gather, reduce-scatter  | S                                          |
/// | one-shot, halving-doubling                     | S                                          |
/// | two-shot all-reduce                            | S; S + 1 after_turn                        |
/// | two-shot all-gather, reduce-scatter            | S                                          |
/// | hierarchical                                   | what the rings within and between need     |
/// | hierarchical, group_ranks = 1, outer tree      | ceil(S/2) after_turn, ceil((S - 1)/2) else |
///
/// Where everyone first sends a whole chunk to a peer that does the same, it needs a slot for each slice. One
/// more where everyone then holds a slot while it waits for credit from a peer that does the same. Below an
/// outer tree's root, slices lie in both directions of a connection: the child sends all before it takes any.
/// At least 1. fifo_depth_test.cpp checks the table against `locks_up`.
int min_fifo_depth(const ChannelWork& work, CreditReturn credit_return);

/// Does a channel come to a halt with FIFOs of `depth` slots? Plays a few loops of all its strands without
/// data; whether that halts does not depend on who is faster, since nobody ever chooses what to wait for.
///
/// @param strands  every strand of the channel: strands_of
bool locks_up(const std::vector<ChannelWork>& strands, int depth, CreditReturn credit_return);

}  // namespace lanecast::support
