#include "configs/dumps/live_difference.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "configs/dumps/config_space.hpp"
#include "configs/dumps/sysfs_device.hpp"
#include "configs/dumps/sysfs_values.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t kAmd = 0x1002;

std::string folder_of(const std::string& address) { return "/sys/bus/pci/devices/" + address; }

/// One machine held against the running system.
class Comparison {
 public:
  Comparison(const Machine& machine, const SystemFiles& live) : machine_(machine), system_{live, ""} {}

  std::vector<std::string> differences() {
    for (const Gpu& gpu : machine_.gpus) compare_gpu(gpu);
    find_new_gpus();
    for (const Link& link : machine_.links) {
      if (link.kind == LinkKind::pcie) compare_link(link);
    }
    return std::move(differences_);
  }

 private:
  void compare_gpu(const Gpu& gpu);
  void find_new_gpus();
  void compare_link(const Link& link);
  template <class T, class Read>
  std::optional<T> changed(const Link& link, const std::string& address, const char* field, const char* file,
                           T then, const Read& read) const;
  void compare_width(const Link& link, const std::string& address);
  void compare_rate(const Link& link, const std::string& address, bool may_idle);

  std::string value(const std::string& address, const char* file) const {
    return system_.value(folder_of(address) + "/" + file).value_or("");
  }
  bool is_there(const std::string& address) const {
    return system_.files.resolve(folder_of(address)).has_value();
  }
  /// Whether a card is there and answers: one that fell off the bus keeps its folder, and reads as all ones.
  bool answers(const std::string& address) const {
    if (!is_there(address)) return false;
    if (value(address, "power/runtime_status") == "suspended") return true;  // reading on would wake it
    return !decode_config_space(system_.files.read(folder_of(address) + "/config").value_or("")).gone;
  }
  std::uint32_t vendor_of(const std::string& address) const {
    return hex_number(value(address, "vendor")).value_or(0);
  }
  /// Address of the bridge right above; empty on a root bus.
  std::string port_above(const std::string& address) const {
    const std::string path = system_.files.resolve(folder_of(address)).value_or("");
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    return pci_address(above.substr(above.rfind('/') + 1)).value_or("");
  }
  /// Address of a link's lower end; empty where the file has none.
  std::string lower_end(const Link& link) const {
    const auto index = static_cast<std::size_t>(link.to.index);
    switch (link.to.kind) {
      case NodeKind::gpu:
        return machine_.gpus[index].bdf;
      case NodeKind::nic:
        return machine_.nics[index].bdf;
      case NodeKind::pcie_switch:
        return machine_.switches[index].bdf;
      default:
        return "";
    }
  }
  void add_link(const Link& link, const std::string& now, const std::string& then) {
    differences_.push_back("link `" + printable(link.name) + "` is " + now + " now, " + then +
                           " in the file");
  }

  const Machine& machine_;
  SystemText system_;
  std::vector<std::string> differences_;
};

void Comparison::compare_gpu(const Gpu& gpu) {
  if (gpu.bdf.empty()) return;
  const bool there = answers(gpu.bdf);
  if (there == gpu.present) return;
  differences_.push_back("GPU `" + printable(gpu.name) + "` (" + printable(gpu.bdf) + ") is " +
                         (there ? "back: the file says that it is gone" : "gone"));
}

/// Graphics within the processor are left out: they are of another vendor than the machine's GPUs, or sit on
/// the root bus where those do not.
void Comparison::find_new_gpus() {
  std::set<std::string> known;
  std::set<std::uint32_t> vendors;
  bool on_root_bus = false;
  for (const Gpu& gpu : machine_.gpus) {
    if (gpu.bdf.empty()) return;  // it may be any of those that are there
    known.insert(gpu.bdf);
    if (!is_there(gpu.bdf)) continue;
    vendors.insert(vendor_of(gpu.bdf));
    on_root_bus = on_root_bus || port_above(gpu.bdf).empty();
  }
  for (const std::string& name :
       system_.files.list("/sys/bus/pci/devices").value_or(std::vector<std::string>())) {
    if (known.count(name) != 0) continue;
    const std::uint32_t class_code = hex_number(value(name, "class")).value_or(0);
    const std::uint32_t vendor = vendor_of(name);
    if (!is_accelerator(class_code, vendor) || is_there(name + "/physfn")) continue;
    if (!vendors.empty() && vendors.count(vendor) == 0) continue;
    if (port_above(name).empty() && !on_root_bus) continue;
    differences_.push_back("the GPU at " + printable(name) + " is not in the file");
  }
}

/// What a link's two ends say, the lower one first. One that says what the file says is enough.
template <class T, class Read>
std::optional<T> Comparison::changed(const Link& link, const std::string& address, const char* field,
                                     const char* file, T then, const Read& read) const {
  if (is_assumed(machine_, "links." + link.name + "." + field)) return std::nullopt;
  const std::string port = port_above(address);
  const std::optional<T> lower = read(value(address, file));
  const std::optional<T> upper = port.empty() ? std::nullopt : read(value(port, file));
  if (lower == then || upper == then) return std::nullopt;
  return lower ? lower : upper;
}

void Comparison::compare_width(const Link& link, const std::string& address) {
  const auto width = changed(link, address, "width", "current_link_width", link.width, width_of_link);
  if (width) add_link(link, "x" + std::to_string(*width), "x" + std::to_string(link.width));
}

void Comparison::compare_rate(const Link& link, const std::string& address, bool may_idle) {
  const auto rate = changed(link, address, "rate", "current_link_speed", link.rate, rate_of_link_speed);
  if (!rate) return;
  if (*rate > link.rate || !may_idle) return add_link(link, to_string(*rate), to_string(link.rate));
  for (const std::string& end : {address, port_above(address)}) {
    const auto most = end.empty() ? std::nullopt : rate_of_link_speed(value(end, "max_link_speed"));
    if (!most || *most >= link.rate) continue;
    return add_link(link, "at most " + to_string(*most), to_string(link.rate));
  }
}

void Comparison::compare_link(const Link& link) {
  const std::string address = lower_end(link);
  if (address.empty() || !is_there(address)) return;
  const std::string port = port_above(address);
  if (!link.port.empty() && !port.empty() && port != link.port) {
    return add_link(link, "below port " + printable(port), "below " + printable(link.port));
  }
  if (value(address, "power/runtime_status") == "suspended") return;
  compare_width(link, address);
  // A card of AMD's brings a switch of its own, which slows down with it.
  const bool may_idle = link.to.kind == NodeKind::gpu || vendor_of(address) == kAmd;
  compare_rate(link, address, may_idle);
}

}  // namespace

std::vector<std::string> differences_from_live(const Machine& machine, const SystemFiles& live) {
  if (machine.host.empty()) return {};
  const std::string host(trimmed(live.read("/proc/sys/kernel/hostname").value_or("")));
  if (host != machine.host) return {};
  return Comparison(machine, live).differences();
}

}  // namespace lanecast
