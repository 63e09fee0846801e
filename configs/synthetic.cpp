#include "configs/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "configs/line_caret.hpp"
#include "configs/machine_line.hpp"
#include "model/topology/gpu_ids.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t max_nodes = 4096;  // check_machine's limits
constexpr std::uint64_t max_links = 16384;
constexpr int default_sm = 80;
constexpr double default_port_rate = 100e9 / 8;

/// Whether a part is divided into CPUs: then it is none itself.
bool holds_cpus(const LineItem& item) {
  if (item.items.empty()) return false;
  const LineItem& first = item.items.front();  // all stand on one level
  return first.word == LineWord::cpu || (first.word == LineWord::group && holds_cpus(first));
}

/// How many nodes of each kind a line makes; counted before anything is built.
class NodeCounts {
 public:
  NodeCounts(const std::string& line, const MachineLine& parts) : line_(line) {
    for (const LineItem& item : parts.items) add(item, 1, false);
    if (gpus_ == 0) fail_at(line, line.size(), "the machine has no GPU", "add some, such as `4xgpu`");
    const std::uint64_t between_cpus = pairs_of(sockets_) + (cpus_ - sockets_);
    demand_links(between_cpus, parts.items.front().at, "sockets and NUMA nodes");
    if (parts.nvlinks == LineNvlinks::none) return;
    const bool meshed = parts.nvlinks == LineNvlinks::all_pairs;
    demand_links(between_cpus + (meshed ? pairs_of(gpus_) : gpus_), parts.nvlinks_at, "NVLinks");
  }

 private:
  static std::uint64_t pairs_of(std::uint64_t count) { return count < 2 ? 0 : count * (count - 1) / 2; }

  void demand_links(std::uint64_t others, std::size_t at, const char* what) const {
    if (gpus_ + nics_ + switches_ + others <= max_links) return;
    fail_at(line_, at, std::string("with these ") + what + " the machine has more than 16384 links",
            "take fewer parts");
  }

  void add(const LineItem& item, std::uint64_t times, bool in_socket) {
    times *= static_cast<std::uint64_t>(item.count);  // both are at most 4096
    gpus_ += item.word == LineWord::gpu ? times : 0;
    nics_ += item.word == LineWord::nic ? times : 0;
    switches_ += item.word == LineWord::pcie_switch ? times : 0;
    roots_ += item.word == LineWord::root ? times : 0;
    const bool is_socket = item.word == LineWord::socket, is_cpu = item.word == LineWord::cpu;
    sockets_ += is_socket || (is_cpu && !in_socket) ? times : 0;
    cpus_ += is_cpu || (is_socket && !holds_cpus(item)) ? times : 0;
    if (std::max({times, gpus_, nics_, switches_, roots_, cpus_}) > max_nodes) {
      fail_at(line_, item.at, "the machine has more than 4096 of these", "take fewer");
    }
    for (const LineItem& inner : item.items) add(inner, times, in_socket || is_socket);
  }

  const std::string& line_;
  std::uint64_t gpus_ = 0, nics_ = 0, switches_ = 0, roots_ = 0, cpus_ = 0, sockets_ = 0;
};

/// A link's speed with nothing left open.
struct Speed {
  PcieRate rate = PcieRate::gen4;
  int width = 16;
  PcieRate max_rate = PcieRate::gen4;
  int max_width = 16;
  bool rate_by_rule = true;
  bool width_by_rule = true;
};

Speed within(const LineSpeed& inner, const Speed& outer) {
  Speed speed = outer;
  speed.rate = inner.rate.value_or(outer.rate);
  speed.width = inner.width.value_or(outer.width);
  speed.max_rate = inner.max_rate.value_or(inner.rate ? speed.rate : outer.max_rate);
  speed.max_width = inner.max_width.value_or(inner.width ? speed.width : outer.max_width);
  speed.rate_by_rule = outer.rate_by_rule && !inner.rate;
  speed.width_by_rule = outer.width_by_rule && !inner.width;
  return speed;
}

std::string numbered(const char* name, std::size_t number) { return name + std::to_string(number); }

class Builder {
 public:
  Builder(const std::string& line, const MachineLine& parts) : line_(line), parts_(parts) {}

