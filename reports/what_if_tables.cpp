#include "reports/what_if_tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/prediction_row.hpp"

namespace lanecast {
namespace {

constexpr double kNoDifference = 1e-3;  // of the time
constexpr double kHurts = 0.01;

std::string share_cell(const Prediction& before, const Prediction& after, Seconds TimeShares::*share) {
  if (!before.shares || !after.shares) return "-";
  const double us = in_us((*after.shares).*share - (*before.shares).*share);
  return fmt::format("{:+.2f}", std::abs(us) < 0.005 ? 0.0 : us);
}

std::string utilization_cell(const std::optional<Bottleneck>& link) {
  return link ? fmt::format("{:.2f}", link->utilization) : "-";
}

std::string change_text(double factor) {
  return std::abs(factor - 1) < kNoDifference ? "0" : fmt::format("{:+.1f}", 100 * (factor - 1));
}

std::string choices_text(const std::vector<ChangedChoice>& choices) {
  std::string text;
  for (const ChangedChoice& choice : choices)
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", choice.what, choice.before, choice.after);
  return text;
}

std::string names_text(const LinkStep& step) {
  if (step.links.size() == 1) return step.links.front();
  const std::string all = step.together ? "all {} like {}" : "{1}";
  return fmt::format(fmt::runtime(all), step.links.size(), step.links.front());
}

/// "any of 8 like gpu0", "uplink0", "all 8 like gpu0"
std::string where_text(const LinkStep& step) {
  if (step.links.size() == 1 || step.together) return names_text(step);
  return fmt::format("{} (or any of {} alike)", step.links.front(), step.links.size());
}

std::string step_text(const LinkStep& step, const Prediction& baseline) {
  const double factor = step.predictions.back().time / baseline.time;
  const std::string times = std::abs(factor - 1) < kNoDifference ? "as long as before"
                            : factor > 1                         ? fmt::format("{:.2f} times as long", factor)
                                         : fmt::format("{:.2f} times as fast", 1 / factor);
  return fmt::format("{}, {} -> {}: the call of {} B takes {}", where_text(step), step.before, step.after,
                     baseline.call.size.value(), times);
}

}  // namespace

Grid case_grid(const WhatIfCase& baseline, const WhatIfCase& changed) {
  Grid grid;
  grid.columns = {{"size", "(B)", 11},
                  {"before", "(us)", 8},
                  {"after", "(us)", 8},
                  {"change", "(%)", 6},
                  {"busbw", "before", 7},
                  {"busbw", "after", 7},
                  {"limit", "before", 12, false},
                  {"util", "before", 4},
                  {"limit", "after", 12, false},
                  {"util", "after", 4},
                  {"launch", "(+us)", 7},
                  {"latency", "(+us)", 7},
                  {"protocol", "(+us)", 8},
                  {"wire", "(+us)", 8},
                  {"waiting", "(+us)", 8}};
  const std::vector<Effect> found = effects(baseline, changed);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Prediction& a = baseline.predictions[i];
    const Prediction& b = changed.predictions[i];
    grid.rows.push_back({std::to_string(b.call.size.value()), time_cell(a.time), time_cell(b.time),
                         change_text(found[i].factor()), rate_cell(a.busbw()), rate_cell(b.busbw()),
                         bottleneck_cell(a.bottleneck), utilization_cell(a.bottleneck),
                         bottleneck_cell(b.bottleneck), utilization_cell(b.bottleneck),
                         share_cell(a, b, &TimeShares::launch), share_cell(a, b, &TimeShares::latency),
                         share_cell(a, b, &TimeShares::protocol), share_cell(a, b, &TimeShares::wire),
                         share_cell(a, b, &TimeShares::waiting)});
  }
  return grid;
}

std::vector<std::string> choice_lines(const WhatIfCase& baseline, const WhatIfCase& changed) {
  std::vector<std::string> lines;
  const std::vector<Effect> found = effects(baseline, changed);
  for (std::size_t first = 0; first < found.size();) {
    std::size_t next = first + 1;
    while (next < found.size() && found[next].choices == found[first].choices) ++next;
    if (!found[first].choices.empty()) {
      const auto size = [&](std::size_t i) { return changed.predictions[i].call.size.value(); };
      const std::string range = next == first + 1 ? std::to_string(size(first))
                                                  : fmt::format("{} to {}", size(first), size(next - 1));
      lines.push_back(fmt::format("{} B: {}", range, choices_text(found[first].choices)));
    }
    first = next;
  }
  return lines;
}

Grid link_grid(const std::vector<LinkStep>& steps, const Prediction& baseline) {
  Grid grid;
  grid.columns = {{"link", "", 10, false},       {"alike", "", 5},     {"step", "", 10, false},
                  {"before", "(us)", 8},         {"after", "(us)", 8}, {"change", "(%)", 6},
                  {"limit", "after", 12, false}, {"util", "after", 4}};
  for (const LinkStep& step : steps) {
    const Prediction& p = step.predictions.back();
    grid.rows.push_back({names_text(step), std::to_string(step.links.size()), step.before + "->" + step.after,
                         time_cell(baseline.time), time_cell(p.time), change_text(p.time / baseline.time),
                         bottleneck_cell(p.bottleneck), utilization_cell(p.bottleneck)});
  }
  return grid;
}

std::vector<std::string> link_lines(const LinkRanking& links, const Prediction& baseline) {
  if (!baseline.bottleneck) return {"the call crosses no link"};
  std::vector<std::string> lines;
  const auto factor = [&](const LinkStep& step) { return step.predictions.back().time / baseline.time; };
  if (!links.degraded.empty()) {
    const LinkStep& worst = links.degraded.front();
    lines.push_back(factor(worst) < 1 + kNoDifference ? "no single link, one step worse, slows the call"
                                                      : "hurts most: " + step_text(worst, baseline));
  }
  if (links.upgraded.empty()) return lines;
  const LinkStep& best = links.upgraded.front();
  lines.push_back(
      factor(best) > 1 - kNoDifference
          ? "no single upgrade gains anything: other links, or the blocks themselves, hold the call up"
          : "gains most: " + step_text(best, baseline));
  const LinkStep& last = links.upgraded.back();
  if (factor(last) > 1 + kHurts) {
    lines.push_back("an upgrade that hurts: " + step_text(last, baseline) + "; " +
                    effect(baseline, last.predictions.back()).cause);
  }
  return lines;
}

std::string sets_text(const WhatIfCase& changed) {
  std::string text;
  for (const auto& [path, value] : changed.sets)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", path, value);
  return text;
}

}  // namespace lanecast
