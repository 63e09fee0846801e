#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/message_channel.hpp"
#include "hw/rendezvous/roster.hpp"

namespace lanecast {

/// The way to another rank.
struct Peer {
  std::unique_ptr<MessageChannel> channel;  // none for this rank itself
  pid_t process = 0;
};

/// Ranks that are processes, each connected to each: whoever ends is noticed by everyone at once, since the
/// operating system closes its connections.
class SocketExchange final : public Exchange {
 public:
  /// @param peers  by rank
  SocketExchange(int rank, std::vector<Peer> peers, std::chrono::milliseconds timeout);

  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(peers_.size()); }
  std::vector<std::string> all_gather(const std::string& mine, const std::string& what) override;
  std::vector<OwnedFile> all_gather_files(int descriptor, const std::string& what) override;
  std::optional<LostRank> lost() override;
  void give_up(const std::string& why) override;
  void leave() override;

 private:
  using Contributions = std::vector<std::optional<Message>>;  // by rank

  std::vector<Message> gather(const std::string& mine, OwnedFile file, const ExchangeSite& site);
  void contribute(const std::string& mine, const OwnedFile& file, const ExchangeSite& site);
  std::optional<Error> obstacle(const ExchangeSite& site, bool late);
  std::vector<Message> taken_round();
  std::vector<int> absent();
  void pump();
  void take(int from, Message message);
  void lose(int rank, const std::string& how, std::uint64_t from_round);
  void tell_all(Message::Kind kind, std::uint64_t round, const std::vector<std::string>& fields);
  void flush_until(std::chrono::milliseconds most);
  void give_up_locked(const std::string& why);

  const int rank_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;  // of all below; held for work that never waits
  std::vector<Peer> peers_;
  Roster roster_;
  std::vector<std::uint64_t> ends_;               // by rank: the first round that it does not complete
  std::uint64_t round_ = 0;                       // the last that this rank began
  std::uint64_t completed_ = 0;                   // the last of which it has all contributions
  std::map<std::uint64_t, Contributions> inbox_;  // from the round that is going on
  std::optional<std::string> given_up_;
};

}  // namespace lanecast
