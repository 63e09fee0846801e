#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "model/error.hpp"

namespace lanecast {

/// Who of the ranks is gone, in the order in which it was found.
class Roster {
 public:
  explicit Roster(int ranks) : left_(static_cast<std::size_t>(ranks), false) {}

  /// @return whether that is news: neither gone before, nor after a goodbye
  bool lose(int rank, const std::string& how);
  void leave(int rank) { left_.at(static_cast<std::size_t>(rank)) = true; }

  bool has_left(int rank) const { return left_.at(static_cast<std::size_t>(rank)); }
  const std::vector<LostRank>& lost() const { return lost_; }
  std::optional<LostRank> first_lost() const;

 private:
  std::vector<LostRank> lost_;
  std::vector<bool> left_;
};

/// One collective exchange as one rank sees it, for its errors.
struct ExchangeSite {
  std::string what;  // "memory handles"
  int rank = 0;
  int ranks = 1;
};

/// The error of an exchange that cannot be completed any more; absent: it still can.
/// @param absent  ranks that have contributed nothing so far
std::optional<Error> gone_error(const ExchangeSite& site, const Roster& roster,
                                const std::vector<int>& absent);
/// `absent` did not come within the time-out.
Error late_error(const ExchangeSite& site, const std::vector<int>& absent, std::chrono::milliseconds timeout);
/// What `other` contributed is for something else.
Error mixed_error(const ExchangeSite& site, int other, const std::string& their_what);
/// This rank gave up earlier.
Error given_up_error(const ExchangeSite& site, const std::string& why);
/// The open file of `other` did not arrive.
Error no_file_error(const ExchangeSite& site, int other);

/// The first line of a message: what happened, without the place and the mend.
std::string first_line(const std::string& message);

}  // namespace lanecast
