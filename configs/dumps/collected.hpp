#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/sysfs_tree.hpp"

namespace lanecast {

/// What a command printed on the machine where the text was collected.
struct CommandOutput {
  std::string command;  // "nvidia-smi topo -m"
  std::string output;
  int line = 0;  // of its first line
};

/// A text that the script of `topo collect` wrote. docs/import.md has the format.
struct CollectedText {
  int format = 0;     // 0: the text has no head line
  std::string taken;  // 2026-11-30T06:25:03Z; may be empty
  bool complete = false;
  ArchivedFiles files;
  std::vector<CommandOutput> commands;
};

/// The only format there is.
inline constexpr int kCollectedFormat = 1;

/// Any text. Of one that ends early the last file and the last line are left out, since they may be cut.
CollectedText parse_collected(std::string_view text);

}  // namespace lanecast
