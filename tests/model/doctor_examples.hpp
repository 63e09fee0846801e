#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/advice/doctor.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast::support {

/// A machine of which everything is known and nothing is amiss: its links can do no more than they do, its
/// counters stand at 0, and each NUMA node has a network adapter.
inline Machine complete(Machine machine) {
  for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
    const auto root = std::find_if(machine.roots.begin(), machine.roots.end(),
                                   [&](const RootComplex& each) { return each.cpu == static_cast<int>(i); });
    if (root == machine.roots.end()) continue;
    const std::string name = "nic" + std::to_string(i);
    machine.nics.push_back({name, BytesPerSecond(25e9), ""});
    Link link;
    link.name = name;
    link.from = {NodeKind::root, static_cast<int>(root - machine.roots.begin())};
    link.to = {NodeKind::nic, static_cast<int>(machine.nics.size()) - 1};
    link.max_rate = link.rate = PcieRate::gen4;
    machine.links.push_back(link);
  }
  for (Link& link : machine.links) {
    if (link.kind != LinkKind::pcie) continue;
    link.device_max_rate = link.max_rate;
    link.device_max_width = link.max_width;
    link.max_mps = link.mps;
    link.corrected_errors = link.uncorrected_errors = link.replays = 0;
  }
  for (Gpu& gpu : machine.gpus) {
    gpu.memory = Bytes(std::uint64_t{40} << 30);
    gpu.bar1 = Bytes(std::uint64_t{64} << 30);
    gpu.p2p = true;
  }
  machine.virtualized = false;
  return machine;
}

/// Four cards below one switch, all well.
inline Machine healthy() { return complete(one_switch(4)); }

/// The same for each card on a root of its own, with peer access between all.
inline Machine healthy_roots(int gpus) {
  Machine machine = complete(own_roots(gpus));
  machine.p2p.level = Distance::sys;
  return machine;
}

/// The rules' findings; the machine itself is its earlier dump where none is given.
inline std::vector<Finding> examined(const Machine& machine, const std::optional<Machine>& earlier = {}) {
  return examine({machine, earlier ? earlier : machine, Implementation()});
}

inline std::vector<Finding> of_code(const std::vector<Finding>& findings, const std::string& code) {
  std::vector<Finding> chosen;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(chosen),
               [&](const Finding& finding) { return finding.code == code; });
  return chosen;
}

/// Findings of one rule on a machine.
inline std::vector<Finding> examined_for(const std::string& code, const Machine& machine,
                                         const std::optional<Machine>& earlier = {}) {
  return of_code(examined(machine, earlier), code);
}

/// Codes of all that warns or fails.
inline std::set<std::string> troubles(const Machine& machine, const std::optional<Machine>& earlier = {}) {
  std::set<std::string> codes;
  for (const Finding& finding : examined(machine, earlier)) {
    if (finding.status == FindingStatus::fail || finding.status == FindingStatus::warn)
      codes.insert(finding.code);
  }
  return codes;
}

using Codes = std::set<std::string>;

}  // namespace lanecast::support
