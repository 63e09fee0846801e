#include <set>
#include <sstream>

#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

std::string shown(const std::string& value) { return value; }
std::string shown(BytesPerSecond value) { return std::to_string(value.value()); }
std::string shown(Seconds value) { return std::to_string(value.value() * 1e9) + " ns"; }
std::string shown(Bytes value) { return std::to_string(value.value()); }
std::string shown(PciePort value) { return "port " + std::to_string(static_cast<int>(value)); }
std::string shown(PcieRate value) { return to_string(value); }
std::string shown(Aspm value) { return to_string(value); }
std::string shown(bool value) { return value ? "yes" : "no"; }
std::string shown(int value) { return std::to_string(value); }
std::string shown(std::uint32_t value) { return std::to_string(value); }
std::string shown(std::uint64_t value) { return std::to_string(value); }

class Values {
 public:
  explicit Values(std::string of) : of_(std::move(of)) {}
  template <class T>
  Values& operator()(const char* name, const Statements<T>& statements) {
    for (const Statement<T>& each : statements.all())
      lines_.insert(of_ + " " + name + ": " + shown(each.value));
    return *this;
  }
  const std::set<std::string>& lines() const { return lines_; }

 private:
  std::string of_;
  std::set<std::string> lines_;
};

std::set<std::string> values_of(const std::string& address, const PciFacts& facts) {
  Values values(address);
  values("parent", facts.parent)("root bus", facts.root_bus)("port", facts.port)("secondary",
                                                                                 facts.secondary_bus);
  values("subordinate", facts.subordinate_bus)("numa", facts.numa)("slot", facts.slot)("class",
                                                                                       facts.class_code);
  values("vendor", facts.vendor)("device", facts.device)("present", facts.present)("max rate",
                                                                                   facts.max_rate);
  values("max width", facts.max_width)("rate", facts.rate)("width", facts.width)("aspm", facts.aspm);
  values("max payload", facts.max_payload)("payload capability", facts.max_payload_capability);
  values("read request", facts.max_read_request)("l1 exit", facts.l1_exit)("acs", facts.acs_redirect);
  values("corrected", facts.corrected_errors)("uncorrected", facts.uncorrected_errors)("bar1", facts.bar1);
  values("model", facts.gpu_model)("asleep", facts.asleep)("nic", facts.nic_name)("nic rate", facts.nic_rate);
  return values.lines();
}

}  // namespace

std::string values_of(const MachineFacts& facts) {
  std::ostringstream text;
  const auto add = [&](const std::set<std::string>& lines) {
    for (const std::string& line : lines) text << line << "\n";
  };
  for (const auto& [address, device] : facts.devices) add(values_of(address, device));
  for (const auto& [node, cpu] : facts.cpus) {
    Values values("node " + std::to_string(node));
    add(values("vendor", cpu.vendor)("model", cpu.model)("cores", cpu.cores)("socket", cpu.socket).lines());
  }
  Values machine("machine");
  machine("translation", facts.iommu_translation)("virtualized", facts.virtualized)("host", facts.host);
  add(machine("driver", facts.driver).lines());
  return text.str();
}

}  // namespace lanecast
