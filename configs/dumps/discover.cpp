#include "configs/dumps/discover.hpp"

#include "configs/dumps/sysfs_tree.hpp"
#include "configs/dumps/system_facts.hpp"

namespace lanecast {

MachineFacts live_facts(const std::string& sysroot, const std::string& taken) {
  MachineFacts facts;
  if (!taken.empty()) facts.taken.add(taken, "live");
  const int functions = add_system_facts(LiveFiles(sysroot), "live", facts);
  if (functions == 0) {
    facts.notes.push_back(
        "live: there is no PCI function in /sys/bus/pci/devices; a container may hide it: run outside of it");
  }
  return facts;
}

}  // namespace lanecast
