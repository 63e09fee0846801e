#include "hw/rendezvous/socket_exchange.hpp"

#include <poll.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "hw/rendezvous/deadline.hpp"
#include "hw/rendezvous/rank_words.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice{2};  // another thread may have taken what this one waits for
constexpr std::uint64_t kNoRound = std::numeric_limits<std::uint64_t>::max();
constexpr milliseconds kFarewell{1000};  // most that a last message waits for a full socket

std::vector<pollfd> files_of(const std::vector<Peer>& peers, bool only_unsent) {
  std::vector<pollfd> files;
  for (const Peer& peer : peers) {
    if (!peer.channel || peer.channel->ended()) continue;
    if (only_unsent && !peer.channel->unsent()) continue;
    const int events = (only_unsent ? 0 : POLLIN) | (peer.channel->unsent() ? POLLOUT : 0);
    files.push_back({peer.channel->descriptor(), static_cast<short>(events), 0});
  }
  return files;
}

}  // namespace

SocketExchange::SocketExchange(int rank, std::vector<Peer> peers, milliseconds timeout)
    : rank_(rank),
      timeout_(timeout),
      peers_(std::move(peers)),
      roster_(static_cast<int>(peers_.size())),
      ends_(peers_.size(), kNoRound) {}

std::vector<std::string> SocketExchange::all_gather(const std::string& mine, const std::string& what) {
  std::vector<std::string> all;
  for (Message& each : gather(mine, OwnedFile(), {what, rank(), ranks()})) {
    all.push_back(std::move(each.fields.at(1)));
  }
  return all;
}

std::vector<OwnedFile> SocketExchange::all_gather_files(int descriptor, const std::string& what) {
  const ExchangeSite site{what, rank(), ranks()};
  std::vector<OwnedFile> all;
  for (Message& each : gather("", duplicate(descriptor), site)) {
    if (each.files.empty()) throw no_file_error(site, static_cast<int>(all.size()));
    all.push_back(std::move(each.files.front()));
  }
  return all;
}

std::vector<Message> SocketExchange::gather(const std::string& mine, OwnedFile file,
                                            const ExchangeSite& site) {
  {
    const std::scoped_lock lock(mutex_);
    contribute(mine, file, site);
    inbox_[round_][static_cast<std::size_t>(rank_)]->files.push_back(std::move(file));
  }
  const Deadline deadline(timeout_);
  while (true) {
    std::vector<pollfd> files;
    {
      const std::scoped_lock lock(mutex_);
      pump();
      if (const std::optional<Error> problem = obstacle(site, deadline.passed())) {
        give_up_locked(first_line(problem->what()));
        throw Error(*problem);
      }
      if (absent().empty()) return taken_round();
      files = files_of(peers_, false);
    }
    deadline.wait(files, kSlice);
  }
}

void SocketExchange::contribute(const std::string& mine, const OwnedFile& file, const ExchangeSite& site) {
  if (given_up_) throw given_up_error(site, *given_up_);
  ++round_;
  Contributions& round = inbox_[round_];
  round.resize(peers_.size());
  round[static_cast<std::size_t>(rank_)] =
      Message{Message::Kind::contribution, round_, {site.what, mine}, {}};
  for (Peer& peer : peers_) {
    if (!peer.channel) continue;
    Message message{Message::Kind::contribution, round_, {site.what, mine}, {}};
    if (file.descriptor() >= 0) message.files.push_back(duplicate(file.descriptor()));
    peer.channel->send(std::move(message));
  }
}

/// Why the round that is going on cannot be completed as all ranks mean it; absent: it still can. A round to
/// which all contributed is complete, whoever ended since.
std::optional<Error> SocketExchange::obstacle(const ExchangeSite& site, bool late) {
  if (given_up_) return given_up_error(site, *given_up_);
  const Contributions& round = inbox_[round_];
  for (int other = 0; other < ranks(); ++other) {
    const std::optional<Message>& theirs = round[static_cast<std::size_t>(other)];
    if (theirs && theirs->fields.at(0) != site.what) return mixed_error(site, other, theirs->fields.at(0));
  }
  const std::vector<int> missing = absent();
  if (missing.empty()) return std::nullopt;
  if (std::optional<Error> gone = gone_error(site, roster_, missing)) return gone;
  if (late) return late_error(site, missing, timeout_);
  return std::nullopt;
}

