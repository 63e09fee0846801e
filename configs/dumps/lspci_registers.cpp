#include "configs/dumps/lspci_registers.hpp"

#include <algorithm>
#include <array>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

struct RateRow {
  std::string_view text;
  PcieRate rate;
};

constexpr std::array<RateRow, 6> rates{{
    {"2.5GT/s", PcieRate::gen1},
    {"5GT/s", PcieRate::gen2},
    {"8GT/s", PcieRate::gen3},
    {"16GT/s", PcieRate::gen4},
    {"32GT/s", PcieRate::gen5},
    {"64GT/s", PcieRate::gen6},
}};

std::optional<PcieRate> rate_of(std::string_view registers) {
  const auto text = after(registers, "Speed ");
  if (!text) return std::nullopt;
  for (const RateRow& row : rates) {
    if (text->starts_with(row.text)) return row.rate;
  }
  return std::nullopt;
}

/// Width of a link, x1 to x32. At a cut end only x16 and x32 are sure: "x1" may have been x16.
std::optional<int> width_of(std::string_view registers, bool whole) {
  const auto text = after(registers, "Width x");
  if (!text) return std::nullopt;
  const auto number = leading_number(*text, whole || *text == "16" || *text == "32");
  if (!number || *number < 1 || *number > 32) return std::nullopt;
  return number;
}

/// "256" of "MaxPayload 256 bytes".
std::optional<Bytes> bytes_of(std::string_view registers, std::string_view name) {
  constexpr int least = 128;
  constexpr int most = 4096;
  const auto text = after(registers, name);
  const auto number = text ? leading_number(*text, false) : std::nullopt;
  if (!number || !has(text->substr(0, 12), " bytes")) return std::nullopt;
  if (*number < least || *number > most || (*number & (*number - 1)) != 0) return std::nullopt;
  return Bytes(static_cast<std::uint64_t>(*number));
}

/// The upper limit of "Exit Latency L0s <1us, L1 <16us"; "unlimited" is no number. Releases before 3.3 print
/// "Latency L0 <1us, L1 <16us".
std::optional<Seconds> l1_exit_of(std::string_view registers) {
  const auto latency = after(registers, "Latency ");
  const auto text = latency ? after(*latency, "L1 <") : std::nullopt;
  const auto number = text ? leading_number(*text, false) : std::nullopt;
  if (!number) return std::nullopt;
  const std::string_view unit = text->substr(text->find_first_not_of("0123456789"));
  if (unit.starts_with("us")) return Seconds(*number * 1e-6);
  if (unit.starts_with("ns")) return Seconds(*number * 1e-9);
  return std::nullopt;
}

std::optional<Aspm> aspm_of(std::string_view control) {
  const auto text = after(control, "ASPM ");
  if (!text) return std::nullopt;
  if (text->starts_with("Disabled")) return Aspm::off;
  if (text->starts_with("L0s Enabled")) return Aspm::l0s;
  if (text->starts_with("L1 Enabled") || text->starts_with("L0s L1 Enabled")) return Aspm::l1;
  return std::nullopt;
}

/// A flag of a register: "ReqRedir+".
std::optional<bool> flag_of(std::string_view registers, std::string_view name) {
  const auto text = after(registers, name);
  if (!text || text->empty()) return std::nullopt;
  if (text->front() == '+') return true;
  if (text->front() == '-') return false;
  return std::nullopt;
}

std::optional<PciePort> port_of(std::string_view capability) {
  struct Row {
    std::string_view words;
    PciePort port;
  };
  constexpr std::array<Row, 7> rows{{
      {"Root Port", PciePort::root_port},
      {"Upstream Port", PciePort::upstream_port},
      {"Downstream Port", PciePort::downstream_port},
      {"Integrated Endpoint", PciePort::integrated_endpoint},
      {"Event Collector", PciePort::other},
      {"Endpoint", PciePort::endpoint},
      {"Bridge", PciePort::other},
  }};
  const auto type = after(capability, "Express");
  if (!type) return std::nullopt;
  for (const Row& row : rows) {
    if (has(*type, row.words)) return row.port;
  }
  return std::nullopt;
}

void state_acs(PciFacts& function, const RegisterLine& line, const Place& place) {
  const auto request = flag_of(line.rest, "ReqRedir");
  const auto completion = flag_of(line.rest, "CmpltRedir");
  const bool on = request.value_or(false) || completion.value_or(false);
  if (on || (request && completion)) state(function.acs_redirect, on, place, "ACSCtl");
}

/// A bus number; 0 where there is none, or where the firmware gave the bridge none.
int bus_number(std::string_view registers, std::string_view name) {
  const auto text = after(registers, name);
  if (!text) return 0;
  return static_cast<int>(leading_hex(*text, 2).value_or(0));
}

void state_buses(PciFacts& function, const RegisterLine& line, const Place& place) {
  const int secondary = bus_number(line.rest, "secondary=");
  const int subordinate = bus_number(line.rest, "subordinate=");
  if (secondary == 0) return;
  state(function.secondary_bus, secondary, place, "Bus");
  if (subordinate >= secondary) state(function.subordinate_bus, subordinate, place, "Bus");
}

void state_numa(PciFacts& function, std::string_view number, bool whole, const Place& place) {
  constexpr int most = 4096;
  const auto node = leading_number(trimmed(number), whole);
  if (node && *node < most) state(function.numa, *node, place, "NUMA node");
}

}  // namespace

