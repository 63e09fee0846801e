#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/predict/flow_network.hpp"

namespace simgrid::s4u {
class Host;
class Mailbox;
}  // namespace simgrid::s4u

namespace lanecast {

/// Most that all flows together can ask of each resource, wire bytes per second: what can't be full need not
/// be shared.
using Demand = std::vector<BytesPerSecond>;

/// Units of SimGrid for one byte: it takes whole ones, and so no share of a packet is lost by rounding.
double transfer_scale();

/// SimGrid's engine with the resources of a network as links and its lanes as routes to one sink.
///
/// One a process (SimGrid's engine goes on from the old clock if made twice). Links have latency 0 and the
/// TCP shape is off, so that flows share equally whatever their route (simgrid.md). Resources that `demand`
/// can't fill, and those that another with the same flows and less capacity hides, get no link: they change
/// no rate.
class Platform {
 public:
  Platform(const FlowNetwork& network, const Demand& demand);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// Host that flows of this lane leave from; null where nothing on the lane can be full.
  simgrid::s4u::Host* lane_host(int lane) const { return lane_hosts_[static_cast<std::size_t>(lane)]; }

  /// Host where actors live that have nothing to send, and where all flows end.
  simgrid::s4u::Host* sink() const { return sink_; }

  /// A mailbox whose flows start as soon as they are put and end at the sink (simgrid.md: a plain one is a
  /// rendezvous).
  simgrid::s4u::Mailbox* eager_mailbox(const std::string& name);

  /// True where at least one resource can be full: then flows depend on each other.
  bool shared() const { return shared_; }

  /// Runs all actors to their end.
  /// @throws Error  kind runtime: actors that wait for each other
  void run();

  double clock() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<simgrid::s4u::Host*> lane_hosts_;
  simgrid::s4u::Host* sink_ = nullptr;
  bool shared_ = false;
};

/// Indices of the resources that can decide a rate: see `Platform`.
std::vector<bool> deciding_resources(const FlowNetwork& network, const Demand& demand);

}  // namespace lanecast
