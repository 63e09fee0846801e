#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "model/implementation/nccl/cost_model.hpp"

namespace lanecast {

inline constexpr Collective kAllCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                                 Collective::all_gather, Collective::broadcast,
                                                 Collective::reduce};

inline NcclGraph graph(GraphPattern pattern, double bus_GBps, PathType type, int channels = 1) {
  NcclGraph found;
  found.pattern = pattern;
  found.channels = channels;
  found.speed_intra = bus_GBps / channels;
  found.type_intra = type;
  return found;
}

/// A ring alone, on Ampere: no tree was found.
inline CostModelInput ring_of(int ranks, double bus_GBps, PathType type = PathType::phb, int minor = 30) {
  CostModelInput input;
  input.version.minor = minor;
  input.ranks = ranks;
  input.min_sm = input.max_sm = 80;
  input.cpu_vendor = "intel";
  input.ring = graph(GraphPattern::ring, bus_GBps, type);
  input.tree.channels = 0;
  return input;
}

inline CostModelInput ring_and_tree(int ranks, double bus_GBps, PathType type, int minor = 30,
                                    int channels = 1) {
  CostModelInput input = ring_of(ranks, bus_GBps, type, minor);
  input.ring = graph(GraphPattern::ring, bus_GBps, type, channels);
  input.tree = graph(GraphPattern::balanced_tree, bus_GBps, type, channels);
  return input;
}

inline CostEstimate line(const CostModelInput& input, NcclAlgorithm algorithm, Protocol protocol,
                         Bytes size) {
  for (const CostEstimate& estimate : nccl_costs(input, size)) {
    if (estimate.algorithm == algorithm && estimate.protocol == protocol) return estimate;
  }
  ADD_FAILURE() << "no line for " << to_string(algorithm) << " " << to_string(protocol);
  return {};
}

inline double latency_us(const CostModelInput& input, NcclAlgorithm algorithm, Protocol protocol) {
  return line(input, algorithm, protocol, Bytes(1u << 20)).latency.value() * 1e6;
}

inline double algbw_GBps(const CostModelInput& input, NcclAlgorithm algorithm, Protocol protocol,
                         Bytes size = Bytes(1u << 20)) {
  return line(input, algorithm, protocol, size).algbw.value() / 1e9;
}

inline std::string chosen(const CostModelInput& input, Bytes size) {
  const CostEstimate choice = nccl_choice(input, size);
  return std::string(to_string(choice.algorithm)) + " " + to_string(choice.protocol);
}

inline void for_every_version(const std::function<void(NcclVersion)>& check) {
  for (int minor = 18; minor <= 30; ++minor) check({false, minor});
  check({true, 21});
}

inline CostModelInput hopper_with_switches(int minor, Collective collective = Collective::all_reduce) {
  CostModelInput input = ring_and_tree(8, 360, PathType::nvl, minor, 12);
  input.min_sm = input.max_sm = 90;
  input.collective = collective;
  input.nvls = graph(GraphPattern::nvls, 320, PathType::nvl, 8);
  return input;
}

}  // namespace lanecast
