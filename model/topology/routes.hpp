#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// One link of a route and the direction it is crossed in. `forward`: from `Link::from` to `Link::to` (PCIe:
/// downwards).
struct RouteLeg {
  int link = 0;
  bool forward = true;
  auto operator<=>(const RouteLeg&) const = default;
};

/// The links that data crosses between two ends, in order, and what it passes on the way.
struct Route {
  std::vector<RouteLeg> legs;
  std::vector<int> switches;      // PCIe switches traversed, one entry a traversal
  std::vector<int> roots;         // root complexes traversed, one entry a traversal
  std::vector<RouteLeg> sockets;  // the socket links among `legs`
  bool nvlink = false;
  bool redirected =
      false;  // peer traffic sent up to the root by ACS or IOMMU although a switch could turn it
};

/// PCIe links from a node up to its root, nearest first. Empty for a node without a PCIe parent.
std::vector<int> links_to_root(const Machine& machine, NodeId node);

/// The root above a node, if it has one.
std::optional<int> root_of(const Machine& machine, NodeId node);

/// The CPU (NUMA node) that a node's root belongs to; nothing for a node without a root.
std::optional<int> cpu_of(const Machine& machine, NodeId node);

/// Shortest NVLink route between two GPUs, direct or through NVSwitches; nothing where there is none.
std::optional<Route> nvlink_route(const Machine& machine, int from_gpu, int to_gpu);

/// NVLinks that carry what `link` carries: those between the same two ends, all NVSwitches being one. The
/// link's own index is among them, the smallest first.
std::vector<int> parallel_nvlinks(const Machine& machine, int link);

/// PCIe route of peer traffic: turned by the lowest switch that may (ACS off, no IOMMU translation), else by
/// the root, else across the sockets. Nothing where a GPU hangs on no root.
std::optional<Route> peer_route(const Machine& machine, int from_gpu, int to_gpu);

/// Route between a GPU and the memory of a CPU. `to_host`: GPU to memory; else memory to GPU.
std::optional<Route> host_route(const Machine& machine, int gpu, int cpu, bool to_host);

/// Distance of two GPUs as `nvidia-smi topo -m` would print it. NVLink counts as nearest.
Distance distance(const Machine& machine, int a, int b);

/// The same without NVLink: by the PCIe tree alone.
Distance pcie_distance(const Machine& machine, int a, int b);

/// The same of any two nodes that hang in the PCIe tree: GPUs, network adapters, switches. A node without a
/// root is SYS from all others.
Distance pcie_distance(const Machine& machine, NodeId a, NodeId b);

/// Indices of the GPUs that are present.
std::vector<int> present_gpus(const Machine& machine);

}  // namespace lanecast
