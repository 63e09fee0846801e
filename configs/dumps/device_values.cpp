#include "configs/dumps/device_values.hpp"

#include <algorithm>
#include <cctype>

#include "configs/dumps/assumed_values.hpp"
#include "configs/dumps/device_role.hpp"
#include "configs/reading.hpp"
#include "model/topology/gpu_ids.hpp"

namespace lanecast {
namespace {

const PciFacts no_facts{};

/// Where readers name a GPU by its ids alone: NCCL's and hwloc's files.
constexpr const char* id_places[] = {"(device)", "(gcn)", "(pci_type)"};

/// The place of any statement that shows a function.
std::string shown_by(const PciFacts& facts) {
  std::string from;
  const auto look = [&](const auto& statements) {
    if (from.empty() && !statements.empty()) from = statements.all().front().from;
  };
  look(facts.class_code);
  look(facts.name);
  look(facts.gpu_model);
  look(facts.gpu_index);
  look(facts.parent);
  look(facts.numa);
  return from.empty() ? "the dumps" : from;
}

const PciFacts& facts_of(const MachineFacts& facts, const std::string& address) {
  const auto found = facts.devices.find(address);
  return found == facts.devices.end() ? no_facts : found->second;
}

std::string number(int value) { return std::to_string(value); }
std::string yes_or_no(bool value) { return value ? "true" : "false"; }
std::string bytes_text(Bytes size) { return std::to_string(size.value()) + " B"; }

/// What stands in the last brackets that are no numbers of `lspci -nn` and no vendor's short name: "RTX 6000
/// Ada Generation" of "NVIDIA Corporation AD102GL [RTX 6000 Ada Generation] [10de:26b1]".
std::string in_brackets(const std::string& name) {
  for (std::size_t end = name.rfind(']'); end != std::string::npos && end > 0;
       end = name.rfind(']', end - 1)) {
    const std::size_t begin = name.rfind('[', end);
    if (begin == std::string::npos) return "";
    const std::string text = name.substr(begin + 1, end - begin - 1);
    const bool ids = text.size() == 9 && text[4] == ':';
    if (!ids && text != "AMD/ATI" && text != "AMD" && !text.empty()) return text;
    if (begin == 0) return "";
    end = begin;
  }
  return "";
}

/// "NVIDIA RTX 6000 Ada Generation", as nvidia-smi names it; Tesla and Quadro cards it names without maker.
std::string with_maker(const std::string& product, const std::string& vendor) {
  if (product.rfind("Tesla", 0) == 0 || product.rfind("Quadro", 0) == 0) return product;
  if (vendor == "nvidia" && product.rfind("NVIDIA", 0) != 0) return "NVIDIA " + product;
  return vendor == "amd" && product.rfind("AMD", 0) != 0 ? "AMD " + product : product;
}

/// 0x2bb5 of "NVIDIA Corporation Device 2bb5".
std::optional<std::uint32_t> device_in_name(const std::string& name) {
  const std::size_t at = name.rfind("Device ");
  if (at == std::string::npos) return std::nullopt;
  const std::string digits = name.substr(at + 7, 4);
  const bool hex = digits.size() == 4 && std::all_of(digits.begin(), digits.end(),
                                                     [](unsigned char c) { return std::isxdigit(c) != 0; });
  return hex ? std::optional(static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16))) : std::nullopt;
}

struct DeviceIds {
  PciId id;
  std::string from;
};

std::optional<DeviceIds> ids_of(const PciFacts& facts) {
  const std::string vendor = gpu_vendor(facts);
  const std::uint32_t maker = !facts.vendor.empty() ? facts.vendor.all().front().value
                              : vendor == "nvidia"  ? 0x10de
                              : vendor == "amd"     ? 0x1002
                                                    : 0;
  if (maker == 0) return std::nullopt;
  if (!facts.device.empty())
    return DeviceIds{{maker, facts.device.all().front().value}, facts.device.all().front().from};
  if (facts.name.empty()) return std::nullopt;
  const auto device = device_in_name(facts.name.all().front().value);
  return device ? std::optional(DeviceIds{{maker, *device}, facts.name.all().front().from}) : std::nullopt;
}

std::string hex4(std::uint32_t value) {
  std::string text;
  for (int shift = 12; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 0xfU];
  return text;
}