  Machine build() {
    for (const LineItem& item : parts_.items) add(item, {}, Speed{});
    machine_.p2p = parts_.p2p;
    append(uplinks_);
    append(gpu_links_);
    append(nic_links_);
    add_nvlinks();
    add_socket_links();
    describe();
    return std::move(machine_);
  }

 private:
  struct Place {
    std::optional<NodeId> above;  // root or switch
    std::optional<int> cpu;
    std::optional<int> socket;
    std::string model;  // of the socket, for its CPUs
  };

  void add(const LineItem& item, const Place& place, const Speed& outer);
  void add_once(const LineItem& item, const Place& place, const Speed& speed);
  void add_all(const std::vector<LineItem>& items, const Place& place, const Speed& speed);
  int new_cpu(int socket, const std::string& model);
  int cpu_for(const Place& place);
  NodeId above(const Place& place);
  void add_link(std::vector<Link>& list, const std::string& name, NodeId to, const Place& place,
                const LineItem& item, const Speed& around);
  void append(const std::vector<Link>& links) {
    machine_.links.insert(machine_.links.end(), links.begin(), links.end());
  }
  void add_gpu(const LineItem& item, const Place& place, const Speed& speed);
  void add_nic(const LineItem& item, const Place& place, const Speed& speed);
  void add_nvlinks();
  void add_nvlink(const std::string& name, int gpu, NodeId to);
  void add_socket_links();
  void add_socket_link(const std::string& name, int from, int to);
  void describe();

  const std::string& line_;
  const MachineLine& parts_;
  Machine machine_;
  std::vector<Link> uplinks_, gpu_links_, nic_links_;
  int sockets_ = 0;
  bool roots_by_rule_ = false, speeds_by_rule_ = false, cards_by_rule_ = false, ports_by_rule_ = false;
};

void Builder::add(const LineItem& item, const Place& place, const Speed& outer) {
  const Speed speed = within(item.inside, outer);
  for (int i = 0; i < item.count; ++i) add_once(item, place, speed);
}

void Builder::add_all(const std::vector<LineItem>& items, const Place& place, const Speed& speed) {
  for (const LineItem& item : items) add(item, place, speed);
}

void Builder::add_once(const LineItem& item, const Place& place, const Speed& speed) {
  Place inner = place;
  switch (item.word) {
    case LineWord::group:
      break;
    case LineWord::socket:
      inner.socket = sockets_++;
      inner.model = item.model;
      if (!holds_cpus(item)) inner.cpu = new_cpu(*inner.socket, item.model);
      break;
    case LineWord::cpu:
      inner.cpu =
          new_cpu(place.socket ? *place.socket : sockets_++, item.model.empty() ? place.model : item.model);
      break;
    case LineWord::root:
      inner.above = NodeId{NodeKind::root, static_cast<int>(machine_.roots.size())};
      machine_.roots.push_back({numbered("root", machine_.roots.size()), cpu_for(place), {}, {}, {}, ""});
      break;
    case LineWord::pcie_switch: {
      const NodeId self{NodeKind::pcie_switch, static_cast<int>(machine_.switches.size())};
      const std::size_t number = machine_.switches.size();
      machine_.switches.push_back({numbered("sw", number), item.model, item.acs, {}, ""});
      add_link(uplinks_, numbered("uplink", number), self, place, item, speed);
      inner.above = self;
      break;
    }
    case LineWord::gpu:
      return add_gpu(item, place, speed);
    case LineWord::nic:
      return add_nic(item, place, speed);
  }
  add_all(item.items, inner, speed);
}

/// "amd", "intel" or another vendor's name alone, or a model that gives its vendor away.
int Builder::new_cpu(int socket, const std::string& text) {
  Cpu cpu;
  cpu.name = numbered("cpu", machine_.cpus.size());
  cpu.socket = socket;
  constexpr std::array<std::string_view, 5> vendors{"amd", "intel", "arm", "zhaoxin", "ibm"};
  if (std::find(vendors.begin(), vendors.end(), text) != vendors.end()) {
    cpu.vendor = text;
  } else {
    const auto names = [&](const char* word) { return text.find(word) != std::string::npos; };
    cpu.model = text;
    cpu.vendor = names("AMD") || names("EPYC") || names("Ryzen") ? "amd"
                 : names("Intel") || names("Xeon")               ? "intel"
                                                                 : "";
  }
  machine_.cpus.push_back(cpu);
  return static_cast<int>(machine_.cpus.size()) - 1;
}

