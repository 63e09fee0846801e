#include "model/advice/what_if.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "model/topology/change_list.hpp"

namespace lanecast {
namespace {

constexpr double kNoDifference = 1e-3;  // of the time
constexpr double kWorthNaming = 0.1;    // of the difference, of the time

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

/// "12.3 us", "4.56 ms", "1.2 s": three digits.
std::string time_text(Seconds time) {
  const double us = time.value() * 1e6;
  std::array<char, 32> text{};
  const double size = std::abs(us);
  std::snprintf(text.data(), text.size(),
                size < 999.5     ? "%.3g us"
                : size < 999.5e3 ? "%.3g ms"
                                 : "%.3g s",
                size < 999.5     ? us
                : size < 999.5e3 ? us / 1e3
                                 : us / 1e6);
  return text.data();
}

std::string signed_text(Seconds time) { return (time.value() > 0 ? "+" : "") + time_text(time); }

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
  Seconds change;
};

/// "; +109 us: waiting for links that other ranks use +380 us, payload on the wire -278 us": what changed by
/// a tenth of the whole or more, the largest first. "": nothing is known of shares.
std::string moved_shares(const Prediction& before, const Prediction& after) {
  if (!before.shares || !after.shares) return "";
  const TimeShares& a = *before.shares;
  const TimeShares& b = *after.shares;
  std::array<ShareChange, 5> changes{
      ShareChange{"launch", b.launch - a.launch}, ShareChange{"latency of flags", b.latency - a.latency},
      ShareChange{"the protocol", b.protocol - a.protocol},
      ShareChange{"payload on the wire", b.wire - a.wire},
      ShareChange{"waiting for links that other ranks use", b.waiting - a.waiting}};
  const auto size = [](const ShareChange& change) { return std::abs(change.change.value()); };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const ShareChange& x, const ShareChange& y) { return size(x) > size(y); });
  const Seconds whole = after.time - before.time;
  std::string text = "; " + signed_text(whole) + ":";
  for (const ShareChange& change : changes) {
    if (size(change) < kWorthNaming * std::abs(whole.value())) break;
    text += (text.back() == ':' ? " " : ", ") + std::string(change.name) + " " + signed_text(change.change);
  }
  return text;
}

/// "2.00 times as long", "0.4 % shorter"; "" where there is no difference.
std::string factor_text(double factor) {
  std::array<char, 48> text{};
  const double change = std::abs(factor - 1);
  if (change < kNoDifference) return "";
  if (change < kWorthNaming) {
    std::snprintf(text.data(), text.size(), factor > 1 ? " (%.1f %% longer)" : " (%.1f %% shorter)",
                  100 * change);
  } else {
    std::snprintf(text.data(), text.size(), factor > 1 ? " (%.2f times as long)" : " (%.2f times as fast)",
                  factor > 1 ? factor : 1 / factor);
  }
  return text.data();
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
  return choices_text(choices) + link + moved_shares(before, after);
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
  const std::string text = shown(before.call.size) + ": " + time_text(last.before) + " -> " +
                           time_text(last.after) + factor_text(last.factor());
  return text + ". " + last.cause;
}

}  // namespace lanecast
