#include "hw/rendezvous/meeting.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "hw/rendezvous/meeting_folder.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostLetters = 80;

bool is_allowed(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_' ||
         letter == '.';
}

void check(const MeetingPoint& point) {
  const auto usage = [&](const std::string& what, const std::string& mend) {
    throw Error(ErrorKind::usage, what, meeting_place(point), mend);
  };
  if (point.name.empty() || point.name.size() > kMostLetters ||
      !std::all_of(point.name.begin(), point.name.end(), is_allowed)) {
    usage("\"" + point.name + "\" is no name of a job",
          "take 1 to " + std::to_string(kMostLetters) + " of letters, digits, '-', '_' and '.'");
  }
  if (point.ranks < 1 || point.ranks > kMostMeetingRanks) {
    usage("a job of " + std::to_string(point.ranks) + " ranks cannot meet",
          "take 1 to " + std::to_string(kMostMeetingRanks) + " ranks");
  }
  if (point.rank < 0 || point.rank >= point.ranks) {
    usage("rank " + std::to_string(point.rank) + " is none of a job of " + std::to_string(point.ranks) +
              " ranks",
          "number the ranks from 0 to " + std::to_string(point.ranks - 1));
  }
}

}  // namespace

std::string meeting_place(const MeetingPoint& point) {
  return "the meeting of job \"" + point.name + "\", rank " + std::to_string(point.rank) + " of " +
         std::to_string(point.ranks);
}

std::unique_ptr<Exchange> meet(const MeetingPoint& point) {
  check(point);
  std::vector<Peer> peers(1);
  if (point.ranks > 1) {
    const std::string folder = meeting_folder();
    peers = point.rank == 0 ? host_meeting(point, folder) : join_meeting(point, folder);
  }
  return std::make_unique<SocketExchange>(point.rank, std::move(peers), point.timeout);
}

}  // namespace lanecast
