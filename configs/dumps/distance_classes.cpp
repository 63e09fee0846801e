#include "configs/dumps/distance_classes.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace lanecast {
namespace {

std::size_t slot(Distance distance) {
  return static_cast<std::size_t>(distance) - static_cast<std::size_t>(Distance::pix);
}

}  // namespace

void DistanceVotes::add(Distance distance) {
  if (distance >= Distance::pix) ++count[slot(distance)];
}

int DistanceVotes::near(Distance level) const {
  return std::accumulate(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(slot(level)) + 1, 0);
}

int DistanceVotes::far(Distance level) const {
  return std::accumulate(count.begin() + static_cast<std::ptrdiff_t>(slot(level)) + 1, count.end(), 0);
}

DistanceClasses::DistanceClasses(std::size_t pieces) : class_(pieces), keys_(pieces) {
  std::iota(class_.begin(), class_.end(), 0);
}

void DistanceClasses::set_keys(const std::vector<std::string>& keys) {
  std::fill(keys_.begin(), keys_.end(), "");
  std::map<std::string, int> first;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const int own = class_[i];
    std::string& key = keys_[static_cast<std::size_t>(own)];
    if (key.empty()) key = keys[i];
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string key = this->key(static_cast<int>(i));
    if (key.empty()) continue;
    const auto [known, is_new] = first.emplace(key, of(static_cast<int>(i)));
    if (!is_new) join_pair(known->second, static_cast<int>(i));
  }
}

bool DistanceClasses::join_pair(int a, int b) {
  const auto [low, high] = std::minmax({of(a), of(b)});
  if (low == high) return false;
  std::string& key = keys_[static_cast<std::size_t>(low)];
  const std::string& other = keys_[static_cast<std::size_t>(high)];
  if (!key.empty() && !other.empty() && key != other) return false;
  if (key.empty()) key = other;
  std::replace(class_.begin(), class_.end(), high, low);
  return true;
}

void DistanceClasses::join(const PairVotes& votes, Distance level, const std::vector<bool>& movable) {
  PairVotes own;
  for (const auto& [pair, counts] : votes) {
    const auto may = [&](int piece) { return movable.empty() || movable[static_cast<std::size_t>(piece)]; };
    if (may(pair.first) && may(pair.second)) own.emplace(pair, counts);
  }
  for (bool changed = true; changed;) {
    changed = false;
    std::set<int> touched;  // their votes have changed since they were counted
    for (const auto& [pair, counts] : between(own)) {
      if (counts.near(level) <= counts.far(level)) continue;
      if (touched.count(pair.first) != 0 || touched.count(pair.second) != 0) {
        changed = true;
      } else if (join_pair(pair.first, pair.second)) {
        touched.insert({pair.first, pair.second});
        changed = true;
      }
    }
    if (touched.empty()) changed = false;
  }
}

std::vector<int> DistanceClasses::members(int piece) const {
  std::vector<int> all;
  for (std::size_t i = 0; i < class_.size(); ++i) {
    if (class_[i] == of(piece)) all.push_back(static_cast<int>(i));
  }
  return all;
}

PairVotes DistanceClasses::between(const PairVotes& votes) const {
  PairVotes sums;
  for (const auto& [pair, counts] : votes) {
    const auto key = std::minmax({of(pair.first), of(pair.second)});
    if (key.first == key.second) continue;
    DistanceVotes& sum = sums[key];
    for (std::size_t i = 0; i < sum.count.size(); ++i) sum.count[i] += counts.count[i];
    sum.hidden += counts.hidden;
  }
  return sums;
}

}  // namespace lanecast
