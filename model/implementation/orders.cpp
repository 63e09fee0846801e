#include "model/implementation/orders.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/implementation/groups.hpp"
#include "model/implementation/transport.hpp"
#include "model/schedule/schedule.hpp"
#include "model/schedule/tree_shape.hpp"

namespace lanecast {
namespace {

void choose_rings(const CommunicatorSetup& communicator, ResolvedCall& resolved) {
  int rings = 0;
  for (int c = 0; c < resolved.channels; ++c) {
    resolved.ring_of.push_back(communicator.ring_of[static_cast<std::size_t>(c % communicator.channels())]);
    rings = std::max(rings, resolved.ring_of.back() + 1);
  }
  resolved.rings.assign(communicator.rings.begin(), communicator.rings.begin() + rings);
}

void add_channel(ResolvedCall& resolved, const std::vector<int>& order) {
  const auto known = std::find_if(resolved.rings.begin(), resolved.rings.end(),
                                  [&](const Ring& ring) { return ring.order == order; });
  resolved.ring_of.push_back(static_cast<int>(known - resolved.rings.begin()));
  if (known == resolved.rings.end()) resolved.rings.push_back({order, {}});
}

/// Chains of NCCL's tree search, one after the other.
void choose_chains(const CommunicatorSetup& communicator, ResolvedCall& resolved) {
  const NcclSetup& setup = *communicator.nccl;
  const auto searched = static_cast<std::size_t>(std::min(setup.ring.channels, setup.tree.channels));
  for (int c = 0; c < resolved.channels; ++c) {
    add_channel(resolved, resolved.call.order_given
                              ? communicator.ranks
                              : setup.tree.orders[static_cast<std::size_t>(c) % searched]);
  }
}

/// All channels on one order; where data go up and down binary trees, every other one on its complement.
void choose_one_order(const Machine& machine, const CommunicatorSetup& communicator, ResolvedCall& resolved) {
  const Algorithm algorithm = resolved.algorithm;
  const std::vector<int>& ranks = communicator.rings.front().order;
  const Groups groups = family_of(algorithm) == Algorithm::hierarchical
                            ? equal_groups(machine, ranks, resolved.call.order_given)
                            : Groups{ranks, 1};
  resolved.group_ranks = groups.group_ranks;
  const bool trees = algorithm == Algorithm::tree || algorithm == Algorithm::hierarchical_tree;
  const std::vector<int> other = trees ? complement_order(groups.order, groups.group_ranks) : groups.order;
  for (int c = 0; c < resolved.channels; ++c) add_channel(resolved, c % 2 == 0 ? groups.order : other);
}

}  // namespace

void choose_orders(const Machine& machine, const CommunicatorSetup& communicator,
                   const Implementation& implementation, ResolvedCall& resolved) {
  if (resolved.algorithm == Algorithm::ring) {
    choose_rings(communicator, resolved);
  } else if (resolved.algorithm == Algorithm::tree && implementation.library != Library::lanecast) {
    choose_chains(communicator, resolved);
  } else {
    choose_one_order(machine, communicator, resolved);
  }
}

void drop_idle_channels(ResolvedCall& resolved) {
  resolved.ring_of.resize(static_cast<std::size_t>(resolved.channels));
  const int last = *std::max_element(resolved.ring_of.begin(), resolved.ring_of.end());
  resolved.rings.resize(static_cast<std::size_t>(last) + 1);
}

void connect_ranks(const Machine& machine, const Implementation& implementation, ResolvedCall& resolved) {
  std::map<std::pair<int, int>, Connection> found;
  std::vector<bool> seen(resolved.rings.size(), false);
  const auto ranks = static_cast<int>(resolved.order().size());
  for (const Ring& ring : resolved.rings) {
    for (const Connection& link : ring.links) found.emplace(std::pair(link.from_gpu, link.to_gpu), link);
  }
  const auto add = [&](int from, int to) {
    if (found.count({from, to}) > 0) return;
    found.emplace(std::pair(from, to),
                  connect(machine, implementation, resolved.call.transport, ranks, from, to));
  };
  for (std::size_t c = 0; c < resolved.work.size() && resolved.algorithm != Algorithm::ring; ++c) {
    if (seen[resolved.ring_index(c)]) continue;
    seen[resolved.ring_index(c)] = true;
    const std::vector<int>& order = resolved.ring(c).order;
    for (const ChannelWork& of_position : resolved.work[c]) {
      for_each_turn(of_position, [&](const ChannelWork& work, const Turn& turn) {
        for (int k = 0; k < turn.to.count; ++k) {
          add(order[static_cast<std::size_t>(work.position)], order[static_cast<std::size_t>(turn.to.at(k))]);
        }
      });
    }
  }
  resolved.connections.clear();
  for (auto& [pair, connection] : found) resolved.connections.push_back(std::move(connection));
}

}  // namespace lanecast
