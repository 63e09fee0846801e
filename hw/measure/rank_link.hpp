#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What ranks tell each other while they measure. All functions are collective.
class RankLink {
 public:
  explicit RankLink(Exchange& exchange) : exchange_(exchange) {}

  int rank() const { return exchange_.rank(); }
  int ranks() const { return exchange_.ranks(); }

  void barrier();
  bool any(bool mine, const std::string& what);
  Seconds slowest(Seconds mine);

  /// ranks x samples. @throws Error  kind runtime: ranks have different numbers of them
  std::vector<std::vector<Seconds>> all_times(const std::vector<Seconds>& mine);
  std::vector<std::string> all_texts(const std::string& mine, const std::string& what);

  /// Before this rank ends by an error: what the others wait for will not come.
  void give_up(const std::string& why) noexcept;

 private:
  Exchange& exchange_;
};

/// Times as bytes of one machine, and back.
std::string packed_times(const std::vector<Seconds>& times);
std::vector<Seconds> unpacked_times(const std::string& packed);

}  // namespace lanecast