std::vector<Message> SocketExchange::taken_round() {
  std::vector<Message> all;
  for (std::optional<Message>& each : inbox_[round_]) all.push_back(std::move(*each));
  inbox_.erase(round_);
  completed_ = round_;
  return all;
}

std::vector<int> SocketExchange::absent() {
  std::vector<int> missing;
  const Contributions& round = inbox_[round_];
  for (int other = 0; other < ranks(); ++other) {
    if (!round[static_cast<std::size_t>(other)]) missing.push_back(other);
  }
  return missing;
}

void SocketExchange::pump() {
  for (int other = 0; other < ranks(); ++other) {
    Peer& peer = peers_[static_cast<std::size_t>(other)];
    if (!peer.channel) continue;
    peer.channel->pump();
    while (std::optional<Message> message = peer.channel->next()) take(other, std::move(*message));
    if (peer.channel->ended())
      lose(other, "its process " + std::to_string(peer.process) + " ended", kNoRound);
  }
}

/// What a rank contributed to rounds that it does not complete (`from_round` on) is taken back. News are
/// passed on: the others hear of it from this rank before they see what this rank does because of it.
void SocketExchange::lose(int rank, const std::string& how, std::uint64_t from_round) {
  std::uint64_t& end = ends_[static_cast<std::size_t>(rank)];
  end = std::min(end, from_round);
  for (auto& [round, contributions] : inbox_) {
    if (round >= end) contributions[static_cast<std::size_t>(rank)].reset();
  }
  if (roster_.lose(rank, how)) tell_all(Message::Kind::lost, from_round, {std::to_string(rank), how});
}

void SocketExchange::take(int from, Message message) {
  switch (message.kind) {
    case Message::Kind::contribution: {
      const std::uint64_t end = ends_[static_cast<std::size_t>(from)];
      if (message.fields.size() != 2 || message.round < round_ || message.round >= end) return;
      Contributions& round = inbox_[message.round];
      round.resize(peers_.size());
      round[static_cast<std::size_t>(from)] = std::move(message);
      return;
    }
    case Message::Kind::lost: {
      if (message.fields.size() != 2) return;
      for (int other = 0; other < ranks(); ++other) {
        if (message.fields[0] == std::to_string(other) && other != rank_) {
          lose(other, message.fields[1], message.round);
        }
      }
      return;
    }
    case Message::Kind::give_up:
      if (message.fields.empty()) return;
      lose(from, "it gave up: " + message.fields[0], message.round);
      return;
    case Message::Kind::goodbye:
      roster_.leave(from);
      return;
    default:
      return;  // of the meeting, which is over
  }
}

void SocketExchange::tell_all(Message::Kind kind, std::uint64_t round,
                              const std::vector<std::string>& fields) {
  for (Peer& peer : peers_) {
    if (peer.channel) peer.channel->send({kind, round, fields, {}});
  }
}

std::optional<LostRank> SocketExchange::lost() {
  const std::scoped_lock lock(mutex_);
  pump();
  return roster_.first_lost();
}

void SocketExchange::give_up_locked(const std::string& why) {
  if (given_up_) return;
  given_up_ = why;
  tell_all(Message::Kind::give_up, completed_ + 1, {why});
}

void SocketExchange::give_up(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    give_up_locked(why);
  }
  flush_until(std::min(timeout_, kFarewell));
}

void SocketExchange::leave() {
  {
    const std::scoped_lock lock(mutex_);
    tell_all(Message::Kind::goodbye, 0, {});
  }
  flush_until(std::min(timeout_, kFarewell));
}

void SocketExchange::flush_until(milliseconds most) {
  const Deadline deadline(most);
  while (!deadline.passed()) {
    std::vector<pollfd> files;
    {
      const std::scoped_lock lock(mutex_);
      pump();
      files = files_of(peers_, true);
    }
    if (files.empty()) return;
    deadline.wait(files, kSlice);
  }
}

}  // namespace lanecast
