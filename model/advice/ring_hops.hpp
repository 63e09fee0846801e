#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/flow_network.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// What one hop of a ring asks of the links, for one byte of payload.
struct RingHop {
  std::vector<std::pair<int, double>> seconds;  // resource, link time in seconds a byte
  Seconds latency{0};                           // of a flag
};

/// Every hop that a ring over some GPUs can have.
class RingHops {
 public:
  /// @param ranks   GPU indices
  /// @throws Error  kind usage, as `connect`
  RingHops(const Machine& machine, const Profile& profile, const Implementation& implementation,
           std::optional<Transport> transport, const std::vector<int>& ranks);

  std::size_t ranks() const { return ranks_.size(); }
  int gpu(std::size_t rank) const { return ranks_[rank]; }
  std::size_t resources() const { return network_.resources.size(); }
  const Resource& resource(std::size_t index) const { return network_.resources[index]; }

  /// From the rank at one place of `ranks` to that at another.
  const RingHop& hop(std::size_t from, std::size_t to) const { return hops_[from * ranks_.size() + to]; }

  /// Whether two ranks can be exchanged without changing what any ring asks of the links, but for which of
  /// two equal links it asks: cards on equal links of one switch or root that reach every other card in the
  /// same way.
  bool interchangeable(std::size_t a, std::size_t b) const;

 private:
  RingHop hop_of(const Machine& machine, const Profile& profile, const Connection& connection,
                 FlowNetworkBuilder& builder) const;

  std::vector<int> ranks_;
  std::vector<RingHop> hops_;
  std::vector<int> own_link_;              // [rank] PCIe link, -1: none
  std::vector<Link> link_values_;          // [rank] of that link, without names
  std::vector<std::vector<bool>> nvlink_;  // [rank][rank] joined by NVLink
  std::vector<int> parent_;                // [rank] node above, as a number; -1: none
  std::vector<std::vector<Transport>> transport_;
  FlowNetwork network_;
};

}  // namespace lanecast
