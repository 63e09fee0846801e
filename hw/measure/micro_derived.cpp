#include <map>
#include <utility>

#include "hw/measure/micro.hpp"

namespace lanecast {
namespace {

/// Sums for a straight line through points.
struct Line {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;

  void add(double at, double value) {
    n += 1;
    x += at;
    y += value;
    xx += at * at;
    xy += at * value;
  }
  bool is_determined() const { return n * xx - x * x > 0; }
  double slope() const { return (n * xy - x * y) / (n * xx - x * x); }
  double intercept() const { return (y - slope() * x) / n; }
};

}  // namespace

std::vector<MicroResult> derived_results(const std::vector<MicroResult>& results) {
  std::map<std::pair<std::string, int>, std::pair<Line, MicroResult>> replays;
  for (const MicroResult& result : results) {
    if (result.name != "graph_replay" || !result.us || !result.iterations) continue;
    auto& [line, like] = replays[{result.source, result.session}];
    line.add(*result.iterations, *result.us);
    like = result;
  }
  std::vector<MicroResult> derived;
  for (auto& [key, replay] : replays) {
    auto& [line, like] = replay;
    if (!line.is_determined()) continue;
    like.iterations.reset();
    like.spread.reset();
    like.repeats = 0;
    like.name = "graph_fixed";
    like.us = line.intercept();
    derived.push_back(like);
    like.name = "graph_node";
    like.us = line.slope();
    derived.push_back(like);
  }
  return derived;
}

}  // namespace lanecast
