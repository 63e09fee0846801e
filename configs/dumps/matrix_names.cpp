#include <algorithm>

#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/pci_position.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_names = 128;  // the largest machines known have 16 GPUs and 32 adapters
const PciFacts no_facts{};

/// 3 of "GPU3"; nothing for other names.
std::optional<int> number_behind(const std::string& name, const std::string& stem) {
  const std::string digits = name.size() > stem.size() ? name.substr(stem.size()) : "";
  const bool plain = name.compare(0, stem.size(), stem) == 0 && !digits.empty() && digits.size() < 5 &&
                     digits.find_first_not_of("0123456789") == std::string::npos;
  return plain ? std::optional(std::stoi(digits)) : std::nullopt;
}

std::string address_in(const TopoMatrix& matrix, std::size_t i) {
  return i < matrix.addresses.size() ? matrix.addresses[i] : "";
}

std::size_t names_in(const TopoMatrix& matrix) { return std::min(matrix.names.size(), most_names); }

bool is_present(const GpuItem& gpu) {
  return gpu.facts->present.empty() || gpu.facts->present.all().front().value;
}

/// nvidia-smi numbers by address, and does not count GPUs that are gone: where those that are left are as
/// many as the matrix names, it names those.
void count_gpus(int named, std::vector<GpuItem>& gpus, OriginBook& book) {
  const bool stated = !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const GpuItem& gpu) {
    return !gpu.facts->gpu_index.empty() && gpu.number == gpu.facts->gpu_index.all().front().value;
  });
  if (stated || gpus.empty()) return;
  const auto present = std::count_if(gpus.begin(), gpus.end(), is_present);
  const bool skip_gone = present == named && present != static_cast<std::ptrdiff_t>(gpus.size());
  int next = 0;
  for (GpuItem& gpu : gpus) gpu.number = skip_gone && !is_present(gpu) ? -1 : next++;
  if (next == named) return;
  book.note("`nvidia-smi topo -m` names " + std::to_string(named) + " GPUs, the other dumps list " +
            std::to_string(next) +
            ": those with the lowest addresses are taken for its first ones; add `nvidia-smi -q`, " +
            "which prints the addresses of all");
}

GpuItem* find_gpu(Items& items, const std::string& address, std::optional<int> number) {
  for (GpuItem& gpu : items.gpus) {
    if (address.empty() ? number && gpu.number == *number : gpu.address == address) return &gpu;
  }
  return nullptr;
}

/// How many GPUs matrices name that give no addresses; 0: none does.
int named_gpus(const std::vector<TopoMatrix>& matrices) {
  int named = 0;
  for (const TopoMatrix& matrix : matrices) {
    for (std::size_t i = 0; i < names_in(matrix); ++i) {
      const auto number = number_behind(matrix.names[i], "GPU");
      if (number && address_in(matrix, i).empty()) named = std::max(named, *number + 1);
    }
  }
  return named;
}

void add_missing_gpus(const TopoMatrix& matrix, Items& items) {
  for (std::size_t i = 0; i < names_in(matrix); ++i) {
    const auto number = number_behind(matrix.names[i], "GPU");
    const std::string address = address_in(matrix, i);
    if (!number || find_gpu(items, address, number) != nullptr) continue;
    items.gpus.push_back({address, &no_facts, *number, {}, matrix.from});
  }
}

bool is_rdma(const MachineFacts& facts, const std::string& function) {
  const PciFacts& device = facts.devices.at(function);
  const auto class_is = [&](std::uint32_t code) {
    return !device.class_code.empty() && device.class_code.all().front().value >> 8 == code;
  };
  const bool mellanox =
      !device.vendor.empty()
          ? device.vendor.all().front().value == 0x15b3
          : !device.name.empty() && device.name.all().front().value.find("Mellanox") != std::string::npos;
  return mellanox || class_is(0x0207) || class_is(0x0c06);
}

