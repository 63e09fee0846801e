#pragma once
#include "model/advice/ring_order_search.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Orders of many ranks: walks from several starts (the PCIe tree from socket to card, the order of indices,
/// nearest neighbours, shuffled ones, and the best so far with a few ranks displaced) that reverse stretches
/// and move short ones elsewhere for as long as that makes the order better. The same on every platform.
///
/// The best need not be the best of all; the worst is that of the starts and the steps from them.
FoundOrders search_some_orders(const Machine& machine, const RingHops& hops);

}  // namespace lanecast