int Builder::cpu_for(const Place& place) {
  if (place.cpu) return *place.cpu;
  if (machine_.cpus.empty()) new_cpu(0, "");
  return 0;  // parts without a CPU around them all belong to the same one
}

NodeId Builder::above(const Place& place) {
  if (place.above) return *place.above;
  roots_by_rule_ = true;
  const NodeId root{NodeKind::root, static_cast<int>(machine_.roots.size())};
  machine_.roots.push_back({numbered("root", machine_.roots.size()), cpu_for(place), {}, {}, {}, ""});
  return root;
}

void Builder::add_link(std::vector<Link>& list, const std::string& name, NodeId to, const Place& place,
                       const LineItem& item, const Speed& around) {
  const Speed speed = within(item.own, around);
  if (speed.rate > speed.max_rate || speed.width > speed.max_width) {
    const bool own = item.own.rate || item.own.width || item.own.max_rate || item.own.max_width;
    fail_at(line_, own ? item.own.at : item.at,
            "a link runs at " + to_string(speed.rate) + "x" + std::to_string(speed.width) + " and could do " +
                to_string(speed.max_rate) + "x" + std::to_string(speed.max_width),
            "write what the link does before the `/`, what it could do behind it");
  }
  speeds_by_rule_ = speeds_by_rule_ || speed.rate_by_rule || speed.width_by_rule;
  Link link;
  link.name = name;
  link.from = above(place);
  link.to = to;
  link.rate = speed.rate;
  link.width = speed.width;
  link.max_rate = speed.max_rate;
  link.max_width = speed.max_width;
  list.push_back(link);
}

void Builder::add_gpu(const LineItem& item, const Place& place, const Speed& around) {
  Gpu gpu;
  gpu.name = numbered("gpu", machine_.gpus.size());
  gpu.model = item.model;
  const std::optional<PciId> id = pci_id_of_gpu(item.model);
  const std::optional<KnownGpu> known = id ? known_gpu(*id) : std::nullopt;
  gpu.sm = item.sm ? *item.sm : item.model.empty() ? default_sm : known ? known->sm : 0;
  cards_by_rule_ = cards_by_rule_ || (item.model.empty() && !item.sm);
  const NodeId self{NodeKind::gpu, static_cast<int>(machine_.gpus.size())};
  machine_.gpus.push_back(gpu);
  add_link(gpu_links_, gpu.name, self, place, item, around);
}

void Builder::add_nic(const LineItem& item, const Place& place, const Speed& around) {
  Nic nic;
  nic.name = numbered("nic", machine_.nics.size());
  nic.model = item.model;
  nic.rate = item.rate.value_or(BytesPerSecond(default_port_rate));
  ports_by_rule_ = ports_by_rule_ || !item.rate;
  const NodeId self{NodeKind::nic, static_cast<int>(machine_.nics.size())};
  machine_.nics.push_back(nic);
  add_link(nic_links_, nic.name, self, place, item, around);
}

void Builder::add_nvlink(const std::string& name, int gpu, NodeId to) {
  Link link;
  link.name = name;
  link.kind = LinkKind::nvlink;
  link.from = {NodeKind::gpu, gpu};
  link.to = to;
  link.count = parts_.nvlink_count;
  link.lane_rate = parts_.nvlink_rate;
  machine_.links.push_back(link);
}

void Builder::add_nvlinks() {
  const int gpus = static_cast<int>(machine_.gpus.size());
  const auto join = [&](int a, int b) {  // "nv01"; "nv3-12" where digits would run together
    const std::string between = gpus > 10 ? "-" : "";
    add_nvlink("nv" + std::to_string(a) + between + std::to_string(b), a, {NodeKind::gpu, b});
  };
  switch (parts_.nvlinks) {
    case LineNvlinks::none:
      break;
    case LineNvlinks::to_switch:
      machine_.nvswitches.push_back({"nvswitch0", ""});
      for (int i = 0; i < gpus; ++i) add_nvlink("nv" + std::to_string(i), i, {NodeKind::nvswitch, 0});
      break;
    case LineNvlinks::all_pairs:
      for (int a = 0; a < gpus; ++a) {
        for (int b = a + 1; b < gpus; ++b) join(a, b);
      }
      break;
    case LineNvlinks::neighbours:
      for (int a = 0; a + 1 < gpus; a += 2) join(a, a + 1);
      break;
  }
}

