#include "model/predict/call_kind.hpp"

#include <set>

#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

std::string path_class(const ResolvedCall& resolved) {
  std::set<std::string> classes;
  for (const Connection& link : resolved.connections) {
    if (link.transport == Transport::shm) {
      classes.insert("shm");
    } else {
      classes.insert(link.nvlink ? "p2p-nvlink" : "p2p-pcie");
    }
  }
  if (classes.empty()) return "one-rank";
  return classes.size() == 1 ? *classes.begin() : "mixed";
}

}  // namespace

std::string transport_name(const ResolvedCall& resolved) {
  bool p2p = false;
  bool shm = false;
  for (const Connection& link : resolved.connections) (link.transport == Transport::shm ? shm : p2p) = true;
  if (shm) return p2p ? "mixed" : "shm";
  return "p2p";
}

std::string call_kind(const ResolvedCall& resolved) {
  return std::string(to_string(resolved.algorithm)) + "/" + to_string(resolved.protocol) + "/" +
         path_class(resolved);
}

std::string call_links(const Machine& machine, const ResolvedCall& resolved) {
  if (path_class(resolved) == "p2p-nvlink") return "nvlink";
  const Link* narrowest = nullptr;
  double least = 0;
  for (const int gpu : resolved.order()) {
    for (const int index : links_to_root(machine, {NodeKind::gpu, gpu})) {
      const Link& link = machine.links[static_cast<std::size_t>(index)];
      const double rate = pcie_raw_rate(link.rate, link.width).value();
      if (narrowest != nullptr && rate >= least) continue;
      narrowest = &link;
      least = rate;
    }
  }
  if (narrowest == nullptr) return "none";
  return std::string(to_string(narrowest->rate)) + " x" + std::to_string(narrowest->width);
}

}  // namespace lanecast
