#include <algorithm>
#include <map>

#include "configs/machine_fields.hpp"
#include "configs/machine_writer.hpp"
#include "configs/quantity.hpp"
#include "configs/synthetic.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

std::string speed_text(const Link& link) {
  const auto speed = [](PcieRate rate, int width) { return to_string(rate) + "x" + std::to_string(width); };
  const std::string status = speed(link.rate, link.width);
  const std::string capability = speed(link.max_rate, link.max_width);
  return "@" + status + (status == capability ? "" : "/" + capability);
}

std::string without_blanks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

/// The text without what stands in brackets: a model may hold any character.
std::string structure_of(const std::string& text) {
  std::string structure;
  bool in_bracket = false;
  for (const char c : text) {
    if (c == '[') in_bracket = true;
    if (!in_bracket) structure += c;
    if (c == ']') in_bracket = false;
  }
  return structure;
}

/// Whether a text is one part without a `:`, so that an `x` before it and an `@` behind its `)` mean all of
/// it.
bool is_closed(const std::string& text) {
  int depth = 0;
  for (const char c : structure_of(text)) {
    if (depth == 0 && (c == ',' || c == ':')) return false;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  return true;
}

/// "4xgpu,nic": equal neighbours are counted.
std::string list_text(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i;
    while (end < parts.size() && parts[end] == parts[i]) ++end;
    if (!text.empty()) text += ',';
    if (end - i > 1) text += std::to_string(end - i) + "x";
    text += end - i == 1 || is_closed(parts[i]) ? parts[i] : "(" + parts[i] + ")";
    i = end;
  }
  return text;
}

constexpr int none = -1;

/// A part below a root or switch, and the lowest numbers within it.
struct Part {
  std::string text;
  int gpu = none;
  int nic = none;
  int bridge = none;

  bool follows(const Part& other) const {
    const auto behind = [](int mine, int others) { return mine != none && others != none && mine > others; };
    return behind(gpu, other.gpu) || behind(nic, other.nic) || behind(bridge, other.bridge);
  }
};

/// In an order in which a line numbers them as the machine does, if there is one: GPUs, adapters and switches
/// are numbered apart.
std::vector<Part> in_line_order(const std::vector<Part>& parts) {
  std::vector<Part> ordered;
  for (const auto member : {&Part::gpu, &Part::nic, &Part::bridge}) {
    std::vector<Part> next;
    for (const Part& part : parts) {
      const bool earlier =
          (member != &Part::gpu && part.gpu != none) || (member == &Part::bridge && part.nic != none);
      if (!earlier && part.*member != none) next.push_back(part);
    }
    std::sort(next.begin(), next.end(), [&](const Part& a, const Part& b) { return a.*member < b.*member; });
    std::size_t at = ordered.size();
    for (auto part = next.rbegin(); part != next.rend(); ++part) {  // each as late as what follows it allows
      const auto end = ordered.begin() + static_cast<std::ptrdiff_t>(at);
      const auto follower =
          std::find_if(ordered.begin(), end, [&](const Part& each) { return each.follows(*part); });
      at = static_cast<std::size_t>(follower - ordered.begin());
      ordered.insert(follower, *part);
    }
  }
  return ordered;
}

/// Writes the line that a machine could come from. Whether it does is found out by reading it.
class LineWriter {
 public:
  explicit LineWriter(const Machine& machine) : machine_(machine) {
    std::map<std::string, int> uses;
    for (const Link& link : machine.links) {
      if (link.kind != LinkKind::pcie) continue;
      below_[link.from].push_back(&link);
      const std::string speed = speed_text(link);
      if (++uses[speed] > uses[usual_speed_]) usual_speed_ = speed;
    }
  }

  std::string text() const {
    std::string body = hosts();
    if (usual_speed_.empty()) return body + attributes();
    if (!is_closed(body)) body = "(" + body + ")";
    return body + usual_speed_ + attributes();
  }

 private:
  static std::string bracket(const std::string& text) { return text.empty() ? "" : "[" + text + "]"; }

  std::string own_speed(const Link& link) const {
    const std::string speed = speed_text(link);
    return speed == usual_speed_ ? "" : speed;
  }

  /// The parts below a node, as texts; `all` gets the lowest numbers among them.
  std::vector<std::string> parts_below(NodeId id, Part& all) const {
    std::vector<std::string> texts;
    const auto found = below_.find(id);
    if (found == below_.end()) return texts;
    std::vector<Part> parts;
    for (const Link* link : found->second) parts.push_back(part(*link));
    for (const Part& part : in_line_order(parts)) {
      texts.push_back(part.text);
      for (const auto member : {&Part::gpu, &Part::nic, &Part::bridge}) {
        const bool lower = part.*member != none && (all.*member == none || part.*member < all.*member);
        if (lower) all.*member = part.*member;
      }
    }
    return texts;
  }

