#include "model/advice/what_if.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "model/topology/change_list.hpp"

namespace lanecast {
namespace {

constexpr double kNoDifference = 1e-3;  // of the time

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

/// "12.3 us", "4.56 ms": three digits.
std::string time_text(Seconds time) {
  const double us = time.value() * 1e6;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), std::abs(us) < 1e4 ? "%.3g us" : "%.3g ms",
                std::abs(us) < 1e4 ? us : us / 1e3);
  return text.data();
}

std::string order_text(const std::vector<int>& order) {
  std::string text;
  for (const int gpu : order) text += (text.empty() ? "" : "-") + std::to_string(gpu);
  return text;
}

std::vector<ChangedChoice> changed_choices(const Prediction& before, const Prediction& after) {
  std::vector<ChangedChoice> changed;
  const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b) changed.push_back({what, a, b});
  };
  compare("ranks", std::to_string(before.ring_order.size()), std::to_string(after.ring_order.size()));
  compare("transport", before.transport, after.transport);
  compare("algorithm", to_string(before.algorithm), to_string(after.algorithm));
  compare("protocol", to_string(before.protocol), to_string(after.protocol));
  compare("channels", std::to_string(before.channels), std::to_string(after.channels));
  compare("threads", std::to_string(before.threads), std::to_string(after.threads));
  compare("chunk", shown(before.chunk), shown(after.chunk));
  compare("buffer", shown(before.buffsize), shown(after.buffsize));
  if (before.ring_order.size() == after.ring_order.size())
    compare("ring order", order_text(before.ring_order), order_text(after.ring_order));
  return changed;
}

std::string link_text(const Bottleneck& link) {
  return link.link + (link.direction.empty() ? "" : ":" + link.direction);
}

/// "uplink0:up is the most loaded link, 45 % busy before and 90 % after"
std::string limits(const std::optional<Bottleneck>& before, const std::optional<Bottleneck>& after) {
  if (!before || !after) return "no link is crossed";
  if (before->link == after->link && before->direction == after->direction) {
    return link_text(*after) + " is the most loaded link, " + percent(before->utilization) +
           " busy before, " + percent(after->utilization) + " after";
  }
  return "the most loaded link was " + link_text(*before) + " (" + percent(before->utilization) +
         " busy), and is " + link_text(*after) + " (" + percent(after->utilization) + ")";
}

struct ShareChange {
  const char* name;
  double seconds;
};

/// What changed most in the direction in which the whole time did; "": nothing is known of shares.
std::string moved_share(const Prediction& before, const Prediction& after) {
  if (!before.shares || !after.shares) return "";
  const TimeShares& a = *before.shares;
  const TimeShares& b = *after.shares;
  const std::array<ShareChange, 5> changes{
      ShareChange{"launch", (b.launch - a.launch).value()},
      ShareChange{"latency of flags", (b.latency - a.latency).value()},
      ShareChange{"the protocol", (b.protocol - a.protocol).value()},
      ShareChange{"payload on the wire", (b.wire - a.wire).value()},
      ShareChange{"waiting for links that other ranks use", (b.waiting - a.waiting).value()}};
  const double whole = (after.time - before.time).value();
  const ShareChange& most = *std::max_element(
      changes.begin(), changes.end(),
      [&](const ShareChange& x, const ShareChange& y) { return x.seconds * whole < y.seconds * whole; });
  return std::string("; of ") + (whole > 0 ? "the loss of " : "the gain of ") +
         time_text(Seconds(std::abs(whole))) + ", " + percent(most.seconds / whole) + " is " + most.name;
}

std::string choices_text(const std::vector<ChangedChoice>& choices) {
  std::string text;
  for (const ChangedChoice& choice : choices)
    text += (text.empty() ? "" : ", ") + choice.what + " " + choice.before + " -> " + choice.after;
  return text.empty() ? "" : text + "; ";
}

std::string cause_of(const Prediction& before, const Prediction& after,
                     const std::vector<ChangedChoice>& choices) {
  const std::string link = limits(before.bottleneck, after.bottleneck);
  if (std::abs(after.time / before.time - 1) < kNoDifference)
    return choices_text(choices) + "no difference: " + link;
  return choices_text(choices) + link + moved_share(before, after);
}

}  // namespace

Effect effect(const Prediction& before, const Prediction& after) {
  Effect found{before.time, after.time, changed_choices(before, after), ""};
  found.cause = cause_of(before, after, found.choices);
  return found;
}

std::vector<Effect> effects(const WhatIfCase& baseline, const WhatIfCase& changed) {
  std::vector<Effect> found;
  for (std::size_t i = 0; i < changed.predictions.size(); ++i)
    found.push_back(effect(baseline.predictions[i], changed.predictions[i]));
  return found;
}

std::string verdict(const WhatIfCase& baseline, const WhatIfCase& changed) {
  const Prediction& before = baseline.predictions.back();
  const Effect last = effect(before, changed.predictions.back());
  const double factor = last.factor();
  std::string text = shown(before.call.size) + ": " + time_text(last.before) + " -> " + time_text(last.after);
  if (std::abs(factor - 1) >= kNoDifference) {
    std::array<char, 48> times{};
    std::snprintf(times.data(), times.size(), factor > 1 ? " (%.2f times as long)" : " (%.2f times as fast)",
                  factor > 1 ? factor : 1 / factor);
    text += times.data();
  }
  return text + ". " + last.cause;
}

}  // namespace lanecast
