#include "configs/dumps/nccl_system_lines.hpp"

#include <algorithm>
#include <charconv>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostEntries = 4096;  // of each list: more than any run prints
constexpr std::size_t kMostGpus = 256;

/// "GPU/4B000", "GPU/0-4b000": kind, and the number without that of the host, which newer releases print.
struct NodeText {
  std::string_view kind;
  std::uint64_t host = 0;
  std::uint64_t number = 0;
  std::string_view rest;  // what follows, "(0)"
};

bool take_number(std::string_view& text, std::uint64_t& value, int base) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

bool take_number(std::string_view& text, double& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0) || value > 1e6) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

std::optional<NodeText> node_text(std::string_view text) {
  NodeText node;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash > 4) return std::nullopt;
  node.kind = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  if (!take_number(text, node.number, 16)) return std::nullopt;
  if (take_word(text, "-")) {
    node.host = node.number;
    if (!take_number(text, node.number, 16)) return std::nullopt;
  }
  node.rest = text;
  return node;
}

/// A NUMA node's number; nothing for -1, which is printed as all ones.
std::optional<int> numa_of(const NodeText& cpu) {
  return cpu.number < 4096 ? std::optional(static_cast<int>(cpu.number)) : std::nullopt;
}

std::optional<std::string> address_of(const NodeText& node) {
  // Bits above 40 number the ranks that share a GPU, or hold the NUMA node of an adapter.
  return address_of_nccl_id(node.number & ((std::uint64_t{1} << 40) - 1));
}

}  // namespace

std::optional<std::string> address_of_nccl_id(std::uint64_t id) {
  const std::uint64_t domain = id >> 20;
  const std::uint64_t device = (id >> 4) & 0xff;
  const std::uint64_t function = id & 0xf;
  if (domain > 0xffffff || device > 0x1f || function > 7) return std::nullopt;
  const auto hex = [](std::uint64_t value, std::size_t digits) {
    std::string text;
    for (; text.size() < digits || value != 0; value /= 16)
      text.insert(text.begin(), "0123456789abcdef"[value % 16]);
    return text;
  };
  return hex(domain, 4) + ":" + hex((id >> 12) & 0xff, 2) + ":" + hex(device, 2) + "." + hex(function, 1);
}

std::string NcclSystemLines::place(int line, const std::string& what) const {
  return file_ + ":" + std::to_string(line) + " (" + what + ")";
}

void NcclSystemLines::take(std::string_view thread, std::string_view message, int line) {
  const std::size_t first = message.find_first_not_of(' ');
  if (first == std::string_view::npos) return;
  const std::string_view text = message.substr(first);
  if (text.substr(0, 2) == "+ " || (first == 0 && text.substr(0, 4) == "CPU/")) {
    take_tree_line(thread, message, line);
  } else if (text.substr(0, 4) == "GPU/") {
    take_paths(text, line);
  } else if (text.substr(0, 15) == "NET/IB : Using ") {
    take_adapters(text.substr(15));
  }
}

void NcclSystemLines::take_tree_line(std::string_view thread, std::string_view message, int line) {
  auto tree = trees_.find(thread);
  if (tree == trees_.end()) {
    if (trees_.size() >= kMostEntries) return;
    tree = trees_.emplace(std::string(thread), std::vector<Above>{}).first;
  }
  std::vector<Above>& above = tree->second;
  const std::size_t column = message.find_first_not_of(' ');
  std::string_view text = message.substr(column);
  if (!take_word(text, "+ ")) return take_root(above, text, line);
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || bracket > 8) return;
  const std::string_view link = text.substr(0, bracket);
  text.remove_prefix(bracket + 1);
  double GBps = 0;
  if (!take_number(text, GBps) || !take_word(text, "] - ")) return;
  while (!above.empty() && above.back().column >= column && above.size() > 1) above.pop_back();
  if (above.empty()) return;  // an excerpt that begins below the CPU
  if (link == "PCI") {
    take_node(above, column, text, line);
  } else {
    take_end(above.back(), link, GBps, text, line);
  }
}

/// "CPU/0-1 (1/2/-1)": architecture (1 x86, 2 POWER, 3 Arm), maker (1 Intel, 2 AMD, 3 Zhaoxin), class.
void NcclSystemLines::take_root(std::vector<Above>& above, std::string_view text, int line) {
  above.clear();
  const std::optional<NodeText> node = node_text(text);
  if (!node || node->host != 0) return;  // another computer of the same NVLink domain
  above.push_back({0, "", numa_of(*node), false});
  std::string_view rest = node->rest;
  std::uint64_t arch = 0;
  std::uint64_t vendor = 0;
  std::uint64_t type = 0;
  if (!take_word(rest, " (") || !take_number(rest, arch, 10) || !take_word(rest, "/") ||
      !take_number(rest, vendor, 10) || !take_word(rest, "/"))
    return;
  const int maker = arch == 1 && vendor <= 3 ? static_cast<int>(vendor) : arch == 2 ? 4 : arch == 3 ? 5 : 0;
  if (maker == 0 || cpus_.size() >= kMostEntries) return;
  const int numa = numa_of(*node).value_or(0);  // maker and class hold for all NUMA nodes alike
  cpus_.try_emplace(numa, maker, line);
  if (maker == 1 && take_number(rest, type, 10) && type <= 4)
    cpu_classes_.try_emplace(numa, static_cast<int>(type));
}

