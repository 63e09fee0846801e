#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// What stands behind an `@`: "gen4x8/gen5x16". Absent parts are taken from the `@` around it.
struct LineSpeed {
  std::size_t at = 0;  // byte of the line
  std::optional<PcieRate> rate;
  std::optional<int> width;
  std::optional<PcieRate> max_rate;
  std::optional<int> max_width;
};

enum class LineWord { group, socket, cpu, root, pcie_switch, gpu, nic };

/// A part of a one-line machine, `count` times: "4xgpu", "sw@gen3x8:4xgpu", "2x(...)".
struct LineItem {
  std::size_t at = 0;
  int count = 1;
  LineWord word = LineWord::group;
  std::string model;
  std::optional<int> sm;
  std::optional<BytesPerSecond> rate;  // of a network adapter's port
  bool acs = false;
  LineSpeed own;     // behind the word: of its link upwards
  LineSpeed inside;  // behind the closing parenthesis: of all links that have none of their own
  std::vector<LineItem> items;
};

enum class LineNvlinks { none, to_switch, all_pairs, neighbours };

/// A one-line machine taken apart; docs/synthetic.md has its grammar.
struct MachineLine {
  std::vector<LineItem> items;
  LineNvlinks nvlinks = LineNvlinks::none;
  std::size_t nvlinks_at = 0;
  int nvlink_count = 0;
  std::optional<BytesPerSecond> nvlink_rate;
  std::optional<BytesPerSecond> socket_rate;
  PeerAccess p2p;
};

/// @throws Error  kind usage, with a caret below the place: what is no part of the grammar, parts where they
/// cannot be, numbers out of range, more than 32 levels or 4096 bytes
MachineLine parse_machine_line(const std::string& line);

}  // namespace lanecast
