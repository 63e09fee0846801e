#include "configs/dumps/hwloc_facts.hpp"

#include <hwloc.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "configs/dumps/xml_document.hpp"

namespace lanecast {

std::optional<std::pair<PcieRate, int>> link_of_hwloc_speed(double GBps) {
  std::optional<std::pair<PcieRate, int>> found;
  for (int generation = 1; generation <= 6; ++generation) {
    for (int width = 1; width <= 16; ++width) {
      const auto rate = static_cast<PcieRate>(generation);
      if (!is_pcie_width(width)) continue;
      const double expected = pcie_raw_rate(rate, width).value() / 1e9;
      if (!(std::abs(expected - GBps) < 0.001 * expected)) continue;
      if (found) return std::nullopt;
      found.emplace(rate, width);
    }
  }
  return found;
}

int add_hwloc_facts(struct hwloc_topology* topology, const std::string& from, MachineFacts& facts) {
  char* text = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &text, &length, 0) != 0 || text == nullptr) return 0;
  const auto release = [&](char* buffer) { hwloc_free_xmlbuffer(topology, buffer); };
  const std::unique_ptr<char, decltype(release)> owned(text, release);
  return add_hwloc_document(XmlDocument(std::string_view(text), from), from, facts);
}

}  // namespace lanecast
