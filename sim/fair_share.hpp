#pragma once
#include <cstddef>
#include <vector>

#include "model/predict/flow_network.hpp"

namespace lanecast {

/// Flows that share resources max-min fairly: rates rise together until a resource is full or a flow's cap is
/// reached; a flow that crosses a resource twice takes twice its rate of it. What SimGrid's fluid model does
/// with the same network (simgrid.md), without its actors and its clock.
class FairShare {
 public:
  /// @param deciding  [resource] that can be full: `deciding_resources`
  FairShare(const FlowNetwork& network, const std::vector<bool>& deciding);

  /// Whether flows of a lane share anything.
  bool shared(int lane) const { return !lanes_[static_cast<std::size_t>(lane)].empty(); }

  /// A flow begins. @param cap  bytes per second   @param owner  handed back when it ends
  void add(int lane, double cap, double wire_bytes, int owner);

  bool idle() const { return flows_.empty(); }

  /// Seconds until the next flow ends, if none begins; infinity where there is none.
  double next_end();

  /// Rates of all flows, in the order in which they were added.
  std::vector<double> rates();

  /// All flows go on for so long, no longer than `next_end()`; owners of those that end are appended.
  void advance(double seconds, std::vector<int>& ended);

 private:
  struct Crossing {
    std::size_t resource;
    double times;
  };
  struct Flow {
    std::size_t lane;
    double cap;
    double left;
    double negligible;  // bytes
    double rate;
    int owner;
    bool fixed;
  };
  struct Shared {
    double capacity;
    bool is_soft;
    SoftCapacity soft;
    double left;    // of the capacity, while rates are found
    double weight;  // crossings of flows whose rate is not found yet
    int flows;
  };

  void find_rates();
  void load_resources();
  bool fix_capped(double level, std::size_t& open);
  void fix_at_bottleneck(double level, std::size_t& open);
  void fix(Flow& flow, double rate);

  std::vector<std::vector<Crossing>> lanes_;
  std::vector<Shared> resources_;
  std::vector<Flow> flows_;
  bool stale_ = false;
};

}  // namespace lanecast
