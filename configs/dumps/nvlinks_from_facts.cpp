#include "configs/dumps/nvlinks_from_facts.hpp"

#include <algorithm>

#include "configs/dumps/assumed_values.hpp"
#include "configs/dumps/device_role.hpp"

namespace lanecast {
namespace {

constexpr int nvswitch = -1;
constexpr int most_links = 1024;         // as check_machine has it
constexpr int most_links_of_a_gpu = 18;  // Hopper and Blackwell

struct Bundle {
  int count = 0;
  std::optional<BytesPerSecond> rate;
  std::string from;
  std::string rule;  // why it goes through NVSwitches, where a matrix alone shows it
};

class NvlinkBuilder {
 public:
  NvlinkBuilder(const MachineFacts& facts, const Items& items, const MatrixCells& cells, Machine& machine,
                OriginBook& book)
      : facts_(facts), items_(items), cells_(cells), machine_(machine), book_(book) {}

  void build() {
    read_stated();
    read_matrices();
    for (const auto& [ends, bundle] : bundles_) add(ends, bundle);
  }

 private:
  std::string label(const std::pair<int, int>& ends) const {
    return "NVLinks of " + items_.name(ends.first) + " to " +
           (ends.second == nvswitch ? "NVSwitches" : items_.name(ends.second));
  }

  void read_stated() {
    std::map<std::string, int> gpu_at;
    for (std::size_t i = 0; i < items_.gpus.size(); ++i) {
      if (!items_.gpus[i].address.empty()) gpu_at[items_.gpus[i].address] = static_cast<int>(i);
    }
    for (const NvlinkFacts& link : facts_.nvlinks) {
      const auto from = gpu_at.find(link.from);
      const auto to = gpu_at.find(link.to);
      const auto device = facts_.devices.find(link.to);
      const bool to_switch = link.to.empty() || (device != facts_.devices.end() && to == gpu_at.end() &&
                                                 role_of(device->second) == DeviceRole::nvswitch);
      if (from == gpu_at.end() || (to == gpu_at.end() && !to_switch) || link.from == link.to ||
          link.count < 1 || link.count > most_links) {
        book_.note("NVLinks of " + link.from + " to " + (link.to.empty() ? "an NVSwitch" : link.to) +
                   " are left out (" + link.place + "): no GPU of this machine, or no possible number");
        continue;
      }
      take({from->second, to_switch ? nvswitch : to->second}, {link.count, link.rate, link.place, ""});
    }
  }

  void take(std::pair<int, int> ends, const Bundle& bundle) {
    if (ends.second != nvswitch && ends.second < ends.first) std::swap(ends.first, ends.second);
    const auto [known, is_new] = bundles_.emplace(ends, bundle);
    if (is_new) return;
    if (!known->second.rate) known->second.rate = bundle.rate;
    if (known->second.count == bundle.count) return;
    book_.contradict({label(ends), std::to_string(known->second.count), known->second.from,
                      std::to_string(bundle.count), bundle.from});
  }

  bool reaches_switch(int gpu) const { return bundles_.count({gpu, nvswitch}) != 0; }