/// Names of one product as different tools and releases print them: without the maker, in lower case.
std::string plain_model(const std::string& model) {
  std::string text;
  for (const char c : model.rfind("NVIDIA ", 0) == 0 ? model.substr(7) : model)
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// What nvidia-smi and drivers print goes before what readers know by an id.
std::optional<Statement<std::string>> stated_model(const GpuItem& item, const std::string& path,
                                                   OriginBook& book) {
  std::vector<Statement<std::string>> printed, by_id;
  for (const auto& each : joined(item.facts->gpu_model.all(), item.models.all())) {
    const bool known_by_id = std::any_of(std::begin(id_places), std::end(id_places), [&](const char* place) {
      return each.from.find(place) != std::string::npos;
    });
    std::vector<Statement<std::string>>& to = known_by_id ? by_id : printed;
    const bool again = std::any_of(to.begin(), to.end(), [&](const Statement<std::string>& known) {
      return plain_model(known.value) == plain_model(each.value);
    });
    if (!again && !each.value.empty()) to.push_back(each);
  }
  return book.judge(path + ".model", printed.empty() ? by_id : printed, printable);
}

void set_model(const GpuItem& item, const std::string& path, Gpu& gpu, OriginBook& book) {
  if (const auto model = stated_model(item, path, book)) {
    gpu.model = printable(model->value);
    return book.stated(path + ".model", model->from);
  }
  const auto ids = ids_of(*item.facts);
  if (!item.facts->name.empty()) {
    const Statement<std::string>& name = item.facts->name.all().front();
    const std::string product = in_brackets(name.value);
    if (!product.empty()) {
      gpu.model = printable(with_maker(product, gpu_vendor(*item.facts)));
      return book.stated(path + ".model", name.from);
    }
  }
  const std::optional<std::string> known = ids ? gpu_model_of(ids->id.vendor, ids->id.device) : std::nullopt;
  if (known) {
    gpu.model = *known;
    return book.stated(path + ".model", ids->from + ", by the PCI ids");
  }
  gpu.model = ids ? "unknown (" + hex4(ids->id.vendor) + ":" + hex4(ids->id.device) + ")" : "unknown";
  book.assumed(path + ".model", "no dump names it");
  book.missing("GPU model", gpu.name, "run `nvidia-smi -q` or `lspci`");
}

void set_sm(const GpuItem& item, const std::string& path, Gpu& gpu, OriginBook& book) {
  const auto possible = good_ones(item.facts->sm, [](int sm) { return sm > 0 && sm < 1000; });
  if (const auto sm = book.judge(path + ".sm", possible, number)) {
    gpu.sm = sm->value;
    return book.stated(path + ".sm", sm->from);
  }
  const auto ids = ids_of(*item.facts);
  const std::optional<KnownGpu> known = ids ? known_gpu(ids->id) : std::nullopt;
  const std::optional<GpuFamily> family = gpu_family(gpu.model);
  gpu.sm = known && known->sm > 0 ? known->sm : family ? family->sm : 0;
  if (gpu.sm > 0) return book.assumed(path + ".sm", "by the model");
  const bool other_vendor = (known && known->sm == 0) || family || gpu_vendor(*item.facts) == "amd";
  if (other_vendor) return;
  book.assumed(path + ".sm", "not known");
  book.missing("compute capability", gpu.name,
               "run `nvidia-smi --query-gpu=index,pci.bus_id,name,compute_cap --format=csv`");
}

void set_memory(const GpuItem& item, const std::string& path, Gpu& gpu, OriginBook& book) {
  const auto some = [](Bytes size) { return size.value() > 0; };
  const auto take = [&](const Statements<Bytes>& statements, const char* key, std::optional<Bytes>& to) {
    const auto size = book.judge(path + "." + key, good_ones(statements, some), bytes_text);
    if (!size) return;
    to = size->value;
    book.stated(path + "." + key, size->from);
  };
  take(item.facts->memory, "memory", gpu.memory);
  take(item.facts->bar1, "bar1", gpu.bar1);
  take(item.facts->l2, "l2", gpu.l2);
  const std::optional<GpuFamily> family = gpu_family(gpu.model);
  if (gpu.l2 || !family || !family->l2) return;
  gpu.l2 = family->l2;
  book.assumed(path + ".l2", "by the model's data sheet");
}

/// "400 Gbit/s": exact for whole numbers of kbit/s.
std::string network_rate_text(BytesPerSecond rate) {
  const double bits_per_second = rate.value() * 8;
  return std::to_string(static_cast<std::int64_t>(bits_per_second / 1e6)) + " Mbit/s";
}

}  // namespace

