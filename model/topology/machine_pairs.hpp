#pragma once
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// How a part of one machine was found again in another.
enum class Recognized {
  same,      // by its PCI address (CPUs: NUMA number; roots: bus), its slot, or its name
  moved,     // the only thing in common is the model: gone at one place, new at another
  replaced,  // the place is the same, the model is another
};

/// One part in both machines, by index.
struct PartPair {
  int before = 0;
  int after = 0;
  Recognized how = Recognized::same;
  bool by_name = false;  // no address or slot says so
};

/// The parts of one kind in both machines.
struct PartPairs {
  std::vector<PartPair> pairs;  // by index before
  std::vector<int> gone;        // indices before
  std::vector<int> added;       // indices after

  /// The index after of a part before; -1 where it is gone.
  int after_of(int before) const;
};

struct MachinePairs {
  PartPairs cpus;
  PartPairs roots;
  PartPairs switches;
  PartPairs gpus;  // those that are present
  PartPairs nvswitches;
  PartPairs nics;

  const PartPairs& of(NodeKind kind) const;
};

/// Which part of one machine is which part of the other.
///
/// Names shift when a card is gone, so that addresses go first: parts with the same PCI address are the same
/// one, then cards of one model in the same slot, then parts of one name where either has no address. Models
/// are compared by what all tools print of them ("NVIDIA Corporation AD102GL [L40S] (rev a1)", "NVIDIA
/// L40S"). Cards carry no identity of their own in dumps: one that is gone and a new one of the same model
/// count as moved.
MachinePairs pair_parts(const Machine& before, const Machine& after);

}  // namespace lanecast