/// Adapters by what a dump calls them, and in the order of RDMA devices, which is that of their addresses.
class AdapterNames {
 public:
  AdapterNames(const MachineFacts& facts, const Items& items) {
    for (std::size_t i = 0; i < items.adapters.size(); ++i) {
      const int item = static_cast<int>(items.gpus.size() + i);
      if (!items.adapters[i].label.empty()) by_name_.emplace(items.adapters[i].label, item);
      for (const std::string& function : items.adapters[i].functions) {
        by_name_.emplace(function, item);
        for (const auto& name : facts.devices.at(function).nic_name.all()) by_name_.emplace(name.value, item);
        if (is_rdma(facts, function)) in_order_.push_back(item);
      }
    }
  }
  int find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return name.empty() || found == by_name_.end() ? -1 : found->second;
  }
  const std::vector<int>& in_order() const { return in_order_; }

 private:
  std::map<std::string, int> by_name_;
  std::vector<int> in_order_;
};

std::string legend_name(const TopoMatrix& matrix, const std::string& name) {
  const auto found = matrix.adapters.find(name);
  return found == matrix.adapters.end() ? "" : found->second;
}

/// GPUs have been added before, so that the items' numbers hold.
std::vector<int> items_of(const MachineFacts& facts, const TopoMatrix& matrix, Items& items,
                          OriginBook& book) {
  const bool any_listed = std::any_of(items.adapters.begin(), items.adapters.end(),
                                      [](const AdapterItem& adapter) { return !adapter.functions.empty(); });
  const AdapterNames names(facts, items);
  std::vector<int> found(names_in(matrix), -1);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string& name = matrix.names[i];
    if (const auto number = number_behind(name, "GPU")) {
      const GpuItem* gpu = find_gpu(items, address_in(matrix, i), number);
      if (gpu != nullptr) found[i] = static_cast<int>(gpu - items.gpus.data());
      continue;
    }
    for (const std::string& text : {address_in(matrix, i), legend_name(matrix, name), name}) {
      if (found[i] < 0) found[i] = names.find(text);
    }
    if (found[i] < 0) open.push_back(i);
  }
  if (open.empty()) return found;
  if (!any_listed) {
    for (const std::size_t i : open) {
      const std::string label = legend_name(matrix, matrix.names[i]);
      found[i] = static_cast<int>(items.size());
      items.adapters.push_back({{}, label.empty() ? matrix.names[i] : label, matrix.from});
    }
  } else if (open.size() == names.in_order().size()) {
    for (std::size_t k = 0; k < open.size(); ++k) found[open[k]] = names.in_order()[k];
    items.adapters_by_order = true;
    book.note(
        "the adapters of `nvidia-smi topo -m` are taken for the RDMA adapters in the order of their "
        "addresses: "
        "no dump names them");
  } else {
    std::vector<std::string> left;
    for (const std::size_t i : open) left.push_back(printable(matrix.names[i]));
    book.note(name_list(left) +
              " of `nvidia-smi topo -m` are left out: no dump says which adapters they are; add what "
              "`lanecast topo collect` gathers");
  }
  return found;
}

void add_numbered(const MachineFacts& facts, Items& items) {
  for (const auto& [number, models] : facts.numbered_gpus) {
    if (number < 0 || models.empty()) continue;
    GpuItem* gpu = find_gpu(items, "", number);
    if (gpu == nullptr) {
      items.gpus.push_back({"", &no_facts, number, {}, models.all().front().from});
      gpu = &items.gpus.back();
    }
    gpu->models = models;
  }
}

/// Those that nvidia-smi does not count stay behind the one that they followed.
void sort_by_number(std::vector<GpuItem>& gpus) {
  std::vector<std::pair<std::pair<int, bool>, GpuItem>> keyed;
  int last = -1;
  for (GpuItem& gpu : gpus) {
    const bool counted = gpu.number >= 0;
    if (counted) last = gpu.number;
    keyed.push_back({{last, !counted}, std::move(gpu)});
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i] = std::move(keyed[i].second);
}

}  // namespace

void match_matrices(const MachineFacts& facts, Items& items, OriginBook& book) {
  if (const int named = named_gpus(facts.matrices)) count_gpus(named, items.gpus, book);
  for (const TopoMatrix& matrix : facts.matrices) {
    if (matrix.names.size() > most_names)
      book.note(matrix.from + ": only the first " + std::to_string(most_names) + " names are taken");
    add_missing_gpus(matrix, items);
  }
  add_numbered(facts, items);
  sort_by_number(items.gpus);
  for (const TopoMatrix& matrix : facts.matrices)
    items.of_matrix.push_back(items_of(facts, matrix, items, book));
}

}  // namespace lanecast
