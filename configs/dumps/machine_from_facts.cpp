#include <algorithm>

#include "configs/dumps/device_values.hpp"
#include "configs/dumps/hosts_from_facts.hpp"
#include "configs/dumps/link_values.hpp"
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/matrix_check.hpp"
#include "configs/dumps/nvlinks_from_facts.hpp"
#include "configs/dumps/peer_access_from_facts.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

std::string yes_or_no(bool value) { return value ? "true" : "false"; }

class MachineBuilder {
 public:
  explicit MachineBuilder(const MachineFacts& facts) : facts_(facts) {}

  ImportedMachine build(const std::string& name) {
    machine_.name = name;
    for (const std::string& note : facts_.notes) book_.note(note);
    items_ = select_devices(facts_, book_);
    match_matrices(facts_, items_, book_);
    expect_gpus(facts_, items_);
    const MatrixCells cells = matrix_cells(facts_, items_, book_);
    layout_ = machine_layout(facts_, items_, cells, pci_tree(facts_, addresses(), book_), book_);
    set_host();
    const std::vector<HostRates> rates = add_hosts(facts_, layout_, machine_, book_);
    add_devices();
    add_pcie_links();
    add_nvlinks(facts_, items_, cells, machine_, book_);
    add_socket_links(rates, machine_, book_);
    set_iommu();
    set_peer_access(facts_, items_, layout_, machine_, book_);
    check_matrices(items_, layout_, cells, machine_.virtualized.value_or(false), book_);
    add_assumptions();
    expect_possible();
    ImportedMachine result;
    result.machine = std::move(machine_);
    result.nccl = facts_.nccl;
    book_.hand_over(result);
    return result;
  }

