#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/reading.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Finds nodes of a machine by name, over all kinds. Holds a reference: the machine must outlive it
/// unchanged.
class NodeIndex {
 public:
  explicit NodeIndex(const Machine& machine);

  /// "gpu0", or "gpus.gpu0" where two kinds know the name.
  Reading<NodeId> find(const std::string& reference) const;

  /// A node of one kind by its plain name.
  std::optional<NodeId> find(NodeKind kind, const std::string& name) const;

  /// The shortest text that `find` resolves to `id`; "" for a node that does not exist.
  std::string reference(NodeId id) const;

  /// The plain name; "" for a node that does not exist.
  std::string name(NodeId id) const;

  /// All names of one kind, in the machine's order.
  std::vector<std::string> names(NodeKind kind) const;

 private:
  const Machine& machine_;
  std::unordered_map<std::string, std::vector<NodeId>> by_name_;
};

/// The machine file's section that holds a kind: "gpus", "switches", "roots", "cpus", "nvswitches", "nics".
const char* section_of(NodeKind kind);

}  // namespace lanecast