void NcclSystemLines::take_node(std::vector<Above>& above, std::size_t column, std::string_view text,
                                int line) {
  const std::optional<NodeText> node = node_text(text);
  if (!node) return;
  const Above parent = above.back();
  const auto address = address_of(*node);
  const bool gpu = node->kind == "GPU" || node->kind == "DEV";
  const bool bridge = node->kind == "PCI";
  // An adapter without a PCI place has a small number instead of an address.
  const bool adapter = node->kind == "NIC" && (node->number & 0xffffffffffu) >= 0x10;
  if (!address || !(gpu || bridge || adapter)) {
    above.push_back({column, "", parent.numa, false});
    return;
  }
  above.push_back({column, *address, parent.numa, bridge});
  if (devices_.size() >= kMostEntries) return;
  Device& device = devices_[*address];
  if (device.line != 0) return;  // each rank prints the same tree
  device.line = line;
  device.numa = parent.numa;
  if (parent.bridge) device.ancestor = parent.address;
  device.gpu = gpu;
  device.bridge = bridge;
  std::string_view rest = node->rest;
  if ((bridge || node->kind == "DEV") && take_word(rest, " (")) take_number(rest, device.ids, 16);
}

/// A line at the end of a branch: "+ NVL[240.0] - NVS/0", "+ NET[25.0] - NET/0 (...)", "+ SYS[10.0] - CPU/1".
void NcclSystemLines::take_end(const Above& above, std::string_view link, double GBps, std::string_view text,
                               int line) {
  const std::optional<NodeText> node = node_text(text);
  const auto device = devices_.find(above.address);
  if (!node || device == devices_.end()) return;
  if (link == "NET" && node->kind == "NET" && node->number < kMostEntries) {
    if (device->second.gpu || device->second.bridge || device->second.line == 0) return;
    if (!device->second.net) device->second.net = static_cast<int>(node->number);
    if (device->second.net == static_cast<int>(node->number)) device->second.net_GBps = GBps;
  }
  const bool xgmi = link == "XGMI";
  if ((link != "NVL" && !xgmi) || !device->second.gpu || nvlinks_.size() >= kMostEntries) return;
  const auto to = node->kind == "NVS" ? std::optional(std::string()) : address_of(*node);
  const bool to_gpu = node->kind == "GPU" || node->kind == "DEV" || node->kind == "NVS";
  if (to && to_gpu && *to != above.address)
    nvlinks_.try_emplace({above.address, *to}, NvLink{GBps, xgmi, line});
}

void NcclSystemLines::keep_gpu(const std::string& address) {
  const bool known = std::find(gpus_.begin(), gpus_.end(), address) != gpus_.end();
  if (!known && gpus_.size() < kMostGpus) gpus_.push_back(address);
}

void NcclSystemLines::take_paths(std::string_view message, int line) {
  const std::optional<NodeText> from = node_text(message);
  if (!from || from->host != 0) return;
  std::string_view rest = from->rest;
  const auto gpu = address_of(*from);
  if (!gpu || !take_word(rest, " :")) return;
  keep_gpu(*gpu);
  while (!rest.empty()) {
    skip_blanks(rest);
    const std::size_t end = rest.find(')');
    if (end == std::string_view::npos) return;  // cut off
    take_path(*gpu, rest.substr(0, end), line);
    rest.remove_prefix(end + 1);
  }
}

/// "GPU/8000 (2/24.000000/PIX": links on the way, rate, type.
void NcclSystemLines::take_path(const std::string& gpu, std::string_view entry, int line) {
  const std::optional<NodeText> to = node_text(entry);
  if (!to || to->host != 0) return;
  std::string_view rest = to->rest;
  std::uint64_t hops = 0;
  Path path{"", 0, line};
  if (!take_word(rest, " (") || !take_number(rest, hops, 10) || !take_word(rest, "/") ||
      !take_number(rest, path.GBps) || !take_word(rest, "/") || rest.size() > 4)
    return;
  path.type = std::string(rest);
  if (paths_.size() >= kMostEntries * 4 || devices_.size() >= kMostEntries) return;
  if (to->kind == "CPU" && path.type == "PHB") {
    Device& device = devices_[gpu];
    device.gpu = true;
    if (device.line == 0) device.line = line;
    if (!device.numa) device.numa = numa_of(*to);
  }
  if (to->kind == "NVS" && path.type == "NVL")
    nvlinks_.try_emplace({gpu, ""}, NvLink{path.GBps, false, line});
  if (to->kind == "GPU") {
    const auto other = address_of(*to);
    if (!other) return;
    keep_gpu(*other);
    paths_.try_emplace({gpu, *other}, path);
  } else if (to->kind == "NET" && to->number < kMostEntries) {
    paths_.try_emplace({gpu, "NIC" + std::to_string(to->number)}, path);
  }
}

/// "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.2<0>"
void NcclSystemLines::take_adapters(std::string_view text) {
  while (take_word(text, "[")) {
    std::uint64_t number = 0;
    if (!take_number(text, number, 10) || !take_word(text, "]") || number >= kMostEntries) return;
    const std::string_view name = text.substr(0, text.find_first_of(": "));
    adapters_.try_emplace(static_cast<int>(number), printable(std::string(name)));
    text.remove_prefix(std::min(text.find(' '), text.size()));
    skip_blanks(text);
  }
}

}  // namespace lanecast
