#include <algorithm>
#include <cmath>

#include "configs/dumps/nccl_system_lines.hpp"
#include "model/topology/cpu_ids.hpp"

namespace lanecast {
namespace {

/// How many NVLinks carry a rate, by what NCCL counts for one (facts.md A8): 18 GB/s (P100), 20 (V100, A100,
/// and H100 before 2.19), 12 (GA10x), 20.6 (Hopper), 40.1 (Blackwell). Nothing where none or several of them
/// fit.
std::optional<int> nvlinks_of(double GBps) {
  struct Kind {
    double GBps;
    int most;
  };
  constexpr Kind kKinds[] = {{18, 4}, {20, 18}, {12, 4}, {20.6, 18}, {40.1, 18}};
  std::optional<int> count;
  for (const Kind& kind : kKinds) {
    const int links = static_cast<int>(std::lround(GBps / kind.GBps));
    if (links < 1 || links > kind.most || std::abs(links * kind.GBps - GBps) > 0.051) continue;
    if (count && *count != links) return std::nullopt;
    count = links;
  }
  return count;
}

/// What NCCL's class of an Intel CPU tells: 1 before Skylake, 2 up to Ice Lake, 3 and 4 two generations.
std::string model_of_class(int value) {
  switch (value) {
    case 1:
      return "Intel Xeon E5 v4 or before";
    case 3:
      return cpu_model_of("intel", {6, 0x8f});
    case 4:
      return cpu_model_of("intel", {6, 0xcf});
    default:
      return "";
  }
}

}  // namespace

bool NcclSystemLines::share_a_switch(const std::string& a, const std::string& b) const {
  const auto chain = [&](std::string at) {
    std::vector<std::string> bridges;
    for (auto found = devices_.find(at);
         found != devices_.end() && !found->second.ancestor.empty() && bridges.size() < 64;
         found = devices_.find(at)) {
      at = found->second.ancestor;
      bridges.push_back(at);
    }
    return bridges;
  };
  const std::vector<std::string> above_a = chain(a);
  const std::vector<std::string> above_b = chain(b);
  return std::find_first_of(above_a.begin(), above_a.end(), above_b.begin(), above_b.end()) != above_a.end();
}

/// NCCL's PHB is any way within a NUMA node: as near as it may be is what is kept. Where it refuses peer
/// access it shows the way through the CPU instead, which says nothing of GPUs below one switch.
std::optional<Distance> NcclSystemLines::distance_of(const Ends& ends, const Path& path) const {
  if (path.type == "LOC") return ends.first == ends.second ? std::optional(Distance::loc) : std::nullopt;
  if (path.type == "PIX") return Distance::pix;
  if (path.type == "PXB") return Distance::pxb;
  if (path.type != "PHB" && path.type != "SYS") return std::nullopt;
  if (share_a_switch(ends.first, ends.second)) return std::nullopt;
  return path.type == "PHB" ? Distance::phb : Distance::sys;
}

void NcclSystemLines::add_devices(MachineFacts& facts) const {
  for (const auto& [address, device] : devices_) {
    PciFacts& to = facts.devices[address];
    if (device.numa) to.numa.add(*device.numa, place(device.line, "NCCL's tree"));
    if (!device.ancestor.empty()) to.ancestor.add(device.ancestor, place(device.line, "NCCL's tree"));
    if (device.bridge) to.class_code.add(0x060400, place(device.line, "PCI"));
    const bool unmarked =
        to.gpu_index.empty() && to.gpu_model.empty() && to.sm.empty() && to.class_code.empty();
    if (device.gpu && unmarked) to.class_code.add(0x030000, place(device.line, "GPU"));
    const auto vendor = static_cast<std::uint32_t>(device.ids >> 48);
    if (vendor != 0 && vendor != 0xffff) {
      to.vendor.add(vendor, place(device.line, "NCCL's tree"));
      to.device.add(static_cast<std::uint32_t>(device.ids >> 32) & 0xffff, place(device.line, "NCCL's tree"));
    }
    if (!device.net) continue;
    const auto name = adapters_.find(*device.net);
    if (name != adapters_.end()) to.nic_name.add(name->second, place(device.line, "NET"));
    if (device.net_GBps > 0)
      to.nic_rate.add(BytesPerSecond(device.net_GBps * 1e9), place(device.line, "NET"));
  }
  for (const auto& [numa, maker] : cpus_) {
    constexpr const char* kMakers[] = {"", "intel", "amd", "zhaoxin", "ibm", "arm"};
    facts.cpus[numa].vendor.add(kMakers[maker.first], place(maker.second, "CPU"));
    const auto type = cpu_classes_.find(numa);
    const std::string model = type == cpu_classes_.end() ? "" : model_of_class(type->second);
    if (!model.empty()) facts.cpus[numa].model.add(model, place(maker.second, "CPU"));
  }
}

void NcclSystemLines::add_matrix(MachineFacts& facts) const {
  if (gpus_.empty()) return;
  TopoMatrix matrix;
  std::vector<std::string> ends = gpus_;
  for (const auto& [number, name] : adapters_) {
    const std::string label = "NIC" + std::to_string(number);
    const bool reached = std::any_of(gpus_.begin(), gpus_.end(), [&](const std::string& gpu) {
      return paths_.count({gpu, label}) != 0;
    });
    if (!reached) continue;
    ends.push_back(label);
    matrix.adapters[label] = name;
  }
  for (std::size_t a = 0; a < ends.size(); ++a) {
    const bool gpu = a < gpus_.size();
    matrix.names.push_back(gpu ? "GPU" + std::to_string(a) : ends[a]);
    matrix.addresses.push_back(gpu ? ends[a] : "");
    std::vector<TopoCell> row(ends.size());
    for (std::size_t b = 0; b < ends.size(); ++b) {
      const Ends pair = gpu ? Ends{ends[a], ends[b]} : Ends{ends[b], ends[a]};
      const auto path = paths_.find(pair);
      if (a == b) row[b].distance = Distance::loc;
      if (a == b || path == paths_.end()) continue;
      row[b].distance = distance_of(pair, path->second);
      if (path->second.type == "NVL") row[b].nvlinks = nvlinks_of(path->second.GBps).value_or(0);
    }
    matrix.cells.push_back(std::move(row));
    const auto device = gpu ? devices_.find(ends[a]) : devices_.end();
    matrix.numa.push_back(device == devices_.end() ? std::nullopt : device->second.numa);
  }
  matrix.from = place(paths_.empty() ? 0 : paths_.begin()->second.line, "NCCL's paths");
  facts.matrices.push_back(std::move(matrix));
}

void NcclSystemLines::add_nvlinks(MachineFacts& facts) const {
  std::map<Ends, NvLink> all = nvlinks_;
  for (const auto& [ends, path] : paths_) {
    const bool by_switch = nvlinks_.count({ends.first, ""}) != 0;
    const bool to_gpu = ends.second.compare(0, 3, "NIC") != 0 && ends.first != ends.second;
    if (path.type == "NVL" && to_gpu && !by_switch)
      all.try_emplace(ends, NvLink{path.GBps, false, path.line});
  }
  for (const auto& [ends, link] : all) {
    NvlinkFacts fact{ends.first, ends.second, 1, std::nullopt, place(link.line, link.xgmi ? "XGMI" : "NVL")};
    const std::optional<int> count = link.xgmi ? std::nullopt : nvlinks_of(link.GBps);
    if (count) {
      fact.count = *count;
    } else if (link.GBps > 0) {
      fact.rate = BytesPerSecond(link.GBps * 1e9);
    }
    facts.nvlinks.push_back(fact);
  }
}

int NcclSystemLines::add_to(MachineFacts& facts) const {
  add_devices(facts);
  add_matrix(facts);
  add_nvlinks(facts);
  return static_cast<int>(devices_.size() + gpus_.size());
}

}  // namespace lanecast
