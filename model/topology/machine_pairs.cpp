#include "model/topology/machine_pairs.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

/// The words of a model's name that tell models apart, in lower case; of a name with brackets those inside.
std::string essence(const std::string& model) {
  const std::size_t open = model.find('['), close = model.find(']', open);
  const bool bracketed = open != std::string::npos && close != std::string::npos;
  const std::string text = (bracketed ? model.substr(open + 1, close - open - 1) : model) + " ";
  std::string words, word;
  for (const char c : text) {
    if (c != ' ') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (word == "(rev") break;
    if (!word.empty() && word != "nvidia" && word != "corporation") words += word + " ";
    word.clear();
  }
  return words;
}

/// What a part can be recognized by.
struct Part {
  int index = 0;
  std::string name;
  std::string address;  // empty: unknown
  std::string slot;     // the same
  std::string model;    // essence; of cards only: other parts don't change theirs
  bool paired = false;
};

template <class T, class Describe>
std::vector<Part> parts_of(const std::vector<T>& list, Describe&& describe) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Part part;
    part.index = static_cast<int>(i);
    part.name = list[i].name;
    describe(list[i], part);
    parts.push_back(part);
  }
  return parts;
}

/// The slot that each GPU or network adapter sits in, by the link above it.
void add_slots(const Machine& machine, NodeKind kind, std::vector<Part>& parts) {
  for (const Link& link : machine.links) {
    if (link.kind == LinkKind::pcie && link.to.kind == kind) parts[at_index(link.to.index)].slot = link.slot;
  }
}

std::vector<Part> cpus_of(const Machine& machine) {
  return parts_of(machine.cpus, [](const Cpu& cpu, Part& part) {
    if (cpu.numa) part.address = std::to_string(*cpu.numa);
  });
}
std::vector<Part> roots_of(const Machine& machine) {
  return parts_of(machine.roots, [](const RootComplex& root, Part& part) { part.address = root.bus; });
}
std::vector<Part> switches_of(const Machine& machine) {
  return parts_of(machine.switches, [](const PcieSwitch& sw, Part& part) { part.address = sw.bdf; });
}
std::vector<Part> nvswitches_of(const Machine& machine) {
  return parts_of(machine.nvswitches, [](const NvSwitch& /*nvswitch*/, Part& /*part*/) {});
}
std::vector<Part> nics_of(const Machine& machine) {
  auto parts = parts_of(machine.nics, [&](const Nic& nic, Part& part) {
    part.address = nic.bdf;
    if (!is_assumed(machine, "nics." + nic.name + ".model")) part.model = essence(nic.model);
  });
  add_slots(machine, NodeKind::nic, parts);
  return parts;
}
std::vector<Part> gpus_of(const Machine& machine) {
  auto parts = parts_of(machine.gpus, [&](const Gpu& gpu, Part& part) {
    part.address = gpu.bdf;
    if (!is_assumed(machine, "gpus." + gpu.name + ".model")) part.model = essence(gpu.model);
  });
  add_slots(machine, NodeKind::gpu, parts);
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [&](const Part& part) { return !machine.gpus[at_index(part.index)].present; }),
              parts.end());
  return parts;
}

bool same_address(const Part& a, const Part& b) { return !a.address.empty() && a.address == b.address; }
bool same_name(const Part& a, const Part& b) {
  return a.name == b.name && (a.address.empty() || b.address.empty());
}
bool same_slot(const Part& a, const Part& b) {
  return !a.slot.empty() && a.slot == b.slot && !a.model.empty() && !b.model.empty();
}

/// Pairs each part that is left with the first one after that it is like.
template <class Alike>
void pair_by(std::vector<Part>& before, std::vector<Part>& after, Recognized how, bool by_name, Alike&& alike,
             PartPairs& found) {
  for (Part& one : before) {
    if (one.paired) continue;
    const auto other = std::find_if(after.begin(), after.end(), [&](const Part& candidate) {
      return !candidate.paired && alike(one, candidate);
    });
    if (other == after.end()) continue;
    one.paired = other->paired = true;
    found.pairs.push_back({one.index, other->index, how, by_name});
  }
}

PartPairs paired(std::vector<Part> before, std::vector<Part> after) {
  PartPairs found;
  const auto of_one_model = [](auto alike) {
    return [alike](const Part& a, const Part& b) {
      return alike(a, b) && (a.model.empty() || b.model.empty() || a.model == b.model);
    };
  };
  pair_by(before, after, Recognized::same, false, of_one_model(same_address), found);
  pair_by(before, after, Recognized::same, false, of_one_model(same_slot), found);
  pair_by(before, after, Recognized::same, true, of_one_model(same_name), found);
  const auto known_models = [](const Part& a, const Part& b) { return !a.model.empty() && !b.model.empty(); };
  pair_by(before, after, Recognized::moved, false, of_one_model(known_models), found);
  pair_by(before, after, Recognized::replaced, false, same_address, found);
  pair_by(before, after, Recognized::replaced, true, same_name, found);
  std::sort(found.pairs.begin(), found.pairs.end(),
            [](const PartPair& a, const PartPair& b) { return a.before < b.before; });
  for (const Part& part : before) {
    if (!part.paired) found.gone.push_back(part.index);
  }
  for (const Part& part : after) {
    if (!part.paired) found.added.push_back(part.index);
  }
  return found;
}

}  // namespace

int PartPairs::after_of(int before) const {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const PartPair& pair) { return pair.before == before; });
  return found == pairs.end() ? -1 : found->after;
}

const PartPairs& MachinePairs::of(NodeKind kind) const {
  switch (kind) {
    case NodeKind::gpu:
      return gpus;
    case NodeKind::pcie_switch:
      return switches;
    case NodeKind::root:
      return roots;
    case NodeKind::cpu:
      return cpus;
    case NodeKind::nvswitch:
      return nvswitches;
    case NodeKind::nic:
      break;
  }
  return nics;
}

MachinePairs pair_parts(const Machine& before, const Machine& after) {
  return {paired(cpus_of(before), cpus_of(after)),
          paired(roots_of(before), roots_of(after)),
          paired(switches_of(before), switches_of(after)),
          paired(gpus_of(before), gpus_of(after)),
          paired(nvswitches_of(before), nvswitches_of(after)),
          paired(nics_of(before), nics_of(after))};
}

}  // namespace lanecast
