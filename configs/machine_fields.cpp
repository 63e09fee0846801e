#include "configs/machine_fields.hpp"

namespace lanecast {
namespace {

constexpr LinkKinds pcie = kinds_of(LinkKind::pcie);
constexpr LinkKinds nvlink = kinds_of(LinkKind::nvlink);
constexpr LinkKinds socket = kinds_of(LinkKind::socket);

/// What sets a key apart from an optional, settable one whose default is the struct's.
struct Traits {
  bool required = false;
  bool settable = true;
  LinkKinds kinds = all_link_kinds;
  const char* default_text = nullptr;  // in words, where the struct's own value says nothing
};

template <class T, class V>
T owner(V T::*);

template <auto member>
Field<decltype(owner(member))> field(const char* section, const char* key, FieldType type, const char* doc,
                                     const Traits& traits = {}) {
  using T = decltype(owner(member));
  Field<T> made;
  made.read = [](T& to, FieldType as, const FieldText& from, const NodeIndex& nodes) {
    return read_field(to.*member, as, from, nodes);
  };
  made.show = [](const T& from, FieldType as, const NodeIndex& nodes) {
    return show_field(from.*member, as, nodes);
  };
  std::string default_text;
  if (traits.default_text != nullptr) {
    default_text = traits.default_text;
  } else if (!traits.required) {
    const Machine nothing;
    default_text = made.show(T{}, type, NodeIndex(nothing));
    if (default_text.empty()) default_text = "none";
  }
  made.info = {section, key, type, traits.kinds, traits.required, traits.settable, default_text, doc};
  return made;
}

constexpr const char* source_doc =
    "where these numbers come from; a measurement says from which machine and when";
constexpr Traits identity{.required = true, .settable = false};

template <class T>
void append(std::vector<FieldInfo>& all) {
  for (const Field<T>& each : fields<T>()) all.push_back(each.info);
}

}  // namespace

template <>
const std::vector<Field<Machine>>& fields<Machine>() {
  static const std::vector<Field<Machine>> table{
      field<&Machine::name>("", "machine", FieldType::name, "the machine's name", identity),
      field<&Machine::description>("", "description", FieldType::text, "one sentence for lists",
                                   {.settable = false}),
      field<&Machine::source>("", "source", FieldType::text, source_doc, {.settable = false}),
      field<&Machine::profile>("", "profile", FieldType::name, "the profile to predict with",
                               {.settable = false, .default_text = "chosen by rule"}),
      field<&Machine::host>("", "host", FieldType::text, "name of the computer that this was read from",
                            {.settable = false}),
      field<&Machine::taken>("", "taken", FieldType::text, "when it was read: 2026-11-30T06:25:03Z",
                             {.settable = false}),
      field<&Machine::driver>("", "driver", FieldType::text, "version of the GPUs' driver",
                              {.settable = false}),
      field<&Machine::virtualized>("", "virtualized", FieldType::flag,
                                   "a virtual machine, which may hide bridges and link states",
                                   {.settable = false, .default_text = "unknown"}),
  };
  return table;
}

template <>
const std::vector<Field<Cpu>>& fields<Cpu>() {
  static const std::vector<Field<Cpu>> table{
      field<&Cpu::name>("cpus", "name", FieldType::name, "name of this NUMA node", identity),
      field<&Cpu::vendor>("cpus", "vendor", FieldType::text, "intel, amd, arm, zhaoxin, ibm or unknown"),
      field<&Cpu::model>("cpus", "model", FieldType::text, "as the vendor prints it"),
      field<&Cpu::socket>("cpus", "socket", FieldType::integer,
                          "number of the socket that this NUMA node is part of"),
      field<&Cpu::memory_rate>("cpus", "memory_rate", FieldType::rate,
                               "host memory's rate as devices see it, both directions together"),
      field<&Cpu::numa>("cpus", "numa", FieldType::integer, "the operating system's number of this NUMA node",
                        {.default_text = "unknown"}),
      field<&Cpu::cores>("cpus", "cores", FieldType::text,
                         "its cores, as the system lists them: `0-63,128-191`"),
      field<&Cpu::source>("cpus", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<RootComplex>>& fields<RootComplex>() {
  static const std::vector<Field<RootComplex>> table{
      field<&RootComplex::name>("roots", "name", FieldType::name, "name of the root complex (host bridge)",
                                identity),
      field<&RootComplex::cpu>("roots", "cpu", FieldType::cpu, "the NUMA node that it belongs to",
                               {.required = true}),
      field<&RootComplex::p2p_rate>("roots", "p2p_rate", FieldType::rate,
                                    "limit of all peer traffic through this root together",
                                    {.default_text = "no limit of its own"}),
      field<&RootComplex::p2p_port_rate>("roots", "p2p_port_rate", FieldType::rate,
                                         "limit of peer traffic through one of its root ports, per direction",
                                         {.default_text = "no limit of its own"}),
      field<&RootComplex::latency>("roots", "latency", FieldType::time, "one traversal",
                                   {.default_text = "the profile's"}),
      field<&RootComplex::bus>("roots", "bus", FieldType::text, "its root bus, `0000:20`"),
      field<&RootComplex::source>("roots", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<PcieSwitch>>& fields<PcieSwitch>() {
  static const std::vector<Field<PcieSwitch>> table{
      field<&PcieSwitch::name>("switches", "name", FieldType::name, "name of the switch", identity),
      field<&PcieSwitch::model>("switches", "model", FieldType::text, "as `lspci` or the vendor prints it"),
      field<&PcieSwitch::acs>(
          "switches", "acs", FieldType::flag,
          "request redirect on its downstream ports: peer traffic goes up to the root and back"),
      field<&PcieSwitch::latency>("switches", "latency", FieldType::time, "one traversal, cut through",
                                  {.default_text = "the profile's"}),
      field<&PcieSwitch::bdf>("switches", "bdf", FieldType::text, "PCI address of its upstream port"),
      field<&PcieSwitch::source>("switches", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<Gpu>>& fields<Gpu>() {
  static const std::vector<Field<Gpu>> table{
      field<&Gpu::name>("gpus", "name", FieldType::name, "name of the GPU", identity),
      field<&Gpu::model>("gpus", "model", FieldType::text, "as the vendor prints it: `Tesla V100-PCIE-16GB`"),
      field<&Gpu::sm>("gpus", "sm", FieldType::integer,
                      "compute capability times ten (70, 80, 90, 120); 0: unknown or another vendor"),
      field<&Gpu::present>("gpus", "present", FieldType::flag,
                           "false: the card is gone, rings close over the rest"),
      field<&Gpu::p2p>("gpus", "p2p", FieldType::flag, "can take and make peer accesses",
                       {.default_text = "known from the model"}),
      field<&Gpu::l2>("gpus", "l2", FieldType::bytes, "last-level cache",
                      {.default_text = "unknown: no gain from it"}),
      field<&Gpu::bdf>("gpus", "bdf", FieldType::text, "PCI address, `0000:3b:00.0`"),
      field<&Gpu::memory>("gpus", "memory", FieldType::bytes, "its own memory", {.default_text = "unknown"}),
      field<&Gpu::bar1>("gpus", "bar1", FieldType::bytes,
                        "window through which others reach its memory (BAR1)", {.default_text = "unknown"}),
      field<&Gpu::source>("gpus", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<NvSwitch>>& fields<NvSwitch>() {
  static const std::vector<Field<NvSwitch>> table{
      field<&NvSwitch::name>("nvswitches", "name", FieldType::name, "name of the NVSwitch", identity),
      field<&NvSwitch::source>("nvswitches", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<Nic>>& fields<Nic>() {
  static const std::vector<Field<Nic>> table{
      field<&Nic::name>("nics", "name", FieldType::name, "name of the network adapter", identity),
      field<&Nic::rate>("nics", "rate", FieldType::rate, "of the network port, per direction",
                        {.required = true}),
      field<&Nic::model>("nics", "model", FieldType::text, "as `lspci` prints it"),
      field<&Nic::bdf>("nics", "bdf", FieldType::text, "PCI address"),
      field<&Nic::source>("nics", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<Link>>& fields<Link>() {
  static const std::vector<Field<Link>> table{
      field<&Link::name>("links", "name", FieldType::name,
                         "name of the link; a GPU's own is named as the GPU", identity),
      field<&Link::kind>("links", "kind", FieldType::link_kind, "what runs on it", {.settable = false}),
      field<&Link::from>("links", "from", FieldType::node, "PCIe: the upstream end, a root or switch",
                         {.required = true}),
      field<&Link::to>("links", "to", FieldType::node, "PCIe: the downstream end, a switch, gpu or nic",
                       {.required = true}),
      field<&Link::rate>("links", "rate", FieldType::pcie_rate,
                         "PCIe generation that the link runs at (LnkSta)", {.required = true, .kinds = pcie}),
      field<&Link::width>("links", "width", FieldType::pcie_width, "lanes that the link runs with (LnkSta)",
                          {.required = true, .kinds = pcie}),
      field<&Link::max_rate>("links", "max_rate", FieldType::pcie_rate,
                             "generation that both ends could do (LnkCap)",
                             {.kinds = pcie, .default_text = "same as rate"}),
      field<&Link::max_width>("links", "max_width", FieldType::pcie_width,
                              "lanes that both ends could use (LnkCap)",
                              {.kinds = pcie, .default_text = "same as width"}),
      field<&Link::mps>("links", "mps", FieldType::bytes,
                        "Maximum Payload Size set here (DevCtl), 128 B to 4 KiB", {.kinds = pcie}),
      field<&Link::mrrs>("links", "mrrs", FieldType::bytes,
                         "Maximum Read Request Size of the device below (DevCtl), 128 B to 4 KiB",
                         {.kinds = pcie}),
      field<&Link::replay_rate>("links", "replay_rate", FieldType::share,
                                "share of packets sent again, 0 to 0.5", {.kinds = pcie}),
      field<&Link::aspm>("links", "aspm", FieldType::aspm,
                         "power state that the link may enter when idle (LnkCtl)", {.kinds = pcie}),
      field<&Link::count>("links", "count", FieldType::integer,
                          "bonded NVLinks, the N of `NVN` in `nvidia-smi topo -m`", {.kinds = nvlink}),
      field<&Link::lane_rate>("links", "rate", FieldType::rate,
                              "per direction: of one NVLink of the bundle, or of the whole socket link",
                              {.kinds = nvlink | socket, .default_text = "20 GB/s, assumed"}),
      field<&Link::latency>("links", "latency", FieldType::time,
                            "one way, on top of its ends' (cable, retimer); socket links: the crossing",
                            {.default_text = "none; socket links: the profile's"}),
      field<&Link::device_max_rate>("links", "device_max_rate", FieldType::pcie_rate,
                                    "generation that the device below could do in a better slot",
                                    {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::device_max_width>("links", "device_max_width", FieldType::pcie_width,
                                     "lanes that the device below could use in a better slot",
                                     {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::max_mps>("links", "max_mps", FieldType::bytes,
                            "payload that both ends could take (DevCap)",
                            {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::idle>("links", "idle", FieldType::flag,
                         "the card slept when its link was read: `rate` is what it should do awake",
                         {.kinds = pcie}),
      field<&Link::port>("links", "port", FieldType::text, "PCI address of the port above", {.kinds = pcie}),
      field<&Link::slot>("links", "slot", FieldType::text, "physical slot of the device below",
                         {.kinds = pcie}),
      field<&Link::corrected_errors>("links", "corrected_errors", FieldType::integer,
                                     "corrected errors that both ends have counted (AER)",
                                     {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::uncorrected_errors>("links", "uncorrected_errors", FieldType::integer,
                                       "uncorrected errors that both ends have counted (AER)",
                                       {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::replays>("links", "replays", FieldType::integer,
                            "packets sent again since reset (nvidia-smi)",
                            {.kinds = pcie, .default_text = "unknown"}),
      field<&Link::source>("links", "source", FieldType::text, source_doc),
  };
  return table;
}

template <>
const std::vector<Field<PeerAccess>>& fields<PeerAccess>() {
  static const std::vector<Field<PeerAccess>> table{
      field<&PeerAccess::enabled>("p2p", "enabled", FieldType::flag,
                                  "false: no peer access at all (driver, NCCL_P2P_DISABLE=1)"),
      field<&PeerAccess::level>("p2p", "level", FieldType::distance,
                                "farthest distance that uses peer access (NCCL_P2P_LEVEL)",
                                {.default_text = "the implementation's"}),
      field<&PeerAccess::iommu>("p2p", "iommu", FieldType::flag,
                                "translation on (not pass-through): peer traffic goes through the root"),
  };
  return table;
}

std::vector<FieldInfo> all_fields() {
  std::vector<FieldInfo> all;
  append<Machine>(all);
  append<Cpu>(all);
  append<RootComplex>(all);
  append<PcieSwitch>(all);
  append<Gpu>(all);
  append<NvSwitch>(all);
  append<Nic>(all);
  append<Link>(all);
  append<PeerAccess>(all);
  return all;
}

}  // namespace lanecast
