#pragma once
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/origin_book.hpp"

namespace lanecast {

/// A GPU of the machine to come.
struct GpuItem {
  std::string address;               // "" where no dump tells it
  const PciFacts* facts = nullptr;   // never null: empty facts where there are none
  int number = -1;                   // as nvidia-smi counts; -1: it does not count this one
  Statements<std::string> models{};  // that dumps state by number alone
  std::string from;                  // the place that shows it, where it has no address
};

/// A network adapter: all functions of one card.
struct AdapterItem {
  std::vector<std::string> functions;  // addresses, in order; none where only a matrix shows it
  std::string label;                   // "mlx5_0"; may be empty
  std::string from;                    // the matrix that shows it
};

/// What hangs at the leaves of the machine's tree. An item's number: GPUs first, then adapters.
struct Items {
  std::vector<GpuItem> gpus;
  std::vector<AdapterItem> adapters;
  bool has_nvswitch = false;
  /// The item of each name of each matrix; -1: none. At most 128 names of a matrix are taken.
  std::vector<std::vector<int>> of_matrix;
  /// Adapters of a matrix have no names or addresses that dumps know: they were matched by their order.
  bool adapters_by_order = false;

  std::size_t size() const { return gpus.size() + adapters.size(); }
  bool is_gpu(int item) const { return item < static_cast<int>(gpus.size()); }
  const AdapterItem& adapter(int item) const {
    return adapters[static_cast<std::size_t>(item) - gpus.size()];
  }
  /// "gpu3", "nic0": names as the machine will have them.
  std::string name(int item) const;
  /// Its address, an adapter's first function's; "" where it has none.
  std::string address(int item) const;
};

/// The GPUs and adapters among the PCI functions: which they are, in the order in which nvidia-smi numbers
/// GPUs.
Items select_devices(const MachineFacts& facts, OriginBook& book);

/// Finds the items that matrices and numbered lists name, and adds those that no PCI function stands for.
///
/// Adapters that only a matrix shows are added where no dump lists any; else they cannot be told from those
/// that dumps list, and are left out with a note.
void match_matrices(const MachineFacts& facts, Items& items, OriginBook& book);

/// @throws Error  kind usage: there is no GPU, or more than a machine may have; names what was found and what
/// would help
void expect_gpus(const MachineFacts& facts, const Items& items);

}  // namespace lanecast
