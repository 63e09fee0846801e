#include <array>

#include "configs/dumps/lspci_classes.hpp"
#include "configs/dumps/lspci_head.hpp"
#include "configs/dumps/lspci_names.hpp"
#include "configs/dumps/lspci_registers.hpp"
#include "configs/dumps/lspci_text.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// Lines below a head that state something.
bool is_known(const RegisterLine& detail) {
  constexpr std::array<std::string_view, 15> keys{
      "LnkCap",    "LnkSta", "LnkCtl",        "DevCap",       "ACSCtl",
      "CESta",     "UESta",  "Bus",           "Flags",        "Status",
      "NUMA node", "DevCtl", "Physical Slot", "Capabilities", "Kernel driver in use"};
  for (const std::string_view key : keys) {
    if (detail.key == key) return true;
  }
  return detail.key.empty() && detail.rest.starts_with("MaxPayload ");
}

enum class Capability { none, power, of_virtual_functions, other };

Capability capability_of(std::string_view text) {
  if (has(text, "Power Management")) return Capability::power;
  if (has(text, "(SR-IOV)") || has(text, "Virtual Resizable BAR")) return Capability::of_virtual_functions;
  return Capability::other;
}

/// A function whose lines are being read.
struct Function {
  std::string address;        // "": none
  PciFacts* facts = nullptr;  // from the first fact on
  std::size_t indent = 0;     // of its head
  bool indented = false;      // the lines below are indented deeper than the head
  int line = 0;               // of its head
  std::optional<std::uint32_t> class_code;
  bool all_ones = false;    // "(rev ff)"
  bool answers = false;     // its capabilities could be read
  int unreadable_line = 0;  // of "!!! Unknown header type 7f"; 0: not there
  Capability capability = Capability::none;
  ErrorBits errors;
  MemoryRegion window;  // the largest prefetchable one
  int window_line = 0;
};

/// Reads function after function. A head begins one; a prompt, a fence, and (where the lines below the head
/// are indented) any line that is not, end it.
class VerboseReader {
 public:
  VerboseReader(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts), notes_(facts) {}

  void take(const PastedLine& line) {
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return;
    const std::size_t indent = line.text.find_first_not_of(" \t");
    line_ = line.number;
    if (const auto head = read_lspci_head(text)) {
      end_function();
      begin_function(*head, indent, line.whole);
    } else if (text.starts_with("```") || text.starts_with("~~~")) {
      end_function();
    } else if (has(text, "lspci ")) {
      end_function();
      at_.address = asked_function(text);
      at_.indent = indent;
      at_.line = line_;
    } else if (!at_.address.empty()) {
      if (indent > at_.indent) at_.indented = true;
      if (indent <= at_.indent && at_.indented) {
        end_function();
      } else {
        take_detail(split_register(text, line.whole), text);
      }
    }
  }

  int finish() {
    end_function();
    return items_;
  }

 private:
  Place here() const { return {file_, line_}; }
  std::string place() const { return file_ + ":" + std::to_string(line_) + ": "; }

  PciFacts* facts() {
    if (at_.facts == nullptr && !at_.address.empty()) {
      at_.facts = device_facts(facts_, at_.address);
      if (at_.facts != nullptr) ++items_;
    }
    return at_.facts;
  }

  void begin_function(const LspciHead& head, std::size_t indent, bool whole) {
    at_.address = head.address;
    at_.indent = indent;
    at_.line = line_;
    at_.class_code = head.class_code;
    at_.all_ones = head.all_ones;
    PciFacts* function = facts();
    if (function == nullptr) return;
    if (head.class_code) state(function->class_code, *head.class_code, here(), "lspci");
    state_name(*function, read_pci_name(head.name, whole), here(), "lspci");
  }

