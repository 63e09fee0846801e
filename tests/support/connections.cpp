#include "tests/support/connections.hpp"

#include "model/schedule/schedule.hpp"

namespace lanecast::support {
namespace {

void use(std::vector<int>& strands, int strand) {
  if (strands.empty() || strands.back() != strand) strands.push_back(strand);
}

}  // namespace

Connections connections_of(const std::vector<ChannelWork>& strands) {
  Connections connections;
  for (const ChannelWork& work : strands) {
    for (int step = 0; step < step_count(work); ++step) {
      const Turn turn = turn_of(work, step);
      for (int i = 0; i < turn.from.count; ++i) {
        Connection& from = connections[{turn.from.at(i), work.position}];
        use(from.receivers, work.strand);
        ++from.receives;
      }
      for (int i = 0; i < turn.to.count; ++i) {
        Connection& to = connections[{work.position, turn.to.at(i)}];
        use(to.senders, work.strand);
        ++to.sends;
      }
    }
  }
  return connections;
}

std::string fault_of(const Connections& connections) {
  for (const auto& [ends, connection] : connections) {
    const std::string name = "position " + std::to_string(ends.first) + " sends to position " +
                             std::to_string(ends.second) + " in " + std::to_string(connection.sends);
    if (connection.sends != connection.receives)
      return name + " turns of a loop, which takes in " + std::to_string(connection.receives);
    if (connection.senders.size() != 1 || connection.receivers.size() != 1)
      return name + " turns of several strands";
  }
  return "";
}

}  // namespace lanecast::support
