#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "hw/rendezvous/deadline.hpp"
#include "hw/rendezvous/meeting.hpp"
#include "hw/rendezvous/meeting_folder.hpp"
#include "hw/rendezvous/rank_words.hpp"
#include "hw/rendezvous/roster.hpp"
#include "hw/rendezvous/unix_socket.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice{50};
constexpr milliseconds kRetry{5};  // between looks for a rank 0 that is not there yet

Error late(const MeetingPoint& point, const std::string& whom) {
  return Error(ErrorKind::runtime, whom + " did not come within " + time_in_words(point.timeout),
               meeting_place(point), "see what " + whom + " does, or take a longer time-out");
}

Peer reach_host(const MeetingPoint& point, const std::string& path, const Deadline& deadline) {
  while (true) {
    if (std::optional<OwnedFile> file = connect_to(path)) {
      const pid_t process = require_peer_of(file->descriptor(), geteuid());
      return {std::make_unique<MessageChannel>(std::move(*file)), process};
    }
    if (deadline.passed()) throw late(point, "rank 0");
    std::vector<pollfd> nothing;
    deadline.wait(nothing, kRetry);
  }
}

Error refusal(const Message& message) {
  const bool usage = message.fields[0] == std::to_string(static_cast<int>(ErrorKind::usage));
  return Error(usage ? ErrorKind::usage : ErrorKind::runtime, message.fields[1]);
}

/// The host's welcome. Throws what it says instead, or that it says nothing.
Message wait_for_welcome(const MeetingPoint& point, Peer& host, const Deadline& deadline) {
  std::string waiting_for = "rank 0";
  while (true) {
    host.channel->pump();
    while (std::optional<Message> message = host.channel->next()) {
      if (message->kind == Message::Kind::welcome) return std::move(*message);
      if (message->fields.empty()) continue;
      if (message->kind == Message::Kind::waiting) waiting_for = message->fields[0];
      if (message->kind == Message::Kind::refused && message->fields.size() == 2) throw refusal(*message);
    }
    if (host.channel->ended()) {
      throw Error(ErrorKind::runtime,
                  "rank 0 is gone: its process " + std::to_string(host.process) +
                      " ended while the ranks met, or they were complete without this one",
                  meeting_place(point), "start all ranks again, each job with a name of its own");
    }
    if (deadline.passed()) {
      const Error error = late(point, waiting_for);
      host.channel->send({Message::Kind::give_up, 0, {first_line(error.what())}, {}});
      throw Error(error);
    }
    std::vector<pollfd> files{{host.channel->descriptor(), POLLIN, 0}};
    deadline.wait(files, kSlice);
  }
}

pid_t process_number(const std::string& text) {
  pid_t process = 0;
  std::from_chars(text.data(), text.data() + text.size(), process);
  return process;
}

}  // namespace

std::vector<Peer> join_meeting(const MeetingPoint& point, const std::string& folder) {
  const Deadline deadline(point.timeout);
  Peer host = reach_host(point, folder + "/" + point.name + ".sock", deadline);
  host.channel->send({Message::Kind::hello,
                      0,
                      {std::to_string(kMeetingVersion), std::to_string(point.rank),
                       std::to_string(point.ranks), std::to_string(getpid()), std::to_string(geteuid())},
                      {}});
  Message welcome = wait_for_welcome(point, host, deadline);
  const auto ranks = static_cast<std::size_t>(point.ranks);
  if (welcome.fields.size() != ranks || welcome.files.size() != ranks - 2) {
    throw Error(ErrorKind::runtime,
                "the connections to the other ranks did not arrive: too many files are open",
                meeting_place(point), "raise the limit on open files (ulimit -n)");
  }
  std::vector<Peer> peers(ranks);
  peers[0].channel = std::move(host.channel);
  auto file = welcome.files.begin();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    peers[rank].process = process_number(welcome.fields[rank]);
    if (rank == 0 || rank == static_cast<std::size_t>(point.rank)) continue;
    peers[rank].channel = std::make_unique<MessageChannel>(std::move(*file++));
  }
  return peers;
}

}  // namespace lanecast