RegisterLine split_register(std::string_view line, bool whole) {
  constexpr std::size_t longest_key = 24;
  const std::size_t colon = line.substr(0, longest_key).find(':');
  if (colon == std::string_view::npos) return {"", line, whole};
  return {line.substr(0, colon), trimmed(line.substr(colon + 1)), whole};
}

void state_register(PciFacts& function, const RegisterLine& line, const Place& place) {
  const std::string_view key = line.key;
  if (key == "LnkCap") {
    if (const auto rate = rate_of(line.rest)) state(function.max_rate, *rate, place, key);
    if (const auto width = width_of(line.rest, line.whole)) state(function.max_width, *width, place, key);
    if (const auto exit = l1_exit_of(line.rest)) state(function.l1_exit, *exit, place, key);
  } else if (key == "LnkSta") {
    if (const auto rate = rate_of(line.rest)) state(function.rate, *rate, place, key);
    if (const auto width = width_of(line.rest, line.whole)) state(function.width, *width, place, key);
  } else if (key == "LnkCtl") {
    if (const auto aspm = aspm_of(line.rest)) state(function.aspm, *aspm, place, key);
  } else if (key == "DevCap") {
    const auto payload = bytes_of(line.rest, "MaxPayload ");
    if (payload) state(function.max_payload_capability, *payload, place, key);
  } else if (key.empty() && line.rest.starts_with("MaxPayload ")) {  // continues DevCtl
    if (const auto payload = bytes_of(line.rest, "MaxPayload ")) {
      state(function.max_payload, *payload, place, "DevCtl");
    }
    if (const auto request = bytes_of(line.rest, "MaxReadReq ")) {
      state(function.max_read_request, *request, place, "DevCtl");
    }
  } else if (key == "ACSCtl") {
    state_acs(function, line, place);
  } else if (key == "Bus") {
    state_buses(function, line, place);
  } else if (key == "NUMA node") {
    state_numa(function, line.rest, line.whole, place);
  } else if (key == "Flags") {  // -v
    if (const auto node = after(line.rest, "NUMA node ")) state_numa(function, *node, line.whole, place);
  } else if (key == "Physical Slot") {
    if (line.whole && !line.rest.empty()) state(function.slot, plain_name(line.rest), place, key);
  } else if (key == "Capabilities") {
    if (const auto port = port_of(line.rest)) state(function.port, *port, place, "Express");
  }
}

void ErrorBits::begin(const RegisterLine& line, int number) {
  register_ = line.key == "CESta"   ? Register::correctable
              : line.key == "UESta" ? Register::uncorrectable
                                    : Register::none;
  count_ = 0;
  complete_ = false;
  line_ = number;
  if (register_ != Register::none) take(line.rest);
}

void ErrorBits::go_on(const RegisterLine& line) {
  if (register_ != Register::none) take(line.rest);
}

void ErrorBits::take(std::string_view flags) {
  constexpr std::array<std::string_view, 5> correctable{"RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout"};
  constexpr std::array<std::string_view, 12> uncorrectable{"DLP",  "SDES",    "TLP",       "PoisonTLP",
                                                           "FCP",  "CmpltTO", "CmpltAbrt", "UnxCmplt",
                                                           "RxOF", "MalfTLP", "ECRC",      "UncorrIntErr"};
  const bool is_correctable = register_ == Register::correctable;
  const std::string_view last = is_correctable ? "Timeout" : "MalfTLP";  // of each release's first line
  while (!(flags = trimmed(flags)).empty()) {
    const std::size_t end = std::min(flags.find_first_of(" \t"), flags.size());
    const std::string_view word = flags.substr(0, end);
    flags.remove_prefix(end);
    if (word.size() < 2 || (word.back() != '+' && word.back() != '-')) continue;
    const std::string_view name = word.substr(0, word.size() - 1);
    if (name == last) complete_ = true;
    const bool counts =
        is_correctable ? std::find(correctable.begin(), correctable.end(), name) != correctable.end()
                       : std::find(uncorrectable.begin(), uncorrectable.end(), name) != uncorrectable.end();
    if (counts && word.back() == '+') ++count_;
  }
}

void ErrorBits::finish(PciFacts& function, const std::string& file) {
  const Place place{file, line_};
  if (complete_ && register_ == Register::correctable) {
    state(function.corrected_errors, count_, place, "CESta");
  } else if (complete_ && register_ == Register::uncorrectable) {
    state(function.uncorrected_errors, count_, place, "UESta");
  }
  register_ = Register::none;
}

std::optional<MemoryRegion> read_memory_region(std::string_view line) {
  const bool resizable = has(line, "current size: ");
  if (!resizable && !has(line, "Memory at ")) return std::nullopt;
  const auto text = after(line, resizable ? "current size: " : "[size=");
  const auto number = text ? leading_number(*text, false) : std::nullopt;
  if (!number) return std::nullopt;
  const std::string_view unit = text->substr(text->find_first_not_of("0123456789"));
  const std::string_view end = resizable ? "B" : "]";
  constexpr std::string_view units = "KMGT";
  const std::size_t power = units.find(unit.front());
  const bool scaled = power != std::string_view::npos;
  if (!unit.substr(scaled ? 1 : 0).starts_with(end)) return std::nullopt;
  constexpr int most = 1 << 20;  // so that no size overflows
  if (*number < 1 || *number > most) return std::nullopt;
  MemoryRegion region;
  region.size = Bytes(static_cast<std::uint64_t>(*number) << (scaled ? 10 * (power + 1) : 0));
  region.prefetchable = resizable || has(line, ", prefetchable)");
  region.assigned = !has(line, "<unassigned>") && !has(line, "<ignored>");
  return region;
}

}  // namespace lanecast
