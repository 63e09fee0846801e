#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/link/pcie_packets.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {

/// A capacity that is approached softly: with n flows, (n^-p flow_rate^-p + capacity^-p)^(-1/p).
struct SoftCapacity {
  double exponent = 1.6;
  BytesPerSecond flow_rate{0};  // what one flow takes of it when nothing else limits
};

/// What flows share: one direction of a link, both directions of one, a socket link, host memory.
/// Capacities are wire bytes; what has no packets (sockets, memory, NVLink) is scaled to the builder's packet
/// size.
struct Resource {
  std::string link;       // "gpu0", "uplink1", "upi0", "memory cpu0"
  std::string direction;  // "up", "down", "both", "cpu0 to cpu1"
  BytesPerSecond capacity{0};
  std::optional<SoftCapacity> soft;
  BytesPerSecond usable{0};    // of the capacity, by the call's blocks together; see `approach`
  bool soft_approach = false;  // a PCIe link with peer traffic of thread blocks
  bool physical = true;        // false: what thread blocks can do, not the link; left out of the limit
};

/// A PCIe link that may be asleep when a call begins, and how long its first packet then waits.
struct SleepingLink {
  int link = 0;  // of the machine
  Seconds exit{0};
  bool operator==(const SleepingLink&) const = default;
};

/// A way through the machine that a flow can take. A resource may appear twice (load and store at once).
struct Lane {
  std::vector<int> resources;
  double wire_per_payload = 1;         // the flow is charged its worst packet size on the whole lane
  std::vector<SleepingLink> sleeping;  // links wake side by side, each once a call
  BytesPerSecond undisturbed{
      0};  // what a flow would get if only this lane's used its links; 0: not asked for
  bool operator==(const Lane&) const = default;
};

/// Capacity of a soft resource with `flows` flows on it.
BytesPerSecond soft_capacity(BytesPerSecond capacity, const SoftCapacity& soft, int flows);

/// What flows that together ask for `demand` get of a PCIe link: (demand^-p + capacity^-p)^(-1/p).
BytesPerSecond approach(BytesPerSecond capacity, BytesPerSecond demand, double exponent);

struct FlowNetwork {
  std::vector<Resource> resources;
  std::vector<Lane> lanes;
};

/// Who drives the flows of a network: thread blocks, or copy engines.
enum class Engine { sm, copy };

/// Turns routes into lanes over shared resources. Resources are made once and shared by the lanes that cross
/// them.
class FlowNetworkBuilder {
 public:
  /// @param lines  thread blocks store lines of LL or LL128
  FlowNetworkBuilder(const Machine& machine, const Profile& profile, Engine engine, bool lines = false);

  /// A lane for peer traffic over `route` (PCIe or NVLink).
  int add_peer(const Route& route);

  /// A lane for loads from a peer's memory: read completions along `route`, which leads from the memory to
  /// the GPU that loads.
  int add_peer_read(const Route& route);

  /// A lane from a GPU into host memory, out of it, or both at once (a block that loads and stores).
  /// @param joint_flow  SM engine: rate at which one block loads and stores together; 0 leaves the joint
  /// limit out
  /// @param joint_factor  of the joint capacity: what the FIFO's size makes of it
  int add_host(int gpu, const Route* store, std::optional<int> store_cpu, const Route* load,
               std::optional<int> load_cpu, BytesPerSecond joint_flow, double joint_factor = 1.0);

  /// A lane that crosses both at the same time, charged the heavier packets.
  int join(int first, int second);

  const FlowNetwork& network() const { return network_; }
  FlowNetwork take() { return std::move(network_); }

  /// Wire bytes a payload byte costs what has no packets of its own; capacities are scaled by it.
  double reference_weight() const;

 private:
  enum class Share { direction, duplex, host_duplex, port, root, memory, joint };
  using Key = std::tuple<Share, int, bool>;

  int push(const Lane& lane);
  int resource(const Key& key, const Resource& made);
  void cross(Lane& lane, const Route& route, bool host);
  void cross_pcie(Lane& lane, int link, bool forward, bool host, bool peer_at_root);
  void cross_nvlink(Lane& lane, int link, bool forward);
  void cross_socket(Lane& lane, int link, bool forward);
  double weight(const Route& route, Traffic traffic, bool host) const;
  bool old_copy_engine(const Route& route) const;
  Bytes route_mps(const Route& route) const;
  bool passes_intel_root(const Route& route) const;
  /// The duplex loss of peer traffic is acknowledgements and credits, one DLLP a packet: smaller packets lose
  /// more.
  double dllp_share_of_packets() const;
  BytesPerSecond capacity_of(const Link& link) const;

  const Machine& machine_;
  const Profile& profile_;
  Engine engine_;
  bool lines_;
  FlowNetwork network_;
  std::map<Key, int> made_;
};

}  // namespace lanecast
