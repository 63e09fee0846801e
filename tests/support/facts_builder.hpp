#pragma once
#include <string>
#include <utility>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/import.hpp"

namespace lanecast::support {

/// Facts as readers would add them, for tests of what is made of them. Each returns what it added, so that a
/// test can state more of it. Places are "dump:N", N counting statements.
class FactsBuilder {
 public:
  MachineFacts facts{};

  /// The next place. `kind` stands behind it: "nvidia-smi".
  std::string place(const std::string& kind = "") {
    return "dump:" + std::to_string(++statements_) + (kind.empty() ? "" : " (" + kind + ")");
  }

  PciFacts& device(const std::string& address) { return facts.devices[address]; }

  /// A bridge. `parent`: the bridge right above, "" on a root bus.
  PciFacts& bridge(const std::string& address, const std::string& parent) {
    PciFacts& facts_of = device(address);
    facts_of.class_code.add(0x060400, place());
    facts_of.parent.add(parent, place());
    return facts_of;
  }
  PciFacts& root_port(const std::string& address) {
    PciFacts& port = bridge(address, "");
    port.port.add(PciePort::root_port, place());
    return port;
  }
  PciFacts& upstream_port(const std::string& address, const std::string& parent) {
    PciFacts& port = bridge(address, parent);
    port.port.add(PciePort::upstream_port, place());
    return port;
  }
  PciFacts& downstream_port(const std::string& address, const std::string& parent) {
    PciFacts& port = bridge(address, parent);
    port.port.add(PciePort::downstream_port, place());
    return port;
  }

  /// A GPU of class 0302 that no dump places.
  PciFacts& bare_gpu(const std::string& address, const std::string& model = "NVIDIA A100-PCIE-40GB") {
    PciFacts& gpu = device(address);
    gpu.class_code.add(0x030200, place());
    gpu.vendor.add(0x10de, place());
    if (!model.empty()) gpu.gpu_model.add(model, place("nvidia-smi"));
    return gpu;
  }
  PciFacts& gpu(const std::string& address, const std::string& parent,
                const std::string& model = "NVIDIA A100-PCIE-40GB") {
    PciFacts& card = bare_gpu(address, model);
    card.parent.add(parent, place());
    return card;
  }
  PciFacts& adapter(const std::string& address, const std::string& parent) {
    PciFacts& card = device(address);
    card.class_code.add(0x020700, place());
    card.vendor.add(0x15b3, place());
    card.parent.add(parent, place());
    return card;
  }

  /// A matrix from rows of cells: "X", "PIX", "NV4", "" for what is cut off. Names of rows: "GPU0", "NIC0".
  TopoMatrix& matrix(const std::vector<std::string>& names,
                     const std::vector<std::vector<std::string>>& rows) {
    TopoMatrix made;
    made.names = names;
    made.from = place("nvidia-smi topo -m");
    for (const std::vector<std::string>& row : rows) {
      made.cells.emplace_back();
      for (const std::string& text : row) {
        TopoCell cell;
        if (text.rfind("NV", 0) == 0) {
          cell.nvlinks = std::stoi(text.substr(2));
        } else if (text == "X") {
          cell.distance = Distance::loc;
        } else {
          cell.distance = distance_from_string(text);
        }
        made.cells.back().push_back(cell);
      }
    }
    facts.matrices.push_back(std::move(made));
    return facts.matrices.back();
  }

  ImportedMachine machine() const { return machine_from_facts(facts, "box"); }

 private:
  int statements_ = 0;
};

}  // namespace lanecast::support
