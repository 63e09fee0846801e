#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/advice/doctor.hpp"
#include "model/topology/machine_pairs.hpp"
#include "model/topology/peer_access.hpp"

namespace lanecast {

/// Two present GPUs, and whether the implementation lets one store into the other's memory.
struct GpuPair {
  int a = 0;
  int b = 0;
  PeerVerdict verdict;
  bool nvlink = false;
};

/// What the rules look at, gathered once. Refers to the input, which must outlive it.
struct Evidence {
  explicit Evidence(const DoctorInput& input);

  const Machine& machine;
  const Machine* earlier = nullptr;
  const Implementation& implementation;
  std::vector<int> gpus;                // present
  std::vector<GpuPair> pairs;           // of these, a < b; empty where NCCL takes no more (256)
  std::vector<std::vector<int>> paths;  // [gpu]: PCIe links up to its root, nearest first; absent: empty
  std::vector<int> gpus_below;          // [link]: present GPUs that hang there
  std::vector<int> nics_below;          // [link]: network adapters that hang there
  std::optional<MachinePairs> since;    // which part of the earlier dump is which now

  /// Whether the value was stated: neither it nor its whole node was assumed.
  bool knows(const char* section, const std::string& name, const char* key) const;
  bool knows(const std::string& node, const char* key) const {
    return assumed_.count(node) == 0 && assumed_.count(node + "." + key) == 0;
  }

  /// The model of a card; empty where no dump names it.
  std::string model_of(int gpu) const;

  /// PCIe links that lead to a present GPU or to a network adapter, by index.
  std::vector<int> used_links() const;
  const Link& link(int index) const { return machine.links[static_cast<std::size_t>(index)]; }
  const Gpu& gpu(int index) const { return machine.gpus[static_cast<std::size_t>(index)]; }
  /// The same part in the earlier dump, at the same place. Nothing without one.
  std::optional<int> earlier_part(NodeId now) const;
  /// The PCIe link above that part, in the earlier dump. @param index  of a PCIe link
  std::optional<int> earlier_link(int index) const;
  bool too_many_for_pairs() const { return pairs.empty() && gpus.size() > 1; }

 private:
  std::unordered_set<std::string> assumed_;
};

/// The findings of one rule: its faults as they come, at the end one word about the rest.
class RuleFindings {
 public:
  RuleFindings(const char* code, std::vector<Finding>& findings) : code_(code), findings_(findings) {}

  void add(FindingStatus status, const std::string& where, const std::string& fact, const std::string& mend,
           std::optional<Machine> mended = std::nullopt);

  /// Something that the machine does not say: "link gpu0".
  void unknown(const std::string& name) { unknown_.push_back(name); }

  /// SKIP where something was unknown; else PASS, unless a fault was found.
  ///
  /// @param kind     of what was looked at: "links"
  /// @param missing  what was unknown: "it is not known whether"; the names go into `where`
  /// @param command  that would tell
  /// @param good     what holds where all is well
  void close(const std::string& kind, const std::string& missing, const std::string& command,
             const std::string& good);

 private:
  const char* code_;
  std::vector<Finding>& findings_;
  std::vector<std::string> unknown_;
  bool faulty_ = false;
};

/// "gpu0, gpu1, gpu2 and 5 more".
std::string enumerated(const std::vector<std::string>& names);

/// "link gpu0", "links gpu0, gpu1".
std::string named(const std::string& kind, const std::vector<std::string>& names);

/// "3 cards", "1 card".
std::string counted(std::size_t count, const std::string& noun);

/// "gen4 x16".
std::string link_text(PcieRate rate, int width);

/// "31.5 GB/s": raw, per direction.
std::string raw_text(PcieRate rate, int width);

/// The PCIe link right above a node.
std::optional<int> link_above(const Machine& machine, NodeId node);

}  // namespace lanecast
