#include "configs/dumps/sysfs_device.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "configs/dumps/config_space.hpp"
#include "configs/dumps/device_role.hpp"
#include "configs/dumps/sysfs_values.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

// Status bits that count as errors (pci_regs.h): those of the link and its packets. Unsupported requests,
// access violations and advisory errors are left out, since firmware causes them while it looks for devices.
// Corrected: receiver, bad TLP, bad DLLP, replay rollover, replay timeout.
constexpr std::uint32_t kCorrectedKinds = 1U << 0 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 12;
// Uncorrected: data link, surprise down, poisoned, flow control, completion timeout, abort, unexpected,
// overflow, malformed, ECRC, internal.
constexpr std::uint32_t kUncorrectedKinds = 3U << 4 | 0xffU << 12 | 1U << 22;

/// Statements about one function, each with the file that it comes from.
class DeviceReader {
 public:
  DeviceReader(const SystemText& system, std::string folder, SysfsDevice& device, PciFacts& facts)
      : system_(system), folder_(std::move(folder)), device_(device), facts_(facts) {}

  void all();

 private:
  void power();
  bool identity();
  void link();
  void errors();
  void power_saving();
  void window();
  void config();

  std::optional<std::string> value(const std::string& name) const {
    return system_.value(folder_ + "/" + name);
  }
  std::string place(const std::string& name) const { return system_.place(folder_ + "/" + name); }

  template <class T>
  void add(Statements<T>& statements, T value, const std::string& name) {
    statements.add(std::move(value), place(name));
    told_.insert(&statements);
  }

  template <class T, class Read>
  void state(Statements<T>& statements, const std::string& name, const Read& read) {
    const std::optional<std::string> text = value(name);
    if (!text) return;
    if (const std::optional<T> good = read(*text)) add(statements, *good, name);
  }

  /// What the configuration space says where no file of its own does: the two may be read at different
  /// moments, and must not contradict each other for that.
  template <class T>
  void fill(Statements<T>& statements, const std::optional<T>& good, const std::string& name) {
    if (good && told_.count(&statements) == 0) statements.add(*good, place("config") + " " + name);
  }

  const SystemText& system_;
  std::string folder_;
  SysfsDevice& device_;
  PciFacts& facts_;
  std::set<const void*> told_;  // the statements to which this reader has added
};

void DeviceReader::all() {
  if (!identity()) return;
  power();  // what follows may wake the device
  link();
  errors();
  power_saving();
  window();
  config();
}

void DeviceReader::power() {
  if (value("power/runtime_status") == "suspended") return add(facts_.asleep, true, "power/runtime_status");
  const std::optional<std::string> state = value("power_state");
  if (state && state->compare(0, 2, "D3") == 0) add(facts_.asleep, true, "power_state");
}

/// What it is; true where it is read in full.
bool DeviceReader::identity() {
  device_.class_code = hex_number(value("class").value_or(""));
  device_.vendor = hex_number(value("vendor").value_or(""));
  if (device_.class_code) add(facts_.class_code, *device_.class_code, "class");
  if (device_.vendor) add(facts_.vendor, *device_.vendor, "vendor");
  if (!device_.class_code || !is_read_in_full(*device_.class_code, device_.vendor.value_or(0))) return false;
  state(facts_.device, "device", hex_number);
  state(facts_.numa, "numa_node", [](const std::string& text) {
    const std::optional<int> node = whole_number(text);
    return node && *node >= 0 ? node : std::nullopt;
  });
  state(facts_.secondary_bus, "secondary_bus_number", whole_number);
  state(facts_.subordinate_bus, "subordinate_bus_number", whole_number);
  return true;
}

void DeviceReader::link() {
  state(facts_.max_rate, "max_link_speed", rate_of_link_speed);
  state(facts_.max_width, "max_link_width", width_of_link);
  state(facts_.rate, "current_link_speed", rate_of_link_speed);
  state(facts_.width, "current_link_width", width_of_link);
}

/// A root port's totals count what its own counters count too: they serve where those are absent.
void DeviceReader::errors() {
  const auto uncorrected = [&](const std::string& nonfatal, const std::string& fatal) {
    const auto first = error_total(value(nonfatal).value_or(""));
    const auto second = error_total(value(fatal).value_or(""));
    if (!first && !second) return false;
    const std::uint64_t sum = first.value_or(0) + second.value_or(0);
    const bool overflow = sum < second.value_or(0);
    add(facts_.uncorrected_errors, overflow ? ~std::uint64_t{0} : sum, first ? nonfatal : fatal);
    return true;
  };
  const bool own = value("aer_dev_correctable").has_value();
  state(facts_.corrected_errors, own ? "aer_dev_correctable" : "aer_rootport_total_err_cor", error_total);
  if (!uncorrected("aer_dev_nonfatal", "aer_dev_fatal")) {
    uncorrected("aer_rootport_total_err_nonfatal", "aer_rootport_total_err_fatal");
  }
}

void DeviceReader::power_saving() {
  const std::optional<std::string> l0s = value("link/l0s_aspm");
  const std::optional<std::string> l1 = value("link/l1_aspm");
  if (l1 == "1") {
    add(facts_.aspm, Aspm::l1, "link/l1_aspm");
  } else if (l0s == "1") {
    add(facts_.aspm, Aspm::l0s, "link/l0s_aspm");
  } else if (l0s || l1) {
    add(facts_.aspm, Aspm::off, l1 ? "link/l1_aspm" : "link/l0s_aspm");
  }
}

