#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "sim/folder.hpp"

namespace lanecast {

/// Which channels of a call fold their loops together: those that share something, else each alone.
struct LoopFolding {
  std::vector<std::size_t> group_of;                 // channel -> group
  std::vector<int> place_in_group;                   // channel -> its number within its group
  std::vector<std::vector<Folder::Channel>> groups;  // group -> its channels
  std::vector<std::unique_ptr<Folder>> folders;      // [group]; empty: loops are not folded

  /// The folder of a channel's loops; null: they are not folded.
  Folder* folder(int channel) const {
    return folders.empty() ? nullptr : folders[group_of[static_cast<std::size_t>(channel)]].get();
  }
};

/// @param coupled  whether the flows of different channels can share something
/// @param exact    no folding
LoopFolding fold_loops(const SchedulePlan& plan, bool coupled, bool exact);

/// Whether the steps of a ring of many ranks are to be folded; only where loops are not.
bool folds_steps(const SchedulePlan& plan, const LoopFolding& loops, bool exact);

/// The work of every strand, channel by channel.
std::vector<ChannelWork> all_strands(const SchedulePlan& plan);

}  // namespace lanecast
