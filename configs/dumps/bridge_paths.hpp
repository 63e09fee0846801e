#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/origin_book.hpp"

namespace lanecast {

/// What is right above a PCI function.
struct AboveFunction {
  enum class Kind {
    unknown,
    root_bus,  // it sits on a root bus
    bridge,    // the bridge right above
    ancestor,  // some bridge further up, as NCCL's files have it
  };
  Kind kind = Kind::unknown;
  std::string bridge;
  std::string from;
  bool leads_up() const { return kind == Kind::bridge || kind == Kind::ancestor; }
};

/// The bridges above some devices: a forest, without circles.
struct BridgePaths {
  std::map<std::string, AboveFunction> above;             // of all devices and of the bridges above them
  std::map<std::string, std::vector<std::string>> below;  // of bridges, in order
  std::vector<std::string> bridges;                       // each behind the one above it
};

/// @param devices  addresses; none of them is taken for a bridge
BridgePaths bridge_paths(const MachineFacts& facts, const std::set<std::string>& devices, OriginBook& book);

}  // namespace lanecast
