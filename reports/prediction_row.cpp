#include "reports/prediction_row.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/document.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json bottleneck_as_json(const std::optional<Bottleneck>& bottleneck) {
  if (!bottleneck) return nullptr;
  return {{"link", bottleneck->link},
          {"direction", bottleneck->direction},
          {"utilization", number_or_null(bottleneck->utilization)}};
}

Json shares_as_json(const TimeShares& shares) {
  return {{"launch_us", number_or_null(in_us(shares.launch))},
          {"latency_us", number_or_null(in_us(shares.latency))},
          {"protocol_us", number_or_null(in_us(shares.protocol))},
          {"wire_us", number_or_null(in_us(shares.wire))},
          {"waiting_us", number_or_null(in_us(shares.waiting))}};
}

}  // namespace

Json prediction_as_json(const Prediction& p, int ranks) {
  const Call& call = p.call;
  const Json absent;
  Json row;
  row["size_bytes"] = call.size.value();
  row["count"] = element_count(call, ranks);
  row["time_us"] = number_or_null(in_us(p.time));
  row["time_us_low"] = number_or_null(in_us(p.time_low));
  row["time_us_high"] = number_or_null(in_us(p.time_high));
  row["algbw_GBps"] = number_or_null(in_GBps(p.algbw()));
  row["busbw_GBps"] = number_or_null(in_GBps(p.busbw()));
  row["algorithm"] = to_string(family_of(p.algorithm));
  row["variant"] = variant_or_null(p.algorithm);
  row["protocol"] = to_string(p.protocol);
  row["stands_in_for"] = p.stands_in_for.empty() ? absent : Json(p.stands_in_for);
  row["transport"] = p.transport;
  row["channels"] = p.channels;
  row["threads"] = p.threads;
  row["chunk_bytes"] = p.chunk.value();
  row["buffsize_bytes"] = p.buffsize.value();
  row["launch"] = to_string(call.launch);
  row["iterations"] = call.iterations;
  row["in_place"] = call.in_place;
  row["register"] = to_string(call.registration);
  row["datatype"] = to_string(call.datatype);
  row["op"] = has_reduction(call.collective) ? Json(to_string(call.op)) : absent;
  row["root"] = has_root(call.collective) ? Json(call.root) : absent;
  row["ring_order"] = p.ring_order;
  row["folded"] = p.folded;
  row["bottleneck"] = bottleneck_as_json(p.bottleneck);
  row["limit_busbw_GBps"] = p.limit_busbw ? number_or_null(in_GBps(*p.limit_busbw)) : absent;
  if (p.shares) row["shares"] = shares_as_json(*p.shares);
  return row;
}

void add_flat(const Json& object, std::vector<Json>& names, std::vector<Json>& fields) {
  const auto add_members = [&](const std::string& prefix, const Json& value, const auto& members) {
    for (const std::string& member : members) {
      names.emplace_back(prefix + "_" + member);
      fields.push_back(value.is_null() ? Json() : value.at(member));
    }
  };
  for (const auto& [key, value] : object.items()) {
    if (key == "bottleneck") {
      add_members(key, value, std::vector<std::string>{"link", "direction", "utilization"});
    } else if (value.is_object()) {
      std::vector<std::string> members;
      for (const auto& member : value.items()) members.push_back(member.key());
      add_members(key, value, members);
    } else {
      names.emplace_back(key);
      fields.push_back(value);
    }
  }
}

std::string time_cell(Seconds time) {
  const double us = in_us(time);
  return fmt::format("{:.{}f}", us, us < 1e4 ? 2 : us < 1e5 ? 1 : 0);
}

std::string rate_cell(BytesPerSecond rate) {
  const double GBps = in_GBps(rate);
  if (!std::isfinite(GBps)) return "-";
  return GBps > 0 && GBps < 0.01 ? fmt::format("{:.1g}", GBps) : fmt::format("{:.2f}", GBps);
}

std::string bottleneck_cell(const std::optional<Bottleneck>& bottleneck) {
  return bottleneck ? bottleneck->link + ":" + bottleneck->direction : "-";
}

double in_us(Seconds time) { return time.value() * 1e6; }
double in_GBps(BytesPerSecond rate) { return rate.value() * 1e-9; }

std::uint64_t element_count(const Call& call, int ranks) {
  const std::uint64_t elements = call.size.value() / static_cast<std::uint64_t>(element_bytes(call.datatype));
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  return blocks && ranks > 0 ? elements / static_cast<std::uint64_t>(ranks) : elements;
}

bool has_reduction(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce;
}

}  // namespace lanecast
