#include "model/implementation/engine_ways.hpp"

#include <algorithm>

#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/groups.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

std::vector<Algorithm> algorithms(const Machine& machine, const CommunicatorSetup& communicator,
                                  const Call& call) {
  const auto ranks = static_cast<int>(communicator.ranks.size());
  std::vector<Algorithm> taken;
  if (call.algorithm) {
    for (const Algorithm variant : variants_of(*call.algorithm)) {
      if (has_form(variant, call.collective, ranks)) taken.push_back(variant);
    }
    return taken;
  }
  const bool grouped = equal_groups(machine, communicator.ranks, call.order_given).groups() > 1;
  for (const Algorithm algorithm : simulated_algorithms()) {
    const Algorithm family = family_of(algorithm);
    if (family == Algorithm::star) continue;  // a baseline
    if (family == Algorithm::hierarchical && !grouped) continue;
    if (family == Algorithm::direct && ranks > kMostDirectRanks) continue;
    if (has_form(algorithm, call.collective, ranks)) taken.push_back(algorithm);
  }
  return taken;
}

/// Whether all neighbours of the ring, or all pairs of ranks, are joined by NVLink.
struct NvlinkReach {
  bool ring = false;
  bool pairs = false;
};

NvlinkReach nvlink_reach(const Machine& machine, const CommunicatorSetup& communicator) {
  NvlinkReach reach;
  const std::vector<Connection>& links = communicator.rings.front().links;
  reach.ring = std::all_of(links.begin(), links.end(), [](const Connection& link) { return link.nvlink; });
  reach.pairs = reach.ring;
  for (const int from : communicator.ranks) {
    for (const int to : communicator.ranks)
      reach.pairs = reach.pairs && (from == to || nvlink_route(machine, from, to));
  }
  return reach;
}

std::string refusal_of(Algorithm algorithm, Protocol protocol, bool nvlink, const Call& call) {
  if (call.protocol && *call.protocol != protocol) return "another protocol is forced";
  if (pulls(algorithm) && protocol != Protocol::simple) return "flags within lines cannot be pulled";
  if (call.registration == Registration::on && algorithm != Algorithm::ring)
    return "has no registered buffers";
  if (call.protocol) return "";
  if (!fits(protocol, call)) return "does not fit what is forced";
  if (protocol == Protocol::ll128 && !nvlink) return "not safe over PCIe";
  return "";
}

}  // namespace

std::vector<EngineWay> engine_ways(const Machine& machine, const CommunicatorSetup& communicator,
                                   const Call& call) {
  const NvlinkReach reach = nvlink_reach(machine, communicator);
  std::vector<EngineWay> ways;
  for (const Algorithm algorithm : algorithms(machine, communicator, call)) {
    const bool nvlink = algorithm == Algorithm::ring ? reach.ring : reach.pairs;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
      ways.push_back({algorithm, protocol, refusal_of(algorithm, protocol, nvlink, call)});
  }
  return ways;
}

}  // namespace lanecast