Gpu gpu_values(const GpuItem& item, const std::string& name, OriginBook& book) {
  Gpu gpu;
  gpu.name = name;
  gpu.bdf = item.address;
  const std::string path = "gpus." + name;
  if (gpu.bdf.empty()) {
    book.missing("PCI address", name, "run `nvidia-smi -q`");
  } else {
    book.stated(path + ".bdf", item.from.empty() ? shown_by(*item.facts) : item.from);
  }
  set_model(item, path, gpu, book);
  set_sm(item, path, gpu, book);
  set_memory(item, path, gpu, book);
  const auto present = book.judge(path + ".present", item.facts->present.all(), yes_or_no);
  if (present) {
    gpu.present = present->value;
    book.stated(path + ".present", present->from);
  }
  if (const auto p2p = book.judge(path + ".p2p", item.facts->p2p.all(), yes_or_no)) {
    gpu.p2p = p2p->value;
    book.stated(path + ".p2p", p2p->from);
  }
  return gpu;
}

Nic adapter_values(const MachineFacts& facts, const AdapterItem& item, const std::string& name,
                   OriginBook& book) {
  Nic nic;
  nic.name = name;
  const std::string path = "nics." + name;
  std::vector<Statement<BytesPerSecond>> rates;
  for (const std::string& function : item.functions) {
    const PciFacts& device = facts_of(facts, function);
    if (nic.model.empty() && !device.name.empty()) {
      nic.model = printable(device.name.all().front().value);
      book.stated(path + ".model", device.name.all().front().from);
    }
    // Functions of a card are ports: the fastest stands for the card.
    for (const auto& each : device.nic_rate.all()) {
      if (each.value.value() >= 1e3 && each.value.value() <= 1e15) rates.push_back(each);
    }
  }
  if (!item.functions.empty()) {
    nic.bdf = item.functions.front();
    book.stated(path + ".bdf", shown_by(facts_of(facts, nic.bdf)));
  }
  if (nic.model.empty() && !item.label.empty()) {
    nic.model = printable(item.label);
    book.stated(path + ".model", item.from.empty() ? "its name in the dumps" : item.from);
  }
  const auto fastest = std::max_element(rates.begin(), rates.end(),
                                        [](const auto& a, const auto& b) { return a.value < b.value; });
  if (fastest != rates.end()) {
    nic.rate = fastest->value;
    book.stated(path + ".rate", fastest->from);
    if (item.functions.size() == 1) book.judge(path + ".rate", rates, network_rate_text);
    return nic;
  }
  const AdapterFamily family = assumed_adapter(nic.model);
  nic.rate = family.rate;
  book.assumed(path + ".rate", family.rule);
  book.missing("network rate", name, "run what `lanecast topo collect` prints");
  return nic;
}

PcieSwitch switch_values(const MachineFacts& facts, const LayoutSwitch& place, const std::string& name,
                         OriginBook& book) {
  PcieSwitch chip;
  chip.name = name;
  chip.bdf = place.bdf;
  const std::string path = "switches." + name;
  const PciFacts& upstream = facts_of(facts, place.bdf);
  if (!chip.bdf.empty()) book.stated(path + ".bdf", shown_by(upstream));
  if (!upstream.name.empty()) {
    chip.model = printable(upstream.name.all().front().value);
    book.stated(path + ".model", upstream.name.all().front().from);
  }
  std::string from;
  for (const std::string& port : place.ports) {
    const auto redirect =
        book.judge("device " + port + ": ACS redirect", facts_of(facts, port).acs_redirect.all(), yes_or_no);
    if (!redirect || (!from.empty() && !redirect->value)) continue;
    if (chip.acs) continue;
    chip.acs = redirect->value;
    from = redirect->from;
  }
  book.stated_or_assumed(path + ".acs", from, "off, as on machines set up for peer traffic");
  if (from.empty()) book.missing("ACS", name, "run `lspci -vvv` as root");
  return chip;
}

}  // namespace lanecast
