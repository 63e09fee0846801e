#pragma once
#include <span>
#include <string>
#include <vector>

#include "configs/field_values.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// The link kinds that a field belongs to, as bits: `1 << LinkKind`. Fields of nodes belong to all.
using LinkKinds = unsigned;
constexpr LinkKinds kinds_of(LinkKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr LinkKinds all_link_kinds = 7;

/// One key of the machine file: what the reader, `--set`, `config explain`, the JSON Schema and the reference
/// page know about it.
struct FieldInfo {
  std::string section;  // "links"; "" at the top of the file
  std::string key;
  FieldType type = FieldType::text;
  LinkKinds kinds = all_link_kinds;
  bool required = false;
  bool settable = true;      // by `--set`
  std::string default_text;  // what holds where the key is missing, in words or as a value; "" where required
  std::string doc;
};

/// A key together with the member of `T` that it fills.
template <class T>
struct Field {
  FieldInfo info;
  std::optional<Complaint> (*read)(T& to, FieldType type, const FieldText& from, const NodeIndex& nodes);
  std::string (*show)(const T& from, FieldType type, const NodeIndex& nodes);
};

/// The keys of a T: Machine (the top of the file), Cpu, RootComplex, PcieSwitch, Gpu, NvSwitch, Nic, Link,
/// PeerAccess.
template <class T>
const std::vector<Field<T>>& fields();
template <>
const std::vector<Field<Machine>>& fields<Machine>();
template <>
const std::vector<Field<Cpu>>& fields<Cpu>();
template <>
const std::vector<Field<RootComplex>>& fields<RootComplex>();
template <>
const std::vector<Field<PcieSwitch>>& fields<PcieSwitch>();
template <>
const std::vector<Field<Gpu>>& fields<Gpu>();
template <>
const std::vector<Field<NvSwitch>>& fields<NvSwitch>();
template <>
const std::vector<Field<Nic>>& fields<Nic>();
template <>
const std::vector<Field<Link>>& fields<Link>();
template <>
const std::vector<Field<PeerAccess>>& fields<PeerAccess>();

/// The keys of all sections in the order of the file.
std::vector<FieldInfo> all_fields();

/// The format number that this build reads and writes: `lanecast: 1`.
constexpr int machine_format = 1;

/// Calls visit("cpus", &Machine::cpus) ... for each section that is a list; nodes come before what refers to
/// them.
template <class Visitor>
void for_each_list(Visitor&& visit) {
  visit("cpus", &Machine::cpus);
  visit("roots", &Machine::roots);
  visit("switches", &Machine::switches);
  visit("gpus", &Machine::gpus);
  visit("nvswitches", &Machine::nvswitches);
  visit("nics", &Machine::nics);
  visit("links", &Machine::links);
}

/// True where a field belongs to this element: always, except for links of another kind.
template <class T>
bool applies(const FieldInfo& /*field*/, const T& /*element*/) {
  return true;
}
inline bool applies(const FieldInfo& field, const Link& link) {
  return (field.kinds & kinds_of(link.kind)) != 0;
}

/// What an element is where the file leaves out all that it may: a link's capability is its status, for
/// example.
template <class T>
T baseline(const T& /*element*/) {
  return T{};
}
inline Link baseline(const Link& link) {
  Link plain;
  plain.kind = link.kind;
  plain.max_rate = link.rate;
  plain.max_width = link.width;
  return plain;
}

}  // namespace lanecast