void DeviceReader::window() {
  if (!is_accelerator(*device_.class_code, device_.vendor.value_or(0))) return;
  const std::optional<Window> window = memory_window(value("resource").value_or(""));
  if (window && window->assigned) add(facts_.bar1, window->size, "resource");
  device_.window_unassigned = window && !window->assigned;
}

void DeviceReader::config() {
  const std::optional<std::string> bytes = system_.files.read(folder_ + "/config");
  if (!bytes) return;
  const ConfigSpace config = decode_config_space(*bytes);
  device_.capabilities_hidden = config.capabilities_hidden;
  device_.slot_below = config.slot;
  // A sleeping card whose port is off reads as all ones, too.
  if (config.gone && told_.count(&facts_.asleep) == 0) facts_.present.add(false, place("config"));
  fill(facts_.secondary_bus, config.secondary_bus, "(header)");
  fill(facts_.subordinate_bus, config.subordinate_bus, "(header)");
  fill(facts_.port, config.port, "(Express)");
  fill(facts_.max_payload_capability, config.max_payload_capability, "(DevCap)");
  fill(facts_.max_payload, config.max_payload, "(DevCtl)");
  fill(facts_.max_read_request, config.max_read_request, "(DevCtl)");
  fill(facts_.max_rate, config.max_rate, "(LnkCap)");
  fill(facts_.max_width, config.max_width, "(LnkCap)");
  fill(facts_.rate, config.rate, "(LnkSta)");
  fill(facts_.width, config.width, "(LnkSta)");
  fill(facts_.aspm, config.aspm, "(LnkCtl)");
  fill(facts_.l1_exit, config.l1_exit, "(LnkCap)");
  fill(facts_.acs_redirect, config.acs_redirect, "(ACSCtl)");
  const auto kinds = [](const std::optional<std::uint32_t>& status, std::uint32_t counted) {
    return status ? std::optional(static_cast<std::uint64_t>(std::popcount(*status & counted)))
                  : std::nullopt;
  };
  fill(facts_.corrected_errors, kinds(config.corrected_status, kCorrectedKinds), "(CESta: kinds of error)");
  fill(facts_.uncorrected_errors, kinds(config.uncorrected_status, kUncorrectedKinds),
       "(UESta: kinds of error)");
}

/// "pci0000:20" of a path of sysfs -> "0000:20"
std::optional<std::string> root_bus_in(const std::string& part) {
  if (part.compare(0, 3, "pci") != 0) return std::nullopt;
  const std::optional<std::string> address = pci_address(part.substr(3) + ":00.0");
  return address ? std::optional(bus_of(*address)) : std::nullopt;
}

/// Where a function sits. The canonical path lists every bridge above it (facts.md F2).
struct TreePlace {
  std::string address;
  std::string parent;
  std::string root_bus;
};

TreePlace tree_place(const std::string& path) {
  TreePlace place;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (const auto bus = root_bus_in(part)) {
      place = {"", "", *bus};  // the last one: some controllers have a root bus of their own below them
    } else if (const auto function = pci_address(part)) {
      place.parent = std::exchange(place.address, *function);
    }
    begin = end + 1;
  }
  return place;
}

}  // namespace

std::optional<std::string> SystemText::value(const std::string& path) const {
  const std::optional<std::string> text = files.read(path);
  if (!text) return std::nullopt;
  std::string kept(trimmed(*text));
  return kept.empty() ? std::nullopt : std::optional(std::move(kept));
}

std::string SystemText::place(const std::string& path) const {
  const int line = files.line_of(path);
  return from + (line > 0 ? ":" + std::to_string(line) : "") + " (" + printable(path) + ")";
}

bool is_accelerator(std::uint32_t class_code, std::uint32_t vendor) {
  PciFacts facts;
  facts.class_code.add(class_code, "");
  facts.vendor.add(vendor, "");
  return role_of(facts) == DeviceRole::gpu;
}

bool is_bridge(std::uint32_t class_code) { return class_code >> 8 == 0x0604; }

bool is_network(std::uint32_t class_code) { return class_code >> 16 == 0x02; }

bool is_read_in_full(std::uint32_t class_code, std::uint32_t vendor) {
  constexpr std::uint32_t other_bridge = 0x0680;  // NVSwitches are of this class
  return is_bridge(class_code) || is_network(class_code) || is_accelerator(class_code, vendor) ||
         class_code >> 8 == other_bridge;
}

std::optional<std::string> function_of(const std::string& resolved_path) {
  for (std::size_t end = resolved_path.size(); end > 0;) {
    const std::size_t slash = resolved_path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (const auto address = pci_address(resolved_path.substr(begin, end - begin))) return address;
    end = slash == std::string::npos ? 0 : slash;
  }
  return std::nullopt;
}

std::optional<SysfsDevice> read_sysfs_device(const SystemText& system, const std::string& folder,
                                             MachineFacts& facts) {
  const std::optional<std::string> path = system.files.resolve(folder);
  if (!path || system.files.resolve(folder + "/physfn")) return std::nullopt;
  const TreePlace place = tree_place(*path);
  if (place.address.empty()) return std::nullopt;
  SysfsDevice device;
  device.address = place.address;
  PciFacts& own = facts.devices[place.address];
  own.parent.add(place.parent, system.place(folder));
  if (!place.root_bus.empty()) own.root_bus.add(place.root_bus, system.place(folder));
  DeviceReader(system, folder, device, own).all();
  return device;
}

}  // namespace lanecast
