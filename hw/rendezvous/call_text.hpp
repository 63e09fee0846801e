#pragma once
#include <optional>
#include <string>

#include "hw/rendezvous/status_board.hpp"

namespace lanecast {

/// Writes an entry that other ranks may be reading.
void publish(CallEntry& place, const CallEntry& call);

/// Call `number` of a rank; absent: it has not entered it, or it is not on the page any more.
std::optional<CallEntry> entered_call(const StatusPage& page, std::uint64_t number);

/// "all_reduce of 1024 float (sum, ring, simple)".
std::string call_in_words(const CallEntry& call);

}  // namespace lanecast
