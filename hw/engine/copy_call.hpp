#pragma once
#include <functional>

#include "hw/engine/call_planner.hpp"
#include "hw/engine/copy_engines.hpp"
#include "hw/engine/mailboxes.hpp"

namespace lanecast {

/// Issues a copy-engine-driven call: for each slice of the schedule a copy out of the device, a copy into it,
/// a sum, and the flags between ranks; at the end *done = *epoch.
///
/// @param stopped  asked before each slice: something went wrong, nothing more is issued
/// @param call  with addresses; its position's neighbours in the ring are who it exchanges data with
void issue_copies(const CallPlan& plan, const KernelCall& call, const Mailboxes& mailboxes,
                  CopyEngines& engines, std::uint64_t* done, const std::uint64_t* epoch,
                  const std::function<bool()>& stopped);

/// Device memory that calls of this layout need for what comes in.
std::size_t copy_scratch_bytes(const MailboxLayout& layout);

}  // namespace lanecast
