#include "model/implementation/communicator.hpp"

#include <algorithm>
#include <cmath>

#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/nccl/graph_search.hpp"
#include "model/implementation/transport.hpp"

namespace lanecast {
namespace {

/// The same way around, from the first rank on.
std::vector<int> from_first_rank(std::vector<int> order, const std::vector<int>& ranks) {
  std::rotate(order.begin(), std::find(order.begin(), order.end(), ranks.front()), order.end());
  return order;
}

/// Adds a channel on this order; orders that exist already share a ring.
void add_channel(CommunicatorSetup& communicator, const std::vector<int>& order, const Machine& machine,
                 const Implementation& implementation, std::optional<Transport> forced) {
  std::vector<Ring>& rings = communicator.rings;
  auto known =
      std::find_if(rings.begin(), rings.end(), [&](const Ring& ring) { return ring.order == order; });
  if (known == rings.end()) {
    rings.push_back(connect_ring(machine, implementation, forced, order));
    known = rings.end() - 1;
  }
  communicator.ring_of.push_back(static_cast<int>(known - rings.begin()));
}

SearchRules search_rules(const NcclRules& rules, const NcclSetup& setup) {
  SearchRules search;
  for (const double speed : search_speeds(rules, setup.min_sm))
    search.speeds.push_back(std::lround(speed * 1000));
  search.amd = setup.cpu_vendor == "amd";
  search.ring_second_pass = rules.ring_second_pass;
  search.two_for_split_nvlink = rules.two_for_split_nvlink;
  return search;
}

/// What a machine gets that is too large for the search.
NcclSetup without_search(const Machine& machine, const std::vector<int>& ranks) {
  NcclSetup setup;
  for (const int gpu : ranks) {
    const int sm = machine.gpus[static_cast<std::size_t>(gpu)].sm;
    setup.min_sm = setup.max_sm == 0 ? sm : std::min(setup.min_sm, sm);
    setup.max_sm = std::max(setup.max_sm, sm);
  }
  setup.cpu_vendor = machine.cpus.empty() ? "unknown" : machine.cpus.front().vendor;
  setup.ring = plain_order(ranks, GraphPattern::ring);
  setup.tree = plain_order(ranks, GraphPattern::balanced_tree);
  return setup;
}

NcclSetup search(const Machine& machine, const Implementation& implementation, const Call& call,
                 const std::vector<int>& ranks) {
  if (ranks.size() > kMostNcclGpus) return without_search(machine, ranks);
  const NcclRules& rules = nccl_rules(implementation.version());
  LinkAssumptions assumptions = link_assumptions(rules);
  assumptions.route_through_gpus = !implementation.environment.nvb_disable.value_or(false);
  const NcclSystem system(machine, ranks, assumptions, [&](int from, int to) {
    return uses_peer_access(machine, implementation, call.transport, static_cast<int>(ranks.size()), from, to)
        .allowed;
  });
  NcclSetup setup;
  setup.min_sm = system.min_sm();
  setup.max_sm = system.max_sm();
  setup.cpu_vendor = machine.cpus.empty() ? "unknown" : machine.cpus.front().vendor;
  const SearchRules search = search_rules(rules, setup);
  setup.ring = search_graph(system, search, GraphPattern::ring, 1, rules.most_channels / 2);
  setup.tree =
      search_graph(system, search, GraphPattern::balanced_tree, setup.ring.channels, setup.ring.channels);
  if (implementation.environment.nvls_enable.value_or(2) != 0) setup.nvls = nvls_graph(system, search);
  return setup;
}

/// Search channels twice, then no more than wanted at most, then copies up to the fewest wanted.
int connected_channels(const NcclSetup& setup, const Implementation& implementation) {
  const NcclRules& rules = nccl_rules(implementation.version());
  const int most =
      std::min(implementation.environment.max_channels.value_or(rules.most_channels), rules.most_channels);
  const int fewest = std::min(implementation.environment.min_channels.value_or(0), rules.most_channels);
  const int searched = std::min(setup.ring.channels, setup.tree.channels);
  return std::max({1, fewest, std::min(most, 2 * searched)});
}

void add_nccl_channels(CommunicatorSetup& communicator, const Machine& machine,
                       const Implementation& implementation, const Call& call) {
  const NcclSetup& setup = *communicator.nccl;
  const int channels = connected_channels(setup, implementation);
  const auto searched = static_cast<std::size_t>(std::min(setup.ring.channels, setup.tree.channels));
  for (int c = 0; c < channels; ++c) {
    const std::vector<int> order =
        call.order_given
            ? communicator.ranks
            : from_first_rank(setup.ring.orders[static_cast<std::size_t>(c) % searched], communicator.ranks);
    add_channel(communicator, order, machine, implementation, call.transport);
  }
}

}  // namespace

CommunicatorSetup open_communicator(const Machine& machine, const Implementation& implementation,
                                    const Call& call) {
  CommunicatorSetup communicator;
  communicator.ranks = call_ranks(machine, call);
  if (implementation.library == Library::lanecast || communicator.ranks.size() < 2) {
    add_channel(communicator, communicator.ranks, machine, implementation, call.transport);
    const int channels = engine_channels(machine, communicator.rings.front());
    communicator.ring_of.assign(static_cast<std::size_t>(channels), 0);
    return communicator;
  }
  communicator.nccl = search(machine, implementation, call, communicator.ranks);
  add_nccl_channels(communicator, machine, implementation, call);
  return communicator;
}

}  // namespace lanecast
