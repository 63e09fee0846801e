#include "reports/why_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/document.hpp"
#include "reports/prediction_row.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

std::string counted(std::ptrdiff_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Json graph_as_json(const NcclGraph& graph) {
  if (graph.channels == 0) return nullptr;
  return {{"channels", graph.channels},
          {"speed_GBps", number_or_null(graph.speed_intra)},
          {"type", to_string(graph.type_intra)},
          {"same_channels", graph.same_channels},
          {"fallback", graph.fallback}};
}

Json ring_as_json(const WhyReport& why, std::size_t ring) {
  const CommunicatorSetup& communicator = why.communicator;
  Json links = Json::array();
  for (const Connection& link : communicator.rings[ring].links) {
    links.push_back({{"from", link.from_gpu},
                     {"to", link.to_gpu},
                     {"transport", to_string(link.transport)},
                     {"reason", link.reason}});
  }
  Json numbers = Json::array();
  for (std::size_t c = 0; c < communicator.ring_of.size(); ++c) {
    if (communicator.ring_of[c] == static_cast<int>(ring)) numbers.push_back(c);
  }
  return {{"order", communicator.rings[ring].order},
          {"channel_numbers", numbers},
          {"channels",
           std::count(communicator.ring_of.begin(), communicator.ring_of.end(), static_cast<int>(ring))},
          {"neighbours", links}};
}

std::string graph_text(const NcclGraph& graph) {
  if (graph.fallback) return "nothing fits: plain order, one channel counted 0.1 GB/s";
  return fmt::format("{} of {:g} GB/s, {}", counted(graph.channels, "channel"), graph.speed_intra,
                     to_string(graph.type_intra));
}

std::string order_text(const Ring& ring) {
  std::string text;
  for (const int gpu : ring.order) text += (text.empty() ? "" : " ") + std::to_string(gpu);
  return text;
}

std::string gpu_name(const WhyReport& why, int gpu) { return why.gpu_names[static_cast<std::size_t>(gpu)]; }

void add_ring_lines(const WhyReport& why, std::size_t ring, std::vector<std::string>& lines) {
  const CommunicatorSetup& communicator = why.communicator;
  const auto channels =
      std::count(communicator.ring_of.begin(), communicator.ring_of.end(), static_cast<int>(ring));
  lines.push_back("ring of " + counted(channels, "channel") + ": " + order_text(communicator.rings[ring]));
  std::vector<std::pair<std::string, std::vector<std::string>>> pairs;  // by how they talk
  for (const Connection& link : communicator.rings[ring].links) {
    const std::string how = std::string(to_string(link.transport)) + " (" + link.reason + ")";
    if (pairs.empty() || pairs.back().first != how) pairs.push_back({how, {}});
    pairs.back().second.push_back(gpu_name(why, link.from_gpu) + " to " + gpu_name(why, link.to_gpu));
  }
  for (const auto& [how, names] : pairs) lines.push_back("  " + joined(names) + ": " + how);
}

std::string time_text(const std::optional<Seconds>& time) {
  return time ? fmt::format("{:.2f}", in_us(*time)) : "-";
}

std::optional<Seconds> predicted(const Alternative& way) {
  if (!way.prediction) return std::nullopt;
  return way.prediction->time;
}

}  // namespace

std::string name_of(const Alternative& way) {
  return to_string(way.algorithm) + std::string("/") + to_string(way.protocol);
}

Json decisions_as_json(const WhyReport& why) {
  const CommunicatorSetup& communicator = why.communicator;
  Json decisions;
  decisions["ranks"] = communicator.ranks;
  decisions["channels"] = communicator.channels();
  decisions["ring_search"] = communicator.nccl ? graph_as_json(communicator.nccl->ring) : Json();
  decisions["tree_search"] = communicator.nccl ? graph_as_json(communicator.nccl->tree) : Json();
  decisions["nvls_search"] = communicator.nccl ? graph_as_json(communicator.nccl->nvls) : Json();
  decisions["rings"] = Json::array();
  for (std::size_t r = 0; r < communicator.rings.size(); ++r)
    decisions["rings"].push_back(ring_as_json(why, r));
  return decisions;
}

