#include "reports/nccl_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "model/error.hpp"
#include "reports/grid.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kLongestLine = 250;  // the plugin reads lines of 255 characters

/// As the plugin spells them.
const char* tuner_name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "allreduce";
    case Collective::all_gather:
      return "allgather";
    case Collective::reduce_scatter:
      return "reducescatter";
    case Collective::broadcast:
      return "broadcast";
    case Collective::reduce:
      break;
  }
  return "reduce";
}

std::string described(const NcclTunerRow& row) {
  return fmt::format("{} from {} to {} B", tuner_name(row.collective), row.from.value(), row.to.value());
}

void check(const NcclTunerRow& row) {
  const auto refuse = [&](const std::string& what, const std::string& mend) {
    throw Error(ErrorKind::usage, what, "tuner row " + described(row), mend);
  };
  const bool known = row.algorithm == Algorithm::ring || row.algorithm == Algorithm::tree ||
                     row.algorithm == Algorithm::nvls;
  if (!known) refuse(fmt::format("NCCL has no {}", to_string(row.algorithm)), "take ring, tree or nvls");
  if (row.channels < 1)
    refuse(fmt::format("{} channels: the plugin would take one", row.channels), "name a count of channels");
  if (row.to < row.from) refuse("the range ends before it begins", "let `to` be `from` or more");
}

std::string comment(const std::string& text) { return comment_line(text.substr(0, kLongestLine)); }

/// Names as NCCL's graph files have them.
const char* graph_type(PathType type) { return to_string(type); }

void add_channel(pugi::xml_node graph, const std::vector<int>& order, const std::vector<int>& present) {
  pugi::xml_node channel = graph.append_child("channel");
  for (const int gpu : order) {
    const auto place = std::lower_bound(present.begin(), present.end(), gpu) - present.begin();
    channel.append_child("gpu").append_attribute("dev") = static_cast<int>(place);
  }
}

void add_graph(pugi::xml_node graphs, int id, const NcclGraph& found,
               const std::vector<std::vector<int>>& orders, const std::vector<int>& present) {
  pugi::xml_node graph = graphs.append_child("graph");
  graph.append_attribute("id") = id;
  graph.append_attribute("pattern") = static_cast<int>(found.pattern);
  graph.append_attribute("crossnic") = 0;
  graph.append_attribute("nchannels") = static_cast<int>(orders.size());
  const std::string speed = fmt::format("{:g}", found.speed_intra);
  graph.append_attribute("speedintra") = speed.c_str();
  graph.append_attribute("speedinter") = speed.c_str();
  graph.append_attribute("latencyinter") = 0;
  graph.append_attribute("typeintra") = graph_type(found.type_intra);
  graph.append_attribute("typeinter") = graph_type(PathType::pix);  // one node: no network is crossed
  graph.append_attribute("samechannels") = found.same_channels ? 1 : 0;
  for (const std::vector<int>& order : orders) add_channel(graph, order, present);
}

void check_orders(const std::vector<std::vector<int>>& orders, const std::vector<int>& present) {
  const std::set<int> expected(present.begin(), present.end());
  for (const std::vector<int>& order : orders) {
    const std::set<int> named(order.begin(), order.end());
    if (named.size() == order.size() && named == expected) continue;
    throw Error(ErrorKind::usage, "an order of the graph does not name each present GPU once",
                "NCCL_GRAPH_FILE", "let all present GPUs take part: the file is for the whole machine");
  }
  if (orders.empty())
    throw Error(ErrorKind::usage, "a graph without a channel", "NCCL_GRAPH_FILE", "give an order");
}

std::string shell_value(const std::string& value) {
  const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!value.empty() && value.find_first_not_of(plain) == std::string::npos) return value;
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string nccl_tuner_csv(const std::vector<NcclTunerRow>& rows, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& line : comments) text += comment(line);
  text += comment("collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks");
  for (const NcclTunerRow& row : rows) {
    check(row);
    text += fmt::format("{},{},{},{},{},{},{},{}\n", tuner_name(row.collective), row.from.value(),
                        row.to.value(), to_string(row.algorithm), to_string(row.protocol), row.channels,
                        row.ranks < 0 ? -1 : 1, row.ranks);
  }
  return text;
}

std::string nccl_graph_xml(const NcclSetup& setup, const std::vector<std::vector<int>>& orders,
                           const std::vector<int>& present) {
  check_orders(orders, present);
  pugi::xml_document document;
  pugi::xml_node graphs = document.append_child("graphs");
  graphs.append_attribute("version") = 1;
  add_graph(graphs, 0, setup.ring, orders, present);
  add_graph(graphs, 1, setup.tree, orders, present);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return text.str();
}

std::string nccl_environment_text(const std::vector<NcclEnvironmentLine>& lines,
                                  const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& line : comments) text += comment_line(line);
  for (const NcclEnvironmentLine& line : lines) {
    text += "\n" + comment_line(line.reason);
    text += fmt::format("{}export {}={}\n", line.advised ? "" : "# ", line.name, shell_value(line.value));
  }
  return text;
}

}  // namespace lanecast
