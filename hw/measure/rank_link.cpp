#include "hw/measure/rank_link.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "model/error.hpp"

namespace lanecast {

std::string packed_times(const std::vector<Seconds>& times) {
  std::string packed(times.size() * sizeof(double), '\0');
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double seconds = times[i].value();
    std::memcpy(packed.data() + i * sizeof seconds, &seconds, sizeof seconds);
  }
  return packed;
}

std::vector<Seconds> unpacked_times(const std::string& packed) {
  std::vector<Seconds> times;
  for (std::size_t at = 0; at + sizeof(double) <= packed.size(); at += sizeof(double)) {
    double seconds = 0;
    std::memcpy(&seconds, packed.data() + at, sizeof seconds);
    times.emplace_back(seconds);
  }
  return times;
}

void RankLink::barrier() { exchange_.all_gather("", "that all ranks are ready"); }

bool RankLink::any(bool mine, const std::string& what) {
  const std::vector<std::string> all = exchange_.all_gather(mine ? "1" : "0", what);
  return std::find(all.begin(), all.end(), "1") != all.end();
}

Seconds RankLink::slowest(Seconds mine) {
  Seconds slowest = mine;
  for (const auto& times : all_times({mine})) slowest = std::max(slowest, times.front());
  return slowest;
}

std::vector<std::vector<Seconds>> RankLink::all_times(const std::vector<Seconds>& mine) {
  std::vector<std::vector<Seconds>> all;
  for (const std::string& packed : exchange_.all_gather(packed_times(mine), "measured times")) {
    all.push_back(unpacked_times(packed));
    if (all.back().size() == mine.size()) continue;
    throw Error(ErrorKind::runtime,
                "rank " + std::to_string(all.size() - 1) + " took " + std::to_string(all.back().size()) +
                    " timings, rank " + std::to_string(rank()) + " " + std::to_string(mine.size()),
                "the exchange of measured times", "start all ranks with the same command");
  }
  return all;
}

std::vector<std::string> RankLink::all_texts(const std::string& mine, const std::string& what) {
  return exchange_.all_gather(mine, what);
}

void RankLink::give_up(const std::string& why) noexcept {
  try {
    exchange_.give_up(why);
  } catch (const std::exception&) {  // the error that this rank ends by is the one to tell
  }
}

}  // namespace lanecast