  void take_detail(const RegisterLine& detail, std::string_view text) {
    const bool known = is_known(detail);
    PciFacts* function = known ? facts() : at_.facts;
    if (known && function == nullptr) return;
    if (detail.key.empty() && !known) {
      at_.errors.go_on(detail);
    } else if (function != nullptr) {
      at_.errors.finish(*function, file_);
    }
    if (text.starts_with("!!! Unknown header type 7f")) at_.unreadable_line = line_;
    take_region(text);
    if (!known) return;
    at_.errors.begin(detail, line_);
    if (detail.key == "Capabilities") take_capability(detail.rest);
    if (detail.key == "Kernel driver in use") take_driver(detail.rest);
    if (detail.key == "Status" && at_.capability == Capability::power) take_power(*function, detail.rest);
    state_register(*function, detail, here());
  }

  void take_capability(std::string_view text) {
    at_.capability = capability_of(text);
    if (!has(text, "<access denied>")) {
      at_.answers = true;
    } else if (!denied_noted_) {
      denied_noted_ = true;
      notes_.add(
          place() +
          "lspci ran without root and shows no capabilities, so speeds, widths, payload sizes, ACS and "
          "error bits are unknown; give what `sudo lspci -vvv` prints");
    }
  }

  /// `Status: D3 NoSoftRst+ ...`: D1 to D3 are asleep.
  void take_power(PciFacts& function, std::string_view status) {
    if (status.size() > 1 && status[0] == 'D' && status[1] >= '1' && status[1] <= '3') {
      state(function.asleep, true, here(), "Power Management");
    }
  }

  void take_driver(std::string_view driver) {
    constexpr std::array<std::string_view, 4> others{"vfio-pci", "pci-stub", "pciback", "nouveau"};
    if (!at_.class_code || !is_accelerator_class(*at_.class_code)) return;
    for (const std::string_view each : others) {
      if (driver != each) continue;
      notes_.add(place() + at_.address + " is bound to the driver " + std::string(each) +
                 ", so no program of this system computes on it; bind it to its vendor's driver");
    }
  }

  /// Others reach a GPU's memory through its largest prefetchable region: BAR1 of NVIDIA's, BAR0 of AMD's.
  void take_region(std::string_view text) {
    if (at_.capability == Capability::of_virtual_functions) return;
    const auto region = read_memory_region(text);
    if (!region || !region->prefetchable || region->size.value() <= at_.window.size.value()) return;
    at_.window = *region;
    at_.window_line = line_;
  }

  void state_window(PciFacts& function) {
    if (at_.window.size.value() == 0 || (at_.class_code && !is_accelerator_class(*at_.class_code))) return;
    if (at_.window.assigned) {
      state(function.bar1, at_.window.size, Place{file_, at_.window_line}, "Region");
    } else if (at_.class_code) {
      notes_.add(file_ + ":" + std::to_string(at_.window_line) + ": the window into the memory of " +
                 at_.address +
                 " has no address, so no other device can reach it; turn on `Above 4G Decoding` in the "
                 "firmware's setup");
    }
  }

  /// Reads of a function that fell off its bus, or that has no power, return all ones: header type 7f,
  /// revision ff. From 3.8 on, lspci prints the revision that the kernel remembers.
  void state_absence(PciFacts& function) {
    if (at_.unreadable_line > 0) {
      state(function.present, false, Place{file_, at_.unreadable_line}, "header type 7f");
    } else if (at_.all_ones && !at_.answers) {
      state(function.present, false, Place{file_, at_.line}, "rev ff");
    }
  }

  void end_function() {
    if (PciFacts* function = at_.window.size.value() > 0 ? facts() : at_.facts) {
      at_.errors.finish(*function, file_);
      state_window(*function);
      state_absence(*function);
    }
    at_ = Function();
  }

  const std::string& file_;
  MachineFacts& facts_;
  Notes notes_;
  Function at_;
  int line_ = 0;
  int items_ = 0;
  bool denied_noted_ = false;
};

}  // namespace

int read_lspci_verbose(std::string_view text, const std::string& file, MachineFacts& facts) {
  VerboseReader reader(file, facts);
  PastedLines lines(text);
  while (const auto line = lines.next()) reader.take(*line);
  return reader.finish();
}

}  // namespace lanecast
