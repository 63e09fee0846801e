#include "model/advice/doctor_evidence.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "model/implementation/communicator.hpp"
#include "model/implementation/transport.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostNames = 8;  // of a list in a text

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::string plural(const std::string& noun) { return noun + (noun.back() == 'h' ? "es" : "s"); }

/// [kind of lower end][index] -> PCIe link above, -1: none.
struct LinksAbove {
  explicit LinksAbove(const Machine& machine)
      : gpus(machine.gpus.size(), -1), switches(machine.switches.size(), -1), nics(machine.nics.size(), -1) {
    for (std::size_t i = 0; i < machine.links.size(); ++i) {
      const Link& link = machine.links[i];
      if (link.kind == LinkKind::pcie) of(link.to) = static_cast<int>(i);
    }
  }
  int& of(NodeId node) {
    auto& list = node.kind == NodeKind::gpu ? gpus : node.kind == NodeKind::nic ? nics : switches;
    return list[at_index(node.index)];
  }
  std::vector<int> gpus, switches, nics;
};

std::vector<int> path_up(const Machine& machine, LinksAbove& above, NodeId node) {
  std::vector<int> path;
  while (node.kind != NodeKind::root && above.of(node) >= 0) {
    path.push_back(above.of(node));
    node = machine.links[at_index(path.back())].from;
  }
  return path;
}

std::vector<GpuPair> pairs_of(const Machine& machine, const Implementation& implementation,
                              const std::vector<int>& gpus) {
  std::vector<GpuPair> pairs;
  if (gpus.size() > kMostNcclGpus) return pairs;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      GpuPair pair{gpus[i], gpus[j], {}, false};
      pair.verdict = uses_peer_access(machine, implementation, std::nullopt, static_cast<int>(gpus.size()),
                                      pair.a, pair.b);
      pair.nvlink = distance(machine, pair.a, pair.b) == Distance::nvl;
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace

Evidence::Evidence(const DoctorInput& input)
    : machine(input.machine),
      earlier(input.earlier ? &*input.earlier : nullptr),
      implementation(input.implementation),
      gpus(present_gpus(input.machine)),
      pairs(pairs_of(input.machine, input.implementation, gpus)),
      paths(machine.gpus.size()),
      gpus_below(machine.links.size(), 0),
      nics_below(machine.links.size(), 0),
      assumed_(machine.assumed.begin(), machine.assumed.end()) {
  if (earlier != nullptr) since = pair_parts(*earlier, machine);
  LinksAbove above(machine);
  for (const int gpu : gpus) {
    paths[at_index(gpu)] = path_up(machine, above, {NodeKind::gpu, gpu});
    for (const int link : paths[at_index(gpu)]) ++gpus_below[at_index(link)];
  }
  for (std::size_t i = 0; i < machine.nics.size(); ++i) {
    for (const int link : path_up(machine, above, {NodeKind::nic, static_cast<int>(i)}))
      ++nics_below[at_index(link)];
  }
}

bool Evidence::knows(const char* section, const std::string& name, const char* key) const {
  return knows(std::string(section) + "." + name, key);
}

std::string Evidence::model_of(int index) const {
  return knows("gpus", gpu(index).name, "model") ? gpu(index).model : "";
}

std::optional<int> Evidence::earlier_part(NodeId now) const {
  if (!since) return std::nullopt;
  for (const PartPair& pair : since->of(now.kind).pairs) {
    if (pair.after == now.index && pair.how == Recognized::same) return pair.before;
  }
  return std::nullopt;
}

std::optional<int> Evidence::earlier_link(int index) const {
  const NodeId below = link(index).to;
  const auto before = earlier_part(below);
  return before ? link_above(*earlier, {below.kind, *before}) : std::nullopt;
}

std::vector<int> Evidence::used_links() const {
  std::vector<int> used;
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    if (gpus_below[i] + nics_below[i] > 0) used.push_back(static_cast<int>(i));
  }
  return used;
}

void RuleFindings::add(FindingStatus status, const std::string& where, const std::string& fact,
                       const std::string& mend, std::optional<Machine> mended) {
  findings_.push_back({code_, status, where, fact, mend, std::move(mended), {}});
  faulty_ = true;
}

void RuleFindings::close(const std::string& kind, const std::string& missing, const std::string& command,
                         const std::string& good) {
  if (!unknown_.empty()) {
    findings_.push_back(
        {code_, FindingStatus::skip, named(kind, unknown_), missing, command, std::nullopt, {}});
  } else if (!faulty_) {
    findings_.push_back(
        {code_, FindingStatus::pass, kind.empty() ? "machine" : plural(kind), good, "", std::nullopt, {}});
  }
}

std::string enumerated(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMostNames ? text + " and " + std::to_string(names.size() - kMostNames) + " more"
                                   : text;
}

std::string named(const std::string& kind, const std::vector<std::string>& names) {
  if (kind.empty()) return "machine";
  return (names.size() == 1 ? kind : plural(kind)) + " " + enumerated(names);
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural(noun));
}

std::string link_text(PcieRate rate, int width) { return to_string(rate) + " x" + std::to_string(width); }

std::string raw_text(PcieRate rate, int width) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB/s", pcie_raw_rate(rate, width).value() * 1e-9);
  return text.data();
}

std::optional<int> link_above(const Machine& machine, NodeId node) {
  const auto link = std::find_if(machine.links.begin(), machine.links.end(), [&](const Link& each) {
    return each.kind == LinkKind::pcie && each.to == node;
  });
  if (link == machine.links.end()) return std::nullopt;
  return static_cast<int>(link - machine.links.begin());
}

}  // namespace lanecast
