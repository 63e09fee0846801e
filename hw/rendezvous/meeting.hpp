#pragma once
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/socket_exchange.hpp"
#include "model/error.hpp"

namespace lanecast {

/// Most ranks that meet: each pair gets a connection, and all of them are open in rank 0 for a moment.
inline constexpr int kMostMeetingRanks = 32;

/// Version of what is said at a meeting.
inline constexpr int kMeetingVersion = 1;

/// Rank 0's part: listens until all are there, and hands a connection to each pair.
/// @return  by rank
std::vector<Peer> host_meeting(const MeetingPoint& point, const std::string& folder);

/// The part of the others.
std::vector<Peer> join_meeting(const MeetingPoint& point, const std::string& folder);

/// Where it went wrong, for errors: 'the meeting of job "x", rank 1 of 4'.
std::string meeting_place(const MeetingPoint& point);

}  // namespace lanecast