  Part part(const Link& link) const {
    Part part;
    const int number = link.to.index;
    const auto index = static_cast<std::size_t>(number);
    if (link.to.kind == NodeKind::gpu) {
      part.gpu = number;
      part.text = gpu(machine_.gpus[index]) + own_speed(link);
    } else if (link.to.kind == NodeKind::nic) {
      part.nic = number;
      part.text = nic(machine_.nics[index]) + own_speed(link);
    } else {
      const PcieSwitch& bridge = machine_.switches[index];
      const std::vector<std::string> inner = parts_below(link.to, part);
      const bool alike =
          std::all_of(inner.begin(), inner.end(), [&](const auto& each) { return each == inner[0]; });
      const std::string list = list_text(inner);
      part.bridge = number;
      part.text = "sw" + bracket(bridge.model) + (bridge.acs ? "+acs" : "") + own_speed(link);
      if (!inner.empty()) part.text += alike ? ":" + list : "(" + list + ")";
    }
    return part;
  }

  static std::string gpu(const Gpu& gpu) {
    const std::string sm = "sm" + std::to_string(gpu.sm);
    if (gpu.model.empty()) return gpu.sm == 80 ? "gpu" : "gpu[" + sm + "]";
    const std::string plain = "gpu[" + gpu.model + "]";
    return machine_from_line(plain).gpus[0].sm == gpu.sm ? plain : "gpu[" + gpu.model + "," + sm + "]";
  }

  static std::string nic(const Nic& nic) {
    const std::string port = format_number(nic.rate.value() * 8 / 1e9) + "G";
    if (nic.model.empty() && port == "100G") return "nic";
    return "nic[" + port + (nic.model.empty() ? "" : "," + nic.model) + "]";
  }

  std::vector<std::string> roots_of(int cpu) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < machine_.roots.size(); ++i) {
      if (machine_.roots[i].cpu != cpu) continue;
      Part ignored;
      const auto inner = parts_below({NodeKind::root, static_cast<int>(i)}, ignored);
      if (inner.size() == 1) {
        parts.push_back(inner[0]);
      } else {
        parts.push_back(inner.empty() ? "root" : "root(" + list_text(inner) + ")");
      }
    }
    return parts;
  }

  std::string cpu(int index, const char* word) const {
    const Cpu& cpu = machine_.cpus[static_cast<std::size_t>(index)];
    const std::vector<std::string> parts = roots_of(index);
    return word + bracket(cpu.model.empty() ? cpu.vendor : cpu.model) +
           (parts.empty() ? "" : "(" + list_text(parts) + ")");
  }

  std::string hosts() const {
    const auto& cpus = machine_.cpus;
    if (cpus.size() == 1 && cpus[0].model.empty() && cpus[0].vendor.empty()) return list_text(roots_of(0));
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cpus.size();) {
      std::vector<std::string> nodes;
      const int socket = cpus[i].socket;
      for (; i < cpus.size() && cpus[i].socket == socket; ++i)
        nodes.push_back(cpu(static_cast<int>(i), "cpu"));
      parts.push_back(nodes.size() == 1 ? nodes[0] : "socket(" + list_text(nodes) + ")");
    }
    return list_text(parts);
  }

  std::string attributes() const {
    std::string text;
    std::size_t nvlinks = 0;
    const Link* nvlink = nullptr;
    const Link* socket = nullptr;
    for (const Link& link : machine_.links) {
      if (link.kind == LinkKind::socket) socket = &link;
      if (link.kind != LinkKind::nvlink) continue;
      nvlink = &link;
      ++nvlinks;
    }
    const auto rate = [](const Link& link, const char* sign) {
      return link.lane_rate ? sign + without_blanks(format_rate(*link.lane_rate)) : "";
    };
    if (nvlink != nullptr) {
      const std::size_t gpus = machine_.gpus.size();
      text += !machine_.nvswitches.empty()       ? " nvswitch"
              : nvlinks == gpus * (gpus - 1) / 2 ? " nvlink"
                                                 : " nvpairs";
      text += std::to_string(nvlink->count) + rate(*nvlink, "@");
    }
    if (socket != nullptr && socket->lane_rate) text += " " + rate(*socket, "~");
    if (machine_.p2p.level) text += std::string(" p2p=") + to_string(*machine_.p2p.level);
    if (!machine_.p2p.enabled) text += " p2p=off";
    return text + (machine_.p2p.iommu ? " iommu" : "");
  }

  const Machine& machine_;
  std::map<NodeId, std::vector<const Link*>> below_;
  std::string usual_speed_;
};

/// All that counts in a machine, as text.
std::string substance_of(Machine machine) {
  machine.name = "machine";
  machine.description = machine.source = machine.host = machine.taken = machine.driver = "";
  machine.assumptions.clear();
  machine.assumed.clear();
  for_each_list([&](const char* /*section*/, auto member) {
    for (auto& element : machine.*member) element.source.clear();
  });
  return write_machine(machine);
}

}  // namespace

std::optional<std::string> line_of_machine(const Machine& machine) {
  try {
    const std::string line = LineWriter(machine).text();
    if (substance_of(machine_from_line(line)) == substance_of(machine)) return line;
  } catch (const Error&) {
    // A model with a `]`, for example: the line is not what it would have to be.
  }
  return std::nullopt;
}

}  // namespace lanecast
