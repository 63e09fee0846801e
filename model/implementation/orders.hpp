#pragma once
#include "model/implementation/communicator.hpp"

namespace lanecast {

/// Sets the orders of the ranks on the channels in use, and the groups of a hierarchy.
///
/// Ring: the communicator's rings. NCCL's tree: the chains that its search found. The engine's tree: a binary
/// tree over the ranks on one channel and its complement on the next. Hierarchies: group after group. The
/// rest: the communicator's first order. An order that the call gives is kept (a tree's complement follows
/// from it).
/// @param resolved  algorithm and channels are set
void choose_orders(const Machine& machine, const CommunicatorSetup& communicator,
                   const Implementation& implementation, ResolvedCall& resolved);

/// Leaves out channels that got no work, and orders that only they had.
void drop_idle_channels(ResolvedCall& resolved);

/// Finds the transport of every pair of ranks that the schedule lets exchange data.
/// @param resolved  work and orders are set
/// @throws Error    kind usage: peer access forced where it cannot be, or no way at all between two
void connect_ranks(const Machine& machine, const Implementation& implementation, ResolvedCall& resolved);

}  // namespace lanecast