Json ways_as_json(const Alternatives& alternatives) {
  Json ways = Json::array();
  const Alternative* fastest = alternatives.fastest();
  for (const Alternative& way : alternatives.ways) {
    const auto ours = predicted(way);
    ways.push_back({{"algorithm", to_string(family_of(way.algorithm))},
                    {"variant", variant_or_null(way.algorithm)},
                    {"protocol", to_string(way.protocol)},
                    {"taken", way.taken},
                    {"fastest", &way == fastest},
                    {"possible", way.possible},
                    {"nccl_time_us", way.nccl_estimate ? number_or_null(in_us(*way.nccl_estimate)) : Json()},
                    {"time_us", ours ? number_or_null(in_us(*ours)) : Json()},
                    {"channels", way.prediction ? Json(way.prediction->channels) : Json()},
                    {"threads", way.prediction ? Json(way.prediction->threads) : Json()},
                    {"note", way.note.empty() ? Json() : Json(way.note)}});
  }
  return ways;
}

std::vector<std::string> decision_lines(const WhyReport& why) {
  const CommunicatorSetup& communicator = why.communicator;
  std::vector<std::string> lines;
  if (communicator.nccl) {
    lines.push_back("ring search: " + graph_text(communicator.nccl->ring));
    lines.push_back("tree search: " + graph_text(communicator.nccl->tree));
    if (communicator.nccl->nvls.channels > 0)
      lines.push_back("NVLS search: " + graph_text(communicator.nccl->nvls));
  }
  lines.push_back(counted(communicator.channels(), "channel") + " for large calls");
  for (std::size_t r = 0; r < communicator.rings.size(); ++r) add_ring_lines(why, r, lines);
  return lines;
}

std::vector<std::string> impossible_lines(const WhyReport& why) {
  std::vector<std::pair<std::string, std::vector<std::string>>> ways;  // by note
  for (const Alternatives& size : why.sizes) {
    for (const Alternative& way : size.ways) {
      if (way.possible) continue;
      auto at =
          std::find_if(ways.begin(), ways.end(), [&](const auto& one) { return one.first == way.note; });
      if (at == ways.end()) at = ways.insert(ways.end(), {way.note, {}});
      const std::string name = name_of(way);
      if (std::find(at->second.begin(), at->second.end(), name) == at->second.end())
        at->second.push_back(name);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [note, names] : ways) lines.push_back("left out: " + joined(names) + " (" + note + ")");
  return lines;
}

Grid ways_grid(const WhyReport& why) {
  Grid grid;
  grid.columns = {{"size", "(B)", 11},    {"way", "", 13, false},    {"mark", "", 4, false},
                  {"NCCL's", "(us)", 10}, {"predicted", "(us)", 10}, {"channels", "", 8},
                  {"threads", "", 7},     {"note", "", 4, false}};
  for (const Alternatives& size : why.sizes) {
    const Alternative* fastest = size.fastest();
    for (const Alternative& way : size.ways) {
      if (!way.possible) continue;
      std::string marks = way.taken ? "*" : "";
      if (&way == fastest) marks += "+";
      grid.rows.push_back({std::to_string(size.size.value()), name_of(way), marks.empty() ? "-" : marks,
                           time_text(way.nccl_estimate), time_text(predicted(way)),
                           way.prediction ? std::to_string(way.prediction->channels) : "-",
                           way.prediction ? std::to_string(way.prediction->threads) : "-",
                           is_unsafe(way)     ? "not safe over PCIe"
                           : way.note.empty() ? "-"
                                              : way.note});
    }
  }
  return grid;
}

std::vector<std::string> regrets(const WhyReport& why) {
  constexpr double kWorthAWord = 1.02;  // of the fastest time
  std::vector<std::string> lines;
  for (const Alternatives& size : why.sizes) {
    const Alternative* taken = size.taken();
    const Alternative* fastest = size.fastest();
    if (taken != nullptr && !taken->prediction) {
      lines.push_back(fmt::format("{} B: {} is taken, which is not simulated: it cannot be compared",
                                  size.size.value(), name_of(*taken)));
      continue;
    }
    if (taken == nullptr || fastest == nullptr || taken == fastest) continue;
    const double factor = taken->prediction->time / fastest->prediction->time;
    if (factor < kWorthAWord) continue;
    lines.push_back(fmt::format("{} B: {} is taken and predicted to need {:.2f} times as long as {}",
                                size.size.value(), name_of(*taken), factor, name_of(*fastest)));
  }
  return lines;
}

}  // namespace lanecast