 private:
  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    for (std::size_t item = 0; item < items_.size(); ++item)
      all.push_back(items_.address(static_cast<int>(item)));
    return all;
  }

  void set_text(const char* path, const Statements<std::string>& statements, std::string& to) {
    const auto text = book_.judge(path, statements.all(), printable);
    if (!text) return;
    to = printable(text->value);
    book_.stated(path, text->from);
  }

  void set_host() {
    set_text("host", facts_.host, machine_.host);
    set_text("driver", facts_.driver, machine_.driver);
    if (!facts_.taken.empty()) {  // several dumps are taken one after another: the last one counts
      const auto& all = facts_.taken.all();
      const auto last = std::max_element(all.begin(), all.end(),
                                         [](const auto& a, const auto& b) { return a.value < b.value; });
      machine_.taken = printable(last->value);
      book_.stated("taken", last->from);
    }
    if (const auto stated = book_.judge("virtualized", facts_.virtualized.all(), yes_or_no)) {
      machine_.virtualized = stated->value;
      book_.stated("virtualized", stated->from);
    } else if (sits_on_bus_zero()) {
      machine_.virtualized = true;
      book_.assumed("virtualized", "GPUs sit on bus 0 itself, where a real machine has no slots");
    }
    if (machine_.virtualized.value_or(false))
      book_.note(
          "a virtual machine: bridges, distances and link states may be hidden or made up; take the dumps on "
          "the "
          "host to see the real ones");
  }

  /// A GPU without a root port above it on bus 0 of domain 0: only hypervisors put it there.
  bool sits_on_bus_zero() const {
    for (std::size_t i = 0; i < items_.gpus.size(); ++i) {
      const Placement& place = layout_.leaves[i];
      const bool bare = place.above < 0 && place.port.empty() && !items_.gpus[i].address.empty();
      if (bare && bus_of(items_.gpus[i].address) == "0000:00") return true;
    }
    return false;
  }

  void add_devices() {
    for (std::size_t i = 0; i < items_.gpus.size(); ++i)
      machine_.gpus.push_back(gpu_values(items_.gpus[i], items_.name(static_cast<int>(i)), book_));
    for (std::size_t i = 0; i < items_.adapters.size(); ++i) {
      const int item = static_cast<int>(items_.gpus.size() + i);
      machine_.nics.push_back(adapter_values(facts_, items_.adapters[i], items_.name(item), book_));
    }
    for (std::size_t i = 0; i < layout_.switches.size(); ++i)
      machine_.switches.push_back(
          switch_values(facts_, layout_.switches[i], "sw" + std::to_string(i), book_));
  }

  NodeId upper_end(const Placement& place) const {
    return place.above >= 0 ? NodeId{NodeKind::pcie_switch, place.above} : NodeId{NodeKind::root, place.root};
  }

  void add_link(const LinkEnds& ends, const Placement& place, NodeId to) {
    Link link = pcie_link_values(facts_, ends, book_);
    link.from = upper_end(place);
    link.to = to;
    book_.stated_or_assumed("links." + link.name + ".from", place.from, place.rule);
    if (!link.port.empty())
      book_.stated("links." + link.name + ".port", place.from.empty() ? "the tree" : place.from);
    if (place.from.empty())
      book_.missing("place in the PCIe tree", link.name,
                    "run `lspci -tv` (or `lspci -vvv` as root, without `-s`)");
    machine_.links.push_back(std::move(link));
  }

  void add_pcie_links() {
    std::vector<int> first_gpu(layout_.switches.size(), 0);
    for (std::size_t i = items_.gpus.size(); i-- > 0;) {
      for (int at = layout_.leaves[i].above; at >= 0;
           at = layout_.switches[static_cast<std::size_t>(at)].place.above)
        first_gpu[static_cast<std::size_t>(at)] = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < layout_.switches.size(); ++i) {
      const LayoutSwitch& chip = layout_.switches[i];
      const Gpu& gpu = machine_.gpus[static_cast<std::size_t>(first_gpu[i])];
      std::vector<std::string> lower;
      if (!chip.bdf.empty()) lower.push_back(chip.bdf);
      add_link(
          {"uplink" + std::to_string(i), NodeKind::pcie_switch, chip.place.port, lower, gpu.model, gpu.sm},
          chip.place, {NodeKind::pcie_switch, static_cast<int>(i)});
    }
    for (std::size_t item = 0; item < items_.size(); ++item) {
      const int number = static_cast<int>(item);
      const Placement& place = layout_.leaves[item];
      if (items_.is_gpu(number)) {
        const Gpu& gpu = machine_.gpus[item];
        std::vector<std::string> lower;
        if (!gpu.bdf.empty()) lower.push_back(gpu.bdf);
        add_link({gpu.name, NodeKind::gpu, place.port, lower, gpu.model, gpu.sm}, place,
                 {NodeKind::gpu, number});
      } else {
        const int index = number - static_cast<int>(items_.gpus.size());
        const Nic& nic = machine_.nics[static_cast<std::size_t>(index)];
        add_link({nic.name, NodeKind::nic, place.port, items_.adapter(number).functions, nic.model, 0}, place,
                 {NodeKind::nic, index});
      }
    }
  }

  void set_iommu() {
    const auto translated = book_.judge("p2p.iommu", facts_.iommu_translation.all(), yes_or_no);
    machine_.p2p.iommu = translated && translated->value;
    book_.stated_or_assumed("p2p.iommu", translated ? translated->from : "",
                            "off or passed through, as advised for GPUs");
    if (!translated) book_.missing("IOMMU translation", "", "run what `lanecast topo collect` prints");
  }

  /// What the tree rests on where no dump shows it, in sentences; values are in `assumed`.
  void add_assumptions() {
    std::map<std::string, std::vector<std::string>> by_rule;
    for (const Link& link : machine_.links) {
      if (link.kind != LinkKind::pcie) continue;
      const Placement& place =
          link.to.kind == NodeKind::pcie_switch
              ? layout_.switches[static_cast<std::size_t>(link.to.index)].place
          : link.to.kind == NodeKind::gpu
              ? layout_.leaves[static_cast<std::size_t>(link.to.index)]
              : layout_.leaves[items_.gpus.size() + static_cast<std::size_t>(link.to.index)];
      if (place.from.empty()) by_rule[place.rule].push_back(link.name);
    }
    for (const auto& [rule, links] : by_rule)
      machine_.assumptions.push_back("where " + name_list(links) + " hang: " + rule);
  }

  /// Statements of different machines can make one that cannot be.
  void expect_possible() const {
    const std::vector<MachineProblem> problems = check_machine(machine_);
    if (problems.empty()) return;
    throw Error(ErrorKind::usage,
                "the dumps together make no possible machine: " + problems.front().text +
                    (problems.size() > 1 ? ", and " + std::to_string(problems.size() - 1) + " more" : ""),
                problems.front().path, "import the dumps of one machine only, each taken whole");
  }

  const MachineFacts& facts_;
  OriginBook book_;
  Items items_;
  Layout layout_;
  Machine machine_;
};

}  // namespace

ImportedMachine machine_from_facts(const MachineFacts& facts, const std::string& name) {
  return MachineBuilder(facts).build(name);
}

}  // namespace lanecast
