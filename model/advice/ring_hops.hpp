#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/flow_network.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// Ranks by their places among those that a ring is sought for, in ring order.
using RankOrder = std::vector<std::size_t>;

/// Whole numbers, so that orders which cost the same are exactly equal however their costs were added up.
using Femtoseconds = Quantity<struct FemtosecondsTag, std::int64_t>;

/// What a hop's bytes cross.
struct LinkUse {
  int resource = 0;
  int times = 1;             // a redirected store crosses a link twice
  Seconds per_wire_byte{0};  // `times` at the resource's capacity
  bool operator==(const LinkUse&) const = default;
};

/// What one hop of a ring asks of the links. Through host memory the sender's block stores and the receiver's
/// loads; to a peer the sender's block stores, and nothing is loaded.
struct RingHop {
  std::vector<LinkUse> stores;
  std::vector<LinkUse> loads;
  double store_packets = 0;  // wire bytes a payload byte
  double load_packets = 0;   // the same; 0: no loads
  Femtoseconds latency{0};   // of a flag

  bool crosses(int resource) const;
};

/// Every hop that a ring over some GPUs can have, over the transport that the implementation takes.
class RingHops {
 public:
  /// @param ranks   GPU indices, at least 2, each once
  /// @throws Error  kind usage, as `connect`
  RingHops(const Machine& machine, const Profile& profile, const Implementation& implementation,
           std::optional<Transport> transport, const std::vector<int>& ranks);

  std::size_t ranks() const { return ranks_.size(); }
  int gpu(std::size_t rank) const { return ranks_[rank]; }
  std::size_t resources() const { return network_.resources.size(); }
  const Resource& resource(std::size_t index) const { return network_.resources[index]; }
  const RingHop& hop(std::size_t from, std::size_t to) const { return hops_[from * ranks_.size() + to]; }

 private:
  std::vector<int> ranks_;
  std::vector<RingHop> hops_;  // [from * ranks + to]
  FlowNetwork network_;
};

}  // namespace lanecast
