#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast::support {

/// One way from a sender to a receiver on one channel, and how the schedule uses it.
struct Connection {
  std::vector<int> senders;    // strands of the sender's position that give to it
  std::vector<int> receivers;  // strands of the receiver's position that take from it
  int sends = 0;               // turns of one loop
  int receives = 0;
};

using Connections = std::map<std::pair<int, int>, Connection>;  // by (sender, receiver), positions

/// Every connection that a turn of any strand names.
///
/// @param strands  every strand of one channel: strands_of
Connections connections_of(const std::vector<ChannelWork>& strands);

/// Why a connection cannot work, empty when it can: each has one sending and one receiving strand, which
/// agree about the number of turns.
std::string fault_of(const Connections& connections);

}  // namespace lanecast::support
