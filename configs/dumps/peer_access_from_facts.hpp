#pragma once
#include "configs/dumps/machine_items.hpp"
#include "configs/dumps/machine_layout.hpp"
#include "configs/dumps/origin_book.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Sets who may access whom, from what the driver reports of pairs (`nvidia-smi topo -p2p`, CUDA). Pairs
/// with NVLink tell nothing of PCIe.
///
/// All PCIe pairs of a GPU refused: it takes no part (`p2p: false`). All granted: it does. Some: where the
/// refused ones are all farther than the granted ones, a level (`p2p.level`), else a note.
void set_peer_access(const MachineFacts& facts, const Items& items, const Layout& layout, Machine& machine,
                     OriginBook& book);

}  // namespace lanecast
