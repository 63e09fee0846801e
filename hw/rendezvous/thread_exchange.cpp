#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "hw/rendezvous/deadline.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/message_channel.hpp"
#include "hw/rendezvous/roster.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

struct Contribution {
  std::string what;
  std::string bytes;
  OwnedFile file;
};

struct Round {
  std::vector<std::optional<Contribution>> contributions;  // by rank
  int taken = 0;
};

/// What the ranks share.
struct Table {
  Table(int ranks_there, milliseconds time) : ranks(ranks_there), timeout(time), roster(ranks_there) {}

  const int ranks;
  const milliseconds timeout;
  std::mutex mutex;  // of all below
  std::condition_variable changed;
  Roster roster;
  std::map<std::uint64_t, Round> rounds;
};

class ThreadExchange final : public Exchange {
 public:
  ThreadExchange(int rank, std::shared_ptr<Table> table) : rank_(rank), table_(std::move(table)) {}
  ~ThreadExchange() override {
    lose("its thread ended");  // nothing, after a goodbye
  }
  ThreadExchange(const ThreadExchange&) = delete;
  ThreadExchange& operator=(const ThreadExchange&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return table_->ranks; }

  std::vector<std::string> all_gather(const std::string& mine, const std::string& what) override {
    std::vector<std::string> all;
    gather({what, mine, OwnedFile()}, [&](const Contribution& each) { all.push_back(each.bytes); });
    return all;
  }

  std::vector<OwnedFile> all_gather_files(int descriptor, const std::string& what) override {
    std::vector<OwnedFile> all;
    gather({what, "", duplicate(descriptor)},
           [&](const Contribution& each) { all.push_back(duplicate(each.file.descriptor())); });
    return all;
  }

  std::optional<LostRank> lost() override {
    const std::scoped_lock lock(table_->mutex);
    for (const LostRank& each : table_->roster.lost()) {
      if (each.rank != rank_) return each;
    }
    return std::nullopt;
  }

  void give_up(const std::string& why) override {
    const std::scoped_lock lock(table_->mutex);
    give_up_locked(why);
  }

  void leave() override {
    const std::scoped_lock lock(table_->mutex);
    table_->roster.leave(rank_);
    table_->changed.notify_all();
  }

 private:
  template <class Take>
  void gather(Contribution mine, Take take);
  std::optional<Error> obstacle(const ExchangeSite& site, const Round& round, bool late) const;
  std::vector<int> absent_in(const Round& round) const;

  /// Takes back what it contributed to rounds that it will not complete.
  void give_up_locked(const std::string& why) {
    if (given_up_) return;
    given_up_ = why;
    for (auto& [number, round] : table_->rounds) {
      if (number > completed_) round.contributions[static_cast<std::size_t>(rank_)].reset();
    }
    table_->roster.lose(rank_, "it gave up: " + why);
    table_->changed.notify_all();
  }

  void lose(const std::string& how) {
    const std::scoped_lock lock(table_->mutex);
    table_->roster.lose(rank_, how);
    table_->changed.notify_all();
  }

  const int rank_;
  const std::shared_ptr<Table> table_;
  std::uint64_t round_ = 0;      // the last that this rank began
  std::uint64_t completed_ = 0;  // the last of which it has all contributions
  std::optional<std::string> given_up_;
};

template <class Take>
void ThreadExchange::gather(Contribution mine, Take take) {
  const ExchangeSite site{mine.what, rank(), ranks()};
  std::unique_lock lock(table_->mutex);
  if (given_up_) throw given_up_error(site, *given_up_);
  Round& round = table_->rounds[++round_];
  round.contributions.resize(static_cast<std::size_t>(ranks()));
  round.contributions[static_cast<std::size_t>(rank_)] = std::move(mine);
  table_->changed.notify_all();
  const Deadline deadline(table_->timeout);
  while (true) {
    if (const std::optional<Error> problem = obstacle(site, round, deadline.passed())) {
      give_up_locked(first_line(problem->what()));
      throw Error(*problem);
    }
    if (absent_in(round).empty()) break;
    table_->changed.wait_until(lock, deadline.time());
  }
  for (const std::optional<Contribution>& each : round.contributions) take(*each);
  completed_ = round_;
  if (++round.taken == ranks()) table_->rounds.erase(round_);
}

/// Why the round cannot be completed as all ranks mean it; absent: it still can. A round to which all
/// contributed is complete, whoever ended since.
std::optional<Error> ThreadExchange::obstacle(const ExchangeSite& site, const Round& round, bool late) const {
  if (given_up_) return given_up_error(site, *given_up_);
  for (int other = 0; other < ranks(); ++other) {
    const std::optional<Contribution>& theirs = round.contributions[static_cast<std::size_t>(other)];
    if (theirs && theirs->what != site.what) return mixed_error(site, other, theirs->what);
  }
  const std::vector<int> absent = absent_in(round);
  if (absent.empty()) return std::nullopt;
  if (std::optional<Error> gone = gone_error(site, table_->roster, absent)) return gone;
  if (late) return late_error(site, absent, table_->timeout);
  return std::nullopt;
}

std::vector<int> ThreadExchange::absent_in(const Round& round) const {
  std::vector<int> absent;
  for (int other = 0; other < ranks(); ++other) {
    if (!round.contributions[static_cast<std::size_t>(other)]) absent.push_back(other);
  }
  return absent;
}

}  // namespace

std::vector<std::unique_ptr<Exchange>> thread_exchanges(int ranks, milliseconds timeout) {
  const auto table = std::make_shared<Table>(ranks, timeout);
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (int rank = 0; rank < ranks; ++rank) exchanges.push_back(std::make_unique<ThreadExchange>(rank, table));
  return exchanges;
}

}  // namespace lanecast
