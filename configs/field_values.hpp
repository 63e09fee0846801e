#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "configs/node_index.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// What the text of a field of the machine file means.
enum class FieldType {
  text,        // free text on one or more lines, at most 4096 bytes
  name,        // letters, digits, `_`, `.` and `-`, at most 64
  flag,        // true or false (on, off)
  integer,     // a whole number
  share,       // a number without a unit
  bytes,       // "256 KiB"
  rate,        // "25.6 GB/s"
  time,        // "1.2 us"
  pcie_rate,   // "gen4"
  pcie_width,  // "x16"
  aspm,        // "off", "L0s", "L1"
  distance,    // "PIX" ... "SYS"
  link_kind,   // "pcie", "nvlink", "socket"
  node,        // the name of a node of any kind
  cpu,         // the name of a cpu
};

/// A scalar of a YAML file, or the value of a `--set`.
struct FieldText {
  std::string text;
  bool quoted = false;  // in quotes in YAML: then it is no number and no flag
};

/// What a type accepts, for messages and the reference page: "a rate such as `25.6 GB/s`".
const char* describe(FieldType type);

/// Read `from` into `to`, or say why not (then `to` is unchanged). `type` tells apart what one C++ type may
/// mean.
std::optional<Complaint> read_field(std::string& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(int& to, FieldType type, const FieldText& from, const NodeIndex& nodes);
std::optional<Complaint> read_field(std::uint64_t& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(bool& to, FieldType type, const FieldText& from, const NodeIndex& nodes);
std::optional<Complaint> read_field(double& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(Bytes& to, FieldType type, const FieldText& from, const NodeIndex& nodes);
std::optional<Complaint> read_field(BytesPerSecond& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(Seconds& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(PcieRate& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(Aspm& to, FieldType type, const FieldText& from, const NodeIndex& nodes);
std::optional<Complaint> read_field(Distance& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(LinkKind& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);
std::optional<Complaint> read_field(NodeId& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes);

/// A field that may be absent: "auto" makes it so.
template <class T>
std::optional<Complaint> read_field(std::optional<T>& to, FieldType type, const FieldText& from,
                                    const NodeIndex& nodes) {
  if (from.text == "auto") {
    to.reset();
    return std::nullopt;
  }
  T value{};
  if (auto complaint = read_field(value, type, from, nodes)) return complaint;
  to = value;
  return std::nullopt;
}

/// The text that `read_field` reads back to the same value; "" where the field is absent.
std::string show_field(const std::string& value, FieldType type, const NodeIndex& nodes);
std::string show_field(int value, FieldType type, const NodeIndex& nodes);
std::string show_field(std::uint64_t value, FieldType type, const NodeIndex& nodes);
std::string show_field(bool value, FieldType type, const NodeIndex& nodes);
std::string show_field(double value, FieldType type, const NodeIndex& nodes);
std::string show_field(Bytes value, FieldType type, const NodeIndex& nodes);
std::string show_field(BytesPerSecond value, FieldType type, const NodeIndex& nodes);
std::string show_field(Seconds value, FieldType type, const NodeIndex& nodes);
std::string show_field(PcieRate value, FieldType type, const NodeIndex& nodes);
std::string show_field(Aspm value, FieldType type, const NodeIndex& nodes);
std::string show_field(Distance value, FieldType type, const NodeIndex& nodes);
std::string show_field(LinkKind value, FieldType type, const NodeIndex& nodes);
std::string show_field(NodeId value, FieldType type, const NodeIndex& nodes);

template <class T>
std::string show_field(const std::optional<T>& value, FieldType type, const NodeIndex& nodes) {
  return value ? show_field(*value, type, nodes) : "";
}

}  // namespace lanecast