void Builder::add_socket_link(const std::string& name, int from, int to) {
  Link link;
  link.name = name;
  link.kind = LinkKind::socket;
  link.from = {NodeKind::cpu, from};
  link.to = {NodeKind::cpu, to};
  link.lane_rate = parts_.socket_rate;
  machine_.links.push_back(link);
}

/// The NUMA nodes of a socket are joined to its first one, these to each other.
void Builder::add_socket_links() {
  std::vector<int> firsts;
  std::size_t dies = 0, sockets = 0;
  for (int i = 0; i < static_cast<int>(machine_.cpus.size()); ++i) {
    const auto socket = static_cast<std::size_t>(machine_.cpus[static_cast<std::size_t>(i)].socket);
    if (socket >= firsts.size()) {
      firsts.push_back(i);
    } else {
      add_socket_link(numbered("die", dies++), firsts[socket], i);
    }
  }
  const std::string& vendor = machine_.cpus.front().vendor;
  const char* name = vendor == "amd" ? "xgmi" : vendor == "intel" ? "upi" : "socket";
  for (std::size_t a = 0; a < firsts.size(); ++a) {
    for (std::size_t b = a + 1; b < firsts.size(); ++b) {
      add_socket_link(numbered(name, sockets++), firsts[a], firsts[b]);
    }
  }
}

std::string name_of_line(const std::string& line) {
  constexpr std::size_t longest = 64;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  std::string name;
  for (const char c : line) {
    if (name.size() == longest) break;
    if (allowed.find(c) != std::string_view::npos) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

void Builder::describe() {
  machine_.name = name_of_line(line_);
  machine_.description = "one-line machine " + line_;
  machine_.source = "none: made from one line (docs/synthetic.md)";
  const auto assume = [&](bool used, const char* rule) {
    if (used) machine_.assumptions.emplace_back(rule);
  };
  assume(speeds_by_rule_, "links without a generation are gen4, without a width x16");
  assume(true, "payload 256 B and read requests 512 B, the usual settings; no ASPM, no errors");
  assume(roots_by_rule_, "each device that hangs on no `root` has a root complex of its own");
  assume(true, "host memory moves 140 GB/s for the devices of a NUMA node");
  assume(machine_.cpus.size() > 1 && !parts_.socket_rate,
         "links between NUMA nodes move what the profile says");
  assume(cards_by_rule_, "GPUs without a model have compute capability 8.0");
  assume(ports_by_rule_, "network adapters without a rate have a port of 100 Gbit/s");
  assume(parts_.nvlinks != LineNvlinks::none && !parts_.nvlink_rate, "an NVLink moves what the profile says");
}

}  // namespace

Machine machine_from_line(const std::string& line) {
  const MachineLine parts = parse_machine_line(line);
  NodeCounts{line, parts};
  return Builder(line, parts).build();
}

bool looks_like_machine_line(const std::string& text) {
  std::size_t at = text.find_first_not_of(" (");
  if (at == std::string::npos) return false;
  if (at > 0 && text[at - 1] == '(') return true;
  const std::size_t digits = text.find_first_not_of("0123456789", at);
  const bool counted = digits != std::string::npos && digits > at && text[digits] == 'x';
  if (counted) at = text.find_first_not_of(' ', digits + 1);
  if (at == std::string::npos) return false;
  if (counted && text[at] == '(') return true;
  for (const std::string_view word : {"socket", "cpu", "root", "sw", "gpu", "nic"}) {
    if (text.compare(at, word.size(), word) != 0) continue;
    const std::size_t end = at + word.size();
    if (counted || end == text.size() ||
        std::string_view(" :([@+,~").find(text[end]) != std::string_view::npos) {
      return true;
    }
  }
  return text.find('/') == std::string::npos && text.find_first_of("(@:") != std::string::npos;
}

}  // namespace lanecast
