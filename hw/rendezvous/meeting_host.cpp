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
constexpr milliseconds kFarewell{1000};  // most that a last message waits for a full socket

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Host {
 public:
  Host(const MeetingPoint& point, const std::string& folder)
      : point_(point),
        path_(folder + "/" + point.name + ".sock"),
        lock_(std::make_unique<MeetingLock>(folder + "/" + point.name + ".lock", point.name)),
        peers_(static_cast<std::size_t>(point.ranks)) {
    peers_[0].process = getpid();
    listener_ = listen_at(path_);
  }
  ~Host() { stop_listening(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::vector<Peer> meet() {
    try {
      wait_for_all();
    } catch (const Error& error) {
      refuse(error);
      throw;
    }
    stop_listening();  // first: who is welcomed may go on to the next meeting of the same name
    welcome();
    return std::move(peers_);
  }

 private:
  void wait_for_all();
  void look();
  void greet(Peer& guest, const Message& hello);
  void check_hello(const Peer& guest, const Message& hello) const;
  void check_alive();
  void welcome();
  void refuse(const Error& error);
  void flush();
  void stop_listening();
  void tell_waiting();
  std::vector<int> absent() const;
  std::vector<pollfd> files() const;
  Error usage(const std::string& what, const std::string& mend) const {
    return Error(ErrorKind::usage, what, meeting_place(point_), mend);
  }

  const MeetingPoint& point_;
  const std::string path_;
  std::unique_ptr<MeetingLock> lock_;
  OwnedFile listener_;
  std::vector<Peer> peers_;    // by rank; those that have said who they are
  std::vector<Peer> unknown_;  // connected, but not greeted yet
};

void Host::stop_listening() {
  if (lock_) unlink(path_.c_str());
  listener_ = OwnedFile();
  lock_.reset();
}

std::vector<int> Host::absent() const {
  std::vector<int> ranks;
  for (int rank = 1; rank < point_.ranks; ++rank) {
    if (!peers_[static_cast<std::size_t>(rank)].channel) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<pollfd> Host::files() const {
  std::vector<pollfd> files{{listener_.descriptor(), POLLIN, 0}};
  for (const std::vector<Peer>* group : {&peers_, &unknown_}) {
    for (const Peer& guest : *group) {
      if (guest.channel) files.push_back({guest.channel->descriptor(), POLLIN, 0});
    }
  }
  return files;
}

void Host::wait_for_all() {
  const Deadline deadline(point_.timeout);
  while (true) {
    look();
    const std::vector<int> missing = absent();
    if (missing.empty()) return;
    if (deadline.passed()) {
      throw Error(ErrorKind::runtime,
                  ranks_in_words(missing) + " did not come within " + time_in_words(point_.timeout),
                  meeting_place(point_),
                  "see what " + ranks_in_words(missing) + " does, or take a longer time-out");
    }
    std::vector<pollfd> ready = files();
    deadline.wait(ready, kSlice);
  }
}

void Host::look() {
  while (std::optional<OwnedFile> file = accept_from(listener_.descriptor())) {
    const pid_t process = require_peer_of(file->descriptor(), geteuid());
    unknown_.push_back({std::make_unique<MessageChannel>(std::move(*file)), process});
  }
  const std::size_t missing = absent().size();
  std::vector<Peer> silent;
  for (Peer& guest : unknown_) {
    guest.channel->pump();
    if (const std::optional<Message> hello = guest.channel->next()) {
      greet(guest, *hello);
    } else if (!guest.channel->ended()) {
      silent.push_back(std::move(guest));  // whoever ends before a word was no rank
    }
  }
  unknown_ = std::move(silent);
  check_alive();
  if (absent().size() != missing) tell_waiting();
}

void Host::greet(Peer& guest, const Message& hello) {
  try {
    check_hello(guest, hello);
  } catch (const Error& error) {
    guest.channel->send(
        {Message::Kind::refused, 0, {std::to_string(static_cast<int>(error.kind())), error.what()}, {}});
    throw;
  }
  peers_[static_cast<std::size_t>(*number(hello.fields[1]))] = std::move(guest);
}

void Host::check_hello(const Peer& guest, const Message& hello) const {
  const std::string process = "process " + std::to_string(guest.process);
  if (hello.kind != Message::Kind::hello || hello.fields.empty() ||
      hello.fields[0] != std::to_string(kMeetingVersion) || hello.fields.size() != 5) {
    throw usage(process + " speaks another version of the meeting than rank 0",
                "run the same build in all ranks");
  }
  const std::optional<int> rank = number(hello.fields[1]);
  const std::optional<int> ranks = number(hello.fields[2]);
  if (ranks != point_.ranks) {
    throw usage("ranks disagree about their number: rank 0 counts " + std::to_string(point_.ranks) +
                    ", rank " + hello.fields[1] + " (" + process + ") counts " + hello.fields[2],
                "start all ranks with the same number of ranks, and each job with a name of its own");
  }
  if (!rank || *rank < 1 || *rank >= point_.ranks) {
    throw usage(process + " says that it is rank " + hello.fields[1] + " of " + std::to_string(point_.ranks),
                "give each rank a number of its own");
  }
  const Peer& known = peers_[static_cast<std::size_t>(*rank)];
  if (known.channel) {
    throw usage("two processes say that they are rank " + hello.fields[1] + ": " +
                    std::to_string(known.process) + " and " + std::to_string(guest.process),
                "give each rank a number of its own, and each job a name of its own");
  }
}

/// Throws when one that came is gone again, with its reason if it gave one.
void Host::check_alive() {
  for (int rank = 1; rank < point_.ranks; ++rank) {
    Peer& guest = peers_[static_cast<std::size_t>(rank)];
    if (!guest.channel) continue;
    guest.channel->pump();
    const std::optional<Message> word = guest.channel->next();
    if (!word && !guest.channel->ended()) continue;
    const bool reason = word && word->kind == Message::Kind::give_up && !word->fields.empty();
    throw Error(ErrorKind::runtime,
                "rank " + std::to_string(rank) + " is gone: " +
                    (reason ? "it gave up: " + word->fields[0]
                            : "its process " + std::to_string(guest.process) + " ended while the ranks met"),
                meeting_place(point_), "mend that, then start all ranks again");
  }
}

void Host::tell_waiting() {
  const std::vector<int> missing = absent();
  if (missing.empty()) return;
  for (Peer& guest : peers_) {
    if (guest.channel) guest.channel->send({Message::Kind::waiting, 0, {ranks_in_words(missing)}, {}});
  }
}

void Host::welcome() {
  std::vector<std::string> processes;
  for (const Peer& each : peers_) processes.push_back(std::to_string(each.process));
  std::vector<Message> messages(peers_.size());
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    for (std::size_t other = rank + 1; other < peers_.size(); ++other) {
      auto [here, there] = connected_pair();
      messages[rank].files.push_back(std::move(here));
      messages[other].files.push_back(std::move(there));  // lower ranks come first, in order
    }
    messages[rank].kind = Message::Kind::welcome;
    messages[rank].fields = processes;
    peers_[rank].channel->send(std::move(messages[rank]));
  }
  flush();
}

/// Tells all that came why nothing comes of it.
void Host::refuse(const Error& error) {
  for (Peer& guest : peers_) {
    if (!guest.channel) continue;
    guest.channel->send(
        {Message::Kind::refused, 0, {std::to_string(static_cast<int>(error.kind())), error.what()}, {}});
  }
  flush();
}

void Host::flush() {
  const Deadline deadline(std::min(point_.timeout, kFarewell));
  while (!deadline.passed()) {
    std::vector<pollfd> full;
    for (Peer& guest : peers_) {
      if (!guest.channel || !guest.channel->unsent()) continue;
      guest.channel->pump();
      if (guest.channel->unsent()) full.push_back({guest.channel->descriptor(), POLLOUT, 0});
    }
    if (full.empty()) return;
    deadline.wait(full, kSlice);
  }
}

}  // namespace

std::vector<Peer> host_meeting(const MeetingPoint& point, const std::string& folder) {
  return Host(point, folder).meet();
}

}  // namespace lanecast
