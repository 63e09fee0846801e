#include <algorithm>
#include <set>

#include "configs/dumps/device_role.hpp"
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/pci_position.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_nodes = 4096;  // of a kind, as check_machine has it

using Addresses = std::vector<std::string>;

const PciFacts& facts_of(const MachineFacts& facts, const std::string& address) {
  return facts.devices.at(address);
}

/// Runs of neighbouring device numbers on one bus and in one NUMA node.
std::vector<Addresses> runs_of(const MachineFacts& facts, const Addresses& addresses) {
  std::vector<Addresses> runs;
  for (const std::string& address : addresses) {
    bool goes_on = false;
    if (!runs.empty()) {
      const std::string& last = runs.back().back();
      const auto a = pci_position(last), b = pci_position(address);
      goes_on = a && b && bus_of(last) == bus_of(address) && b->device == a->device + 1 &&
                facts_of(facts, last).numa.all().size() == facts_of(facts, address).numa.all().size() &&
                (facts_of(facts, last).numa.empty() || facts_of(facts, last).numa.all().front().value ==
                                                           facts_of(facts, address).numa.all().front().value);
    }
    if (!goes_on) runs.emplace_back();
    runs.back().push_back(address);
  }
  return runs;
}

/// Hand-written topology files of clouds may list bare addresses. GPUs of one machine come in equal groups:
/// of the runs of neighbouring addresses in a NUMA node, those of the length that covers most functions are
/// taken for GPUs.
Addresses guessed_gpus(const MachineFacts& facts, const Addresses& unknown, OriginBook& book) {
  const std::vector<Addresses> runs = runs_of(facts, unknown);
  std::map<std::size_t, std::size_t> covered;
  for (const Addresses& run : runs) covered[run.size()] += run.size();
  std::size_t length = 0;
  for (const auto& [size, count] : covered) {
    if (length == 0 || count >= covered.at(length)) length = size;
  }
  Addresses gpus, others;
  for (const Addresses& run : runs) {
    Addresses& to = run.size() == length ? gpus : others;
    to.insert(to.end(), run.begin(), run.end());
  }
  if (gpus.empty()) return gpus;
  const std::string left =
      others.empty() ? "" : ", and leaves out " + name_list(others) + ", which may be adapters of a network";
  book.note("no dump says what kind of device any function is: GPUs come in equal groups, so a rule takes " +
            std::to_string(gpus.size()) + " functions (" + gpus.front() + " ... " + gpus.back() +
            ") for GPUs" + left + "; add `lspci -nn` or `nvidia-smi -q`");
  return gpus;
}

/// Virtual functions of a card that is listed itself (vGPU hosts), and the second display function of old
/// cards.
bool is_side_of_a_gpu(const MachineFacts& facts, const std::string& address,
                      const std::set<std::string>& gpus) {
  if (is_stated_gpu(facts_of(facts, address))) return false;
  const std::string first = card_of(address) + ".0";
  if (first != address && gpus.count(first) != 0) return true;
  const std::string on_bus = bus_of(address) + ":00.0";
  if (on_bus == address || gpus.count(on_bus) == 0) return false;
  const auto& name = facts_of(facts, address).name;
  return !name.empty() && name.all().front().value.find("Virtual Function") != std::string::npos;
}

/// Beside NVIDIA's GPUs, those of other vendors are the processor's own display unless a dump says more.
Addresses without_displays(const MachineFacts& facts, const Addresses& gpus, OriginBook& book) {
  const bool nvidia = std::any_of(gpus.begin(), gpus.end(), [&](const std::string& gpu) {
    return gpu_vendor(facts_of(facts, gpu)) == "nvidia";
  });
  Addresses kept, left;
  for (const std::string& gpu : gpus) {
    const std::string vendor = gpu_vendor(facts_of(facts, gpu));
    const bool display =
        nvidia && (vendor == "amd" || vendor == "intel") && !is_stated_gpu(facts_of(facts, gpu));
    (display ? left : kept).push_back(gpu);
  }
  if (!left.empty()) book.note("left out as displays beside NVIDIA's GPUs: " + name_list(left));
  return kept;
}

/// By the numbers that dumps give, where each GPU has one of its own; else by address.
void put_in_order(std::vector<GpuItem>& gpus) {
  std::sort(gpus.begin(), gpus.end(),
            [](const GpuItem& a, const GpuItem& b) { return is_before(a.address, b.address); });
  std::set<int> numbers;
  bool numbered = true;
  for (const GpuItem& gpu : gpus) {
    const auto& stated = gpu.facts->gpu_index.all();
    numbered =
        numbered && stated.size() == 1 && stated[0].value >= 0 && numbers.insert(stated[0].value).second;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].number = numbered ? gpus[i].facts->gpu_index.all()[0].value : static_cast<int>(i);
  }
  std::sort(gpus.begin(), gpus.end(), [](const GpuItem& a, const GpuItem& b) { return a.number < b.number; });
}

