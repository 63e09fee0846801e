#include <algorithm>
#include <map>
#include <set>

#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "model/topology/switch_parts.hpp"
#include "sim/copies.hpp"

namespace lanecast {
namespace {

struct FanOut {
  std::set<int> sources;       // GPUs
  std::set<int> destinations;  // links at root ports
};

}  // namespace

std::vector<Warning> copy_warnings(const Machine& machine, const std::vector<CopyFlow>& flows) {
  std::vector<Warning> warnings;
  std::map<int, FanOut> by_switch;
  for (const CopyFlow& flow : flows) {
    if (!flow.source || !flow.destination) continue;
    const PeerVerdict verdict = peer_access(machine, *flow.source, *flow.destination, Distance::sys);
    const std::string pair = "`" + machine.gpus[static_cast<std::size_t>(*flow.source)].name + "` to `" +
                             machine.gpus[static_cast<std::size_t>(*flow.destination)].name + "`";
    if (!verdict.allowed) {
      warnings.push_back(
          {"LC-TRANSPORT-01", "staged through host memory from " + pair + ": " + verdict.reason});
      continue;
    }
    const auto route = peer_route(machine, *flow.source, *flow.destination);
    if (!route || route->roots.empty() || route->switches.empty()) continue;
    const int left_by = route->switches.front();
    if (!collapses_on_fan_out(machine.switches[static_cast<std::size_t>(left_by)].model)) continue;
    by_switch[left_by].sources.insert(*flow.source);
    by_switch[left_by].destinations.insert(links_to_root(machine, {NodeKind::gpu, *flow.destination}).back());
  }
  for (const auto& [index, fan_out] : by_switch) {
    if (fan_out.sources.size() < 2 || fan_out.destinations.size() < 2) continue;
    const PcieSwitch& part = machine.switches[static_cast<std::size_t>(index)];
    warnings.push_back(
        {"LC-SWITCH-01", "writes from `" + part.name + "` (" + part.model + ") go to " +
                             std::to_string(fan_out.destinations.size()) +
                             " root ports: such parts were measured at 3 to 25 % of the rates given here"});
  }
  return warnings;
}

}  // namespace lanecast
