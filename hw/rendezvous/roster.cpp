#include "hw/rendezvous/roster.hpp"

#include <algorithm>
#include <cstddef>

#include "hw/rendezvous/rank_words.hpp"

namespace lanecast {
namespace {

std::string place(const ExchangeSite& site) {
  return "the exchange of " + site.what + ", rank " + std::to_string(site.rank) + " of " +
         std::to_string(site.ranks);
}

}  // namespace

bool Roster::lose(int rank, const std::string& how) {
  const bool known =
      std::any_of(lost_.begin(), lost_.end(), [&](const LostRank& each) { return each.rank == rank; });
  if (known || has_left(rank)) return false;
  lost_.push_back({rank, how});
  return true;
}

std::optional<LostRank> Roster::first_lost() const {
  if (lost_.empty()) return std::nullopt;
  return lost_.front();
}

std::optional<Error> gone_error(const ExchangeSite& site, const Roster& roster,
                                const std::vector<int>& absent) {
  if (!roster.lost().empty()) {
    const LostRank& first = roster.lost().front();
    std::string what = "rank " + std::to_string(first.rank) + " is gone: " + first.how;
    std::vector<int> others;  // most likely because of the first
    for (std::size_t i = 1; i < roster.lost().size(); ++i) others.push_back(roster.lost()[i].rank);
    if (!others.empty()) what += "; then " + ranks_in_words(others);
    return Error(ErrorKind::runtime, what, place(site),
                 "mend what ended " + ranks_in_words({first.rank}) +
                     " (see its own output), then start all ranks again");
  }
  std::vector<int> left;
  for (const int rank : absent) {
    if (roster.has_left(rank)) left.push_back(rank);
  }
  if (left.empty()) return std::nullopt;
  return Error(ErrorKind::runtime, ranks_in_words(left) + " left before the exchange of " + site.what,
               place(site), "let every rank make the same calls in the same order");
}

Error late_error(const ExchangeSite& site, const std::vector<int>& absent,
                 std::chrono::milliseconds timeout) {
  return Error(ErrorKind::runtime,
               ranks_in_words(absent) + " did not come to the exchange of " + site.what + " within " +
                   time_in_words(timeout),
               place(site), "see what " + ranks_in_words(absent) + " does, or take a longer time-out");
}

Error mixed_error(const ExchangeSite& site, int other, const std::string& their_what) {
  return Error(ErrorKind::runtime,
               "ranks disagree about what they exchange: rank " + std::to_string(site.rank) + " brings " +
                   site.what + ", rank " + std::to_string(other) + " brings " + their_what,
               place(site), "let every rank make the same calls in the same order, with the same build");
}

Error given_up_error(const ExchangeSite& site, const std::string& why) {
  return Error(ErrorKind::runtime, "this rank gave up earlier: " + why, place(site),
               "mend that, then start all ranks again");
}

Error no_file_error(const ExchangeSite& site, int other) {
  return Error(ErrorKind::runtime,
               "the open file of rank " + std::to_string(other) + " did not arrive: too many files are open",
               place(site), "raise the limit on open files (ulimit -n)");
}

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

}  // namespace lanecast
