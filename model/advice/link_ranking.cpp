#include "model/advice/link_ranking.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "model/topology/change_list.hpp"
#include "model/topology/equal_links.hpp"
#include "model/topology/lane_rate.hpp"

namespace lanecast {
namespace {

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

std::string status_text(const Link& link) {
  switch (link.kind) {
    case LinkKind::pcie:
      return to_string(link.rate) + " x" + std::to_string(link.width);
    case LinkKind::nvlink:
      return std::to_string(link.count) + " x " + shown(lane_rate(link));
    case LinkKind::socket:
      return shown(lane_rate(link));
  }
  return "";
}

std::optional<Link> one_step_worse(Link link) {
  if (link.kind == LinkKind::socket || (link.kind == LinkKind::nvlink && link.count == 1)) {
    link.lane_rate = lane_rate(link) * 0.5;
  } else if (link.kind == LinkKind::nvlink) {
    --link.count;
  } else if (link.width > 1) {
    link.width = link.width == 12 ? 8 : link.width / 2;
  } else if (link.rate > PcieRate::gen1) {
    link.rate = static_cast<PcieRate>(static_cast<int>(link.rate) - 1);
  } else {
    return std::nullopt;
  }
  return link;
}

std::optional<Link> one_step_better(Link link) {
  if (link.kind == LinkKind::socket) {
    link.lane_rate = lane_rate(link) * 2.0;
  } else if (link.kind == LinkKind::nvlink) {
    ++link.count;
  } else if (link.rate < link.max_rate || link.width < link.max_width) {
    link.rate = link.max_rate;
    link.width = link.max_width;
  } else if (link.rate < PcieRate::gen6) {
    link.rate = link.max_rate = static_cast<PcieRate>(static_cast<int>(link.rate) + 1);
  } else {
    return std::nullopt;
  }
  return link;
}

/// Rings of the baseline; chains and trees, too, pass their order's neighbours.
std::vector<std::vector<int>> orders_of(const std::vector<Prediction>& predictions) {
  std::set<std::vector<int>> orders;
  for (const Prediction& prediction : predictions) {
    if (prediction.ring_order.size() > 1) orders.insert(prediction.ring_order);
  }
  return {orders.begin(), orders.end()};
}

/// Asks for the predictions of changed machines.
class Steps {
 public:
  Steps(const Machine& machine, const std::vector<Call>& calls, const Predictor& predict)
      : machine_(machine), calls_(calls), predict_(predict) {}

  using Change = std::optional<Link> (*)(Link);

  /// Nothing where the link has no such step.
  std::optional<LinkStep> take(const std::vector<int>& alike, Change change, bool together) const {
    const Link& first = machine_.links[at_index(alike.front())];
    Machine changed = machine_;
    LinkStep step;
    step.together = together;
    for (const int link : alike) {
      step.links.push_back(machine_.links[at_index(link)].name);
      if (!together && link != alike.front()) continue;
      const std::optional<Link> made = change(machine_.links[at_index(link)]);
      if (!made) return std::nullopt;
      changed.links[at_index(link)] = *made;
    }
    step.before = status_text(first);
    step.after = status_text(changed.links[at_index(alike.front())]);
    step.predictions = predict_(changed, calls_);
    return step;
  }

 private:
  const Machine& machine_;
  const std::vector<Call>& calls_;
  const Predictor& predict_;
};

void append(std::vector<LinkStep>& steps, std::optional<LinkStep> step) {
  if (step) steps.push_back(std::move(*step));
}

}  // namespace

LinkRanking rank_links(const Machine& machine, const std::vector<Call>& calls,
                       const std::vector<Prediction>& baseline, const Predictor& predict) {
  const Steps steps(machine, calls, predict);
  LinkRanking ranking;
  for (const std::vector<int>& alike : equal_links(machine, orders_of(baseline))) {
    append(ranking.degraded, steps.take(alike, one_step_worse, false));
    append(ranking.upgraded, steps.take(alike, one_step_better, false));
    if (alike.size() > 1) append(ranking.upgraded, steps.take(alike, one_step_better, true));
  }
  const auto last = [](const LinkStep& step) { return step.predictions.back().time; };
  std::stable_sort(ranking.degraded.begin(), ranking.degraded.end(),
                   [&](const LinkStep& a, const LinkStep& b) { return last(a) > last(b); });
  std::stable_sort(ranking.upgraded.begin(), ranking.upgraded.end(),
                   [&](const LinkStep& a, const LinkStep& b) { return last(a) < last(b); });
  return ranking;
}

}  // namespace lanecast