  void read_matrices() {
    std::map<std::pair<int, int>, const PairCell*> open;
    for (const auto& [pair, cell] : cells_.pairs) {
      if (cell.nvlinks == 0 || !items_.is_gpu(pair.second)) continue;
      if (!compare(pair, cell)) open.emplace(pair, &cell);
    }
    if (open.empty()) return;
    std::set<int> gpus;
    bool alike = true;
    const PairCell& first = *open.begin()->second;
    for (const auto& [pair, cell] : open) {
      gpus.insert({pair.first, pair.second});
      alike = alike && cell->nvlinks == first.nvlinks;
    }
    alike = alike && open.size() == gpus.size() * (gpus.size() - 1) / 2;
    const Gpu& gpu = machine_.gpus[static_cast<std::size_t>(*gpus.begin())];
    const int own = nvlinks_of_gpu(gpu.model, gpu.sm).value_or(most_links_of_a_gpu);
    const bool too_many = static_cast<int>(gpus.size() - 1) * first.nvlinks > own;
    const bool shown = std::any_of(gpus.begin(), gpus.end(), [&](int each) { return reaches_switch(each); });
    if (shown || (alike && (too_many || items_.has_nvswitch))) {
      for (const auto& [pair, cell] : open) {
        const std::string rule = "more links than a GPU has, if they were direct";
        for (const int end : {pair.first, pair.second}) {
          if (!reaches_switch(end)) take({end, nvswitch}, {cell->nvlinks, std::nullopt, cell->from, rule});
        }
      }
    } else {
      for (const auto& [pair, cell] : open) take(pair, {cell->nvlinks, std::nullopt, cell->from, ""});
    }
  }

  /// True where stated links already explain a cell; a difference is a contradiction.
  bool compare(const std::pair<int, int>& pair, const PairCell& cell) {
    const auto direct = bundles_.find(pair);
    int count = direct == bundles_.end() ? 0 : direct->second.count;
    std::string from = direct == bundles_.end() ? "" : direct->second.from;
    const auto a = bundles_.find({pair.first, nvswitch}), b = bundles_.find({pair.second, nvswitch});
    if (count == 0 && a != bundles_.end() && b != bundles_.end()) {
      const Bundle& fewer = b->second.count < a->second.count ? b->second : a->second;
      count = fewer.count;
      from = fewer.from;
    }
    if (count == 0) return false;
    if (count != cell.nvlinks) {
      book_.contradict({"NVLinks of " + items_.name(pair.first) + " and " + items_.name(pair.second),
                        std::to_string(count), from, std::to_string(cell.nvlinks), cell.from});
    }
    return true;
  }

  void add(const std::pair<int, int>& ends, const Bundle& bundle) {
    if (ends.second == nvswitch && machine_.nvswitches.empty())
      machine_.nvswitches.push_back({"nvswitch0", ""});
    Link link;
    link.name = "nv" + std::to_string(count_++);
    link.kind = LinkKind::nvlink;
    link.from = {NodeKind::gpu, ends.first};
    link.to = ends.second == nvswitch ? NodeId{NodeKind::nvswitch, 0} : NodeId{NodeKind::gpu, ends.second};
    link.count = bundle.count;
    const std::string path = "links." + link.name;
    book_.stated(path + ".count", bundle.from);
    book_.stated_or_assumed(path + ".to", bundle.rule.empty() ? bundle.from : "", bundle.rule);
    const bool possible = bundle.rate && bundle.rate->value() >= 1e3 && bundle.rate->value() <= 1e15;
    if (possible) {
      link.lane_rate = bundle.rate;
      book_.stated(path + ".rate", bundle.from);
    } else {
      const Gpu& gpu = machine_.gpus[static_cast<std::size_t>(ends.first)];
      const AssumedValue<BytesPerSecond> rate = assumed_nvlink_rate(gpu.model, gpu.sm);
      link.lane_rate = rate.value;
      book_.assumed(path + ".rate", rate.rule);
      book_.missing(
          "rate of one NVLink", link.name,
          "`nvidia-smi nvlink --status` or the data sheet tells; set it with `--set links.NAME.rate=`");
    }
    machine_.links.push_back(link);
  }

  const MachineFacts& facts_;
  const Items& items_;
  const MatrixCells& cells_;
  Machine& machine_;
  OriginBook& book_;
  std::map<std::pair<int, int>, Bundle> bundles_;
  int count_ = 0;
};

}  // namespace

void add_nvlinks(const MachineFacts& facts, const Items& items, const MatrixCells& cells, Machine& machine,
                 OriginBook& book) {
  NvlinkBuilder(facts, items, cells, machine, book).build();
}

}  // namespace lanecast