/// "1 PCI function", "34 PCI functions".
std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool is_virtual_function(const PciFacts& facts) {
  return !facts.name.empty() && facts.name.all().front().value.find("Virtual Function") != std::string::npos;
}

/// One adapter a card; virtual functions only where their card is not listed itself.
std::vector<AdapterItem> adapters_of(const MachineFacts& facts, const Addresses& functions) {
  std::set<std::string> real_buses;
  for (const std::string& function : functions) {
    if (!is_virtual_function(facts_of(facts, function))) real_buses.insert(bus_of(function));
  }
  std::map<std::string, std::size_t> of_card;
  std::vector<AdapterItem> adapters;
  for (const std::string& function : functions) {
    const PciFacts& device = facts_of(facts, function);
    if (is_virtual_function(device) && real_buses.count(bus_of(function)) != 0) continue;
    const auto [card, is_new] = of_card.emplace(card_of(function), adapters.size());
    if (is_new) adapters.emplace_back();
    AdapterItem& adapter = adapters[card->second];
    adapter.functions.push_back(function);
    if (adapter.label.empty() && !device.nic_name.empty())
      adapter.label = device.nic_name.all().front().value;
  }
  return adapters;
}

}  // namespace

std::string Items::name(int item) const {
  if (is_gpu(item)) return "gpu" + std::to_string(item);
  return "nic" + std::to_string(item - static_cast<int>(gpus.size()));
}

std::string Items::address(int item) const {
  if (is_gpu(item)) return gpus[static_cast<std::size_t>(item)].address;
  return adapter(item).functions.empty() ? "" : adapter(item).functions.front();
}

Items select_devices(const MachineFacts& facts, OriginBook& book) {
  Addresses gpus, adapters, unknown;
  Items items;
  for (const auto& [address, device] : facts.devices) {
    switch (role_of(device)) {
      case DeviceRole::gpu:
        gpus.push_back(address);
        break;
      case DeviceRole::adapter:
        adapters.push_back(address);
        break;
      case DeviceRole::unknown:
        unknown.push_back(address);
        break;
      case DeviceRole::nvswitch:
        items.has_nvswitch = true;
        break;
      default:
        break;
    }
  }
  std::sort(unknown.begin(), unknown.end(), is_before);
  std::sort(adapters.begin(), adapters.end(), is_before);
  if (gpus.empty() && facts.matrices.empty() && facts.numbered_gpus.empty())
    gpus = guessed_gpus(facts, unknown, book);
  const std::set<std::string> all(gpus.begin(), gpus.end());
  gpus.erase(std::remove_if(gpus.begin(), gpus.end(),
                            [&](const std::string& gpu) { return is_side_of_a_gpu(facts, gpu, all); }),
             gpus.end());
  for (const std::string& gpu : without_displays(facts, gpus, book))
    items.gpus.push_back({gpu, &facts_of(facts, gpu), 0, {}, ""});
  put_in_order(items.gpus);
  items.adapters = adapters_of(facts, adapters);
  return items;
}

void expect_gpus(const MachineFacts& facts, const Items& items) {
  const bool only_nccl = facts.devices.empty() && facts.matrices.empty() && !facts.nccl.ring.empty();
  const std::string where =
      only_nccl ? "what the dumps hold: what NCCL chose (rings and channels), which is no part of a machine"
                : "what the dumps hold: " + counted(facts.devices.size(), "PCI function") + ", " +
                      counted(items.adapters.size(), "network adapter") + ", " +
                      counted(facts.matrices.size(), "output") + " of `nvidia-smi topo -m`";
  if (items.gpus.empty()) {
    throw Error(ErrorKind::usage, "no GPU is among what the dumps show", where,
                "add what `nvidia-smi -q`, `nvidia-smi topo -m` or `lspci -vvv` (without `-s`) prints");
  }
  const bool any_present = std::any_of(items.gpus.begin(), items.gpus.end(), [](const GpuItem& gpu) {
    return gpu.facts->present.empty() || gpu.facts->present.all().front().value;
  });
  if (!any_present) {
    throw Error(ErrorKind::usage, "all " + std::to_string(items.gpus.size()) + " GPUs are gone from the bus",
                where,
                "restart the machine, see `dmesg` for why they fell off the bus, and take the dumps again");
  }
  if (items.gpus.size() > most_nodes || items.adapters.size() > most_nodes) {
    throw Error(ErrorKind::usage,
                std::to_string(items.gpus.size()) + " GPUs and " + std::to_string(items.adapters.size()) +
                    " network adapters; a machine has at most " + std::to_string(most_nodes) + " of each",
                where, "import the dumps of one machine at a time");
  }
}

}  // namespace lanecast
