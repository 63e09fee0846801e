#include "reports/topology_report.hpp"

#include "model/topology/distance_matrix.hpp"
#include "model/topology/peer_access.hpp"
#include "reports/distance_matrix.hpp"
#include "reports/grid.hpp"
#include "reports/topology_tree.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json link_as_json(const Machine& machine, const Link& link) {
  Json json{{"name", link.name},
            {"kind", to_string(link.kind)},
            {"from", node_name(machine, link.from)},
            {"to", node_name(machine, link.to)}};
  if (link.kind == LinkKind::pcie) {
    json["rate"] = to_string(link.rate);
    json["width"] = link.width;
    json["max_rate"] = to_string(link.max_rate);
    json["max_width"] = link.max_width;
    json["idle"] = link.idle;
  } else {
    json["count"] = link.count;
    json["GBps"] = link.lane_rate ? number_or_null(link.lane_rate->value() / 1e9) : Json();
  }
  return json;
}

/// One ordered pair of GPUs or adapters; peer access is a matter of GPUs.
struct Pair {
  NodeId from;
  NodeId to;
  DistanceCell cell;
  std::optional<PeerVerdict> peer;
};

constexpr std::size_t most_peers = 512;  // each pair's route is looked up

std::vector<Pair> pairs_of(const TopologyReport& report) {
  const TopologyMatrix matrix = topology_matrix(report.machine);
  const bool peers = matrix.nodes.size() <= most_peers;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < matrix.nodes.size(); ++i) {
    for (std::size_t j = 0; j < matrix.nodes.size(); ++j) {
      if (i == j) continue;
      Pair pair{matrix.nodes[i], matrix.nodes[j], matrix.cells[i][j], std::nullopt};
      if (peers && pair.from.kind == NodeKind::gpu && pair.to.kind == NodeKind::gpu)
        pair.peer = peer_access(report.machine, pair.from.index, pair.to.index, report.level);
      pairs.push_back(pair);
    }
  }
  return pairs;
}

Json pair_as_json(const TopologyReport& report, const Pair& pair) {
  return {{"from", node_name(report.machine, pair.from)},
          {"to", node_name(report.machine, pair.to)},
          {"distance", to_string(pair.cell.distance)},
          {"nvlinks", pair.cell.nvlinks},
          {"p2p", pair.peer ? Json(pair.peer->allowed) : Json()},
          {"reason", pair.peer ? Json(pair.peer->reason) : Json()}};
}

std::string as_json(const TopologyReport& report) {
  const Machine& machine = report.machine;
  Json document = document_head(report.run);
  document["machine"] = machine.name;
  if (report.tree) {
    document["gpus"] = Json::array();
    for (const Gpu& gpu : machine.gpus) {
      document["gpus"].push_back({{"name", gpu.name},
                                  {"model", text_or_null(gpu.model)},
                                  {"bdf", text_or_null(gpu.bdf)},
                                  {"present", gpu.present}});
    }
    document["nics"] = Json::array();
    for (const Nic& nic : machine.nics)
      document["nics"].push_back({{"name", nic.name}, {"bdf", text_or_null(nic.bdf)}});
    document["links"] = Json::array();
    for (const Link& link : machine.links) document["links"].push_back(link_as_json(machine, link));
    document["assumed"] = machine.assumed;
  }
  if (report.matrix || report.p2p) {
    document["pairs"] = Json::array();
    for (const Pair& pair : pairs_of(report)) document["pairs"].push_back(pair_as_json(report, pair));
  }
  return document_text(document);
}

std::string as_csv(const TopologyReport& report) {
  std::string text = csv_line({"from", "to", "distance", "nvlinks", "p2p", "reason"});
  for (const Pair& pair : pairs_of(report)) {
    const Json object = pair_as_json(report, pair);
    std::vector<Json> fields;
    for (const auto& [key, field] : object.items()) fields.push_back(field);
    text += csv_line(fields);
  }
  return text;
}

}  // namespace

std::string topology_text(const TopologyReport& report, Format format) {
  if (format == Format::json) return as_json(report);
  if (format == Format::csv) return as_csv(report);
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!text.empty()) text += "\n";
    text += format == Format::markdown ? "```\n" + part + "```\n" : part;
  };
  if (report.tree) add(topology_tree_text(report.machine));
  if (report.matrix) add(topology_matrix_text(report.machine));
  if (report.p2p) add(peer_access_text(report.machine, report.level));
  return text;
}

}  // namespace lanecast
