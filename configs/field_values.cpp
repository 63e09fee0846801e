#include "configs/field_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "configs/problem_list.hpp"

namespace lanecast {
namespace {

using Result = std::optional<Complaint>;

constexpr std::size_t max_text_bytes = 4096;
constexpr std::size_t max_name_bytes = 64;
constexpr int max_width = 64;  // check_machine knows the widths that exist; this only bounds the number

template <class T>
Result take(T& to, const Reading<T>& reading) {
  if (!reading) return reading.complaint;
  to = *reading.value;
  return std::nullopt;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

Complaint quoted_complaint(FieldType type) {
  return {"text in quotes", std::string("write ") + describe(type) + " without quotes"};
}

Complaint no_such_value() { return {"there is no such value", ""}; }  // the caller's mend lists the values

Result read_width(int& to, const std::string& text) {
  const Reading<int> width = parse_integer(text.empty() || text[0] != 'x' ? "" : text.substr(1));
  if (width && *width.value <= max_width) {
    to = *width.value;
    return std::nullopt;
  }
  const Reading<int> bare = parse_integer(text);
  if (bare && *bare.value <= max_width) return Complaint{"a width begins with `x`", "write `x" + text + "`"};
  return Complaint{"not a width", "write `x1`, `x2`, `x4`, `x8`, `x12` or `x16`"};
}

Result read_name(std::string& to, const std::string& text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  const char* mend = "take letters, digits, `_`, `.` and `-`, at most 64 of them";
  if (text.empty()) return Complaint{"a name is not empty", mend};
  if (text.size() > max_name_bytes) return Complaint{"longer than 64 characters", mend};
  if (text.find_first_not_of(allowed) != std::string::npos) return Complaint{"not a name", mend};
  to = text;
  return std::nullopt;
}

}  // namespace

const char* describe(FieldType type) {
  switch (type) {
    case FieldType::text:
      return "text";
    case FieldType::name:
      return "a name";
    case FieldType::flag:
      return "`true` or `false`";
    case FieldType::integer:
      return "a whole number";
    case FieldType::share:
      return "a number such as `1e-4`";
    case FieldType::bytes:
      return "a size such as `256 KiB`";
    case FieldType::rate:
      return "a rate such as `25.6 GB/s`";
    case FieldType::time:
      return "a time such as `1.2 us`";
    case FieldType::pcie_rate:
      return "a PCIe generation, `gen1` to `gen6`";
    case FieldType::pcie_width:
      return "a width such as `x16`";
    case FieldType::aspm:
      return "`off`, `L0s` or `L1`";
    case FieldType::distance:
      return "`LOC`, `NVL`, `PIX`, `PXB`, `PHB`, `NODE` or `SYS`";
    case FieldType::link_kind:
      return "`pcie`, `nvlink` or `socket`";
    case FieldType::node:
      return "the name of a node";
    case FieldType::cpu:
      break;
  }
  return "the name of a cpu";
}

Result read_field(std::string& to, FieldType type, const FieldText& from, const NodeIndex& /*nodes*/) {
  if (type == FieldType::name) return read_name(to, from.text);
  if (from.text.size() > max_text_bytes) return Complaint{"longer than 4096 bytes", "shorten it"};
  const bool clean = std::all_of(from.text.begin(), from.text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
  });
  if (!clean) return Complaint{"text with control characters", "remove them"};
  to = from.text;
  return std::nullopt;
}

Result read_field(int& to, FieldType type, const FieldText& from, const NodeIndex& nodes) {
  if (type == FieldType::pcie_width) return read_width(to, from.text);
  if (type != FieldType::cpu) {
    return from.quoted ? quoted_complaint(type) : take(to, parse_integer(from.text));
  }
  if (const auto cpu = nodes.find(NodeKind::cpu, from.text)) {
    to = cpu->index;
    return std::nullopt;
  }
  const std::vector<std::string> cpus = nodes.names(NodeKind::cpu);
  const std::string near = nearest(from.text, cpus);
  if (!near.empty()) return Complaint{"there is no such cpu", "did you mean `" + near + "`?"};
  return Complaint{"there is no such cpu",
                   cpus.empty() ? "list it under `cpus:` first" : "the cpus are " + listed(cpus)};
}

Result read_field(std::uint64_t& to, FieldType type, const FieldText& from, const NodeIndex& /*nodes*/) {
  if (from.quoted) return quoted_complaint(type);
  std::uint64_t value = 0;
  const char* end = from.text.data() + from.text.size();
  const auto [stop, failed] = std::from_chars(from.text.data(), end, value);
  if (failed != std::errc() || stop != end) return Complaint{"not a count", "write a whole number from 0 on"};
  to = value;
  return std::nullopt;
}

Result read_field(bool& to, FieldType type, const FieldText& from, const NodeIndex& /*nodes*/) {
  if (from.quoted) return quoted_complaint(type);
  const std::string text = lower(from.text);
  const bool yes = text == "true" || text == "on", no = text == "false" || text == "off";
  if (!yes && !no) return Complaint{"neither true nor false", "write `true` or `false` (or `on`, `off`)"};
  to = yes;
  return std::nullopt;
}

Result read_field(double& to, FieldType type, const FieldText& from, const NodeIndex& /*nodes*/) {
  return from.quoted ? quoted_complaint(type) : take(to, parse_number(from.text));
}

Result read_field(Bytes& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  return take(to, parse_bytes(from.text));
}

Result read_field(BytesPerSecond& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  return take(to, parse_rate(from.text));
}

Result read_field(Seconds& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  return take(to, parse_time(from.text));
}

Result read_field(PcieRate& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  const std::optional<PcieRate> rate = pcie_rate_from_string(from.text);
  if (rate) {
    to = *rate;
    return std::nullopt;
  }
  if (parse_rate(from.text)) return Complaint{"a PCIe link has a generation", "write `gen1` to `gen6`"};
  return Complaint{"not a PCIe generation", "write `gen1` to `gen6`"};
}

Result read_field(Aspm& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  for (const Aspm aspm : {Aspm::off, Aspm::l0s, Aspm::l1}) {
    if (lower(from.text) != lower(to_string(aspm))) continue;
    to = aspm;
    return std::nullopt;
  }
  return no_such_value();
}

Result read_field(Distance& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  const std::optional<Distance> distance = distance_from_string(from.text);
  if (!distance) return no_such_value();
  to = *distance;
  return std::nullopt;
}

Result read_field(LinkKind& to, FieldType /*type*/, const FieldText& from, const NodeIndex& /*nodes*/) {
  for (const LinkKind kind : {LinkKind::pcie, LinkKind::nvlink, LinkKind::socket}) {
    if (from.text != to_string(kind)) continue;
    to = kind;
    return std::nullopt;
  }
  return no_such_value();
}

Result read_field(NodeId& to, FieldType /*type*/, const FieldText& from, const NodeIndex& nodes) {
  return take(to, nodes.find(from.text));
}

std::string show_field(const std::string& value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return value;
}

std::string show_field(int value, FieldType type, const NodeIndex& nodes) {
  if (type == FieldType::pcie_width) return "x" + std::to_string(value);
  if (type == FieldType::cpu) return nodes.name({NodeKind::cpu, value});
  return std::to_string(value);
}

std::string show_field(std::uint64_t value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return std::to_string(value);
}

std::string show_field(bool value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return value ? "true" : "false";
}

std::string show_field(double value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return format_number(value);
}
std::string show_field(Bytes value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return format_bytes(value);
}
std::string show_field(BytesPerSecond value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return format_rate(value);
}
std::string show_field(Seconds value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return format_time(value);
}
std::string show_field(PcieRate value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return to_string(value);
}
std::string show_field(Aspm value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return to_string(value);
}
std::string show_field(Distance value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return to_string(value);
}
std::string show_field(LinkKind value, FieldType /*type*/, const NodeIndex& /*nodes*/) {
  return to_string(value);
}
std::string show_field(NodeId value, FieldType /*type*/, const NodeIndex& nodes) {
  return nodes.reference(value);
}

}  // namespace lanecast
