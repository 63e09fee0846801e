#include "reports/nccl_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "model/error.hpp"
#include "reports/safe_text.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostCommentBytes = 250;      // plugin.c reads 255 of a line with its `#` and its end
constexpr std::size_t kMostGraphElements = 4095;    // xml.cc stops when 4096 are in use
constexpr std::size_t kElementsBesideChannels = 3;  // graphs, and the two of graph

/// A comment as lines that begin with `#`, none longer than a reader takes.
std::string commented(const std::string& comment) {
  std::string lines;
  std::istringstream parts(comment);
  for (std::string part; std::getline(parts, part);) {
    while (part.size() > kMostCommentBytes) {
      const std::size_t blank = part.rfind(' ', kMostCommentBytes);
      const std::size_t size = blank == std::string::npos || blank == 0 ? kMostCommentBytes : blank;
      lines += "# " + safe_text(part.substr(0, size)) + "\n";
      part.erase(0, size == blank ? size + 1 : size);
    }
    lines += "# " + safe_text(part) + "\n";
  }
  return lines;
}

/// As plugin.c compares them; what it does not know it takes for allreduce.
const char* tuner_name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "allreduce";
    case Collective::reduce_scatter:
      return "reducescatter";
    case Collective::all_gather:
      return "allgather";
    case Collective::broadcast:
      return "broadcast";
    case Collective::reduce:
      return "reduce";
  }
  return "";
}

void check_row(const NcclTunerRow& row, std::size_t index) {
  const auto refuse = [&](const std::string& what, const std::string& mend) {
    throw Error(ErrorKind::usage, what, fmt::format("row {} of the tuner's file", index + 1), mend);
  };
  if (!is_of_nccl(row.algorithm)) {
    refuse(fmt::format("NCCL has no algorithm `{}`", to_string(row.algorithm)),
           "take ring, tree or nvls: the others are run by other libraries");
  }
  if (row.channels < 1) {
    refuse(fmt::format("{} channels; the plugin takes what is no number of channels for one", row.channels),
           "name the number of channels, 1 or more");
  }
  if (row.to < row.from) {
    refuse(fmt::format("the sizes {} to {} B end before they begin", row.from.value(), row.to.value()),
           "both ends are inclusive: give the smaller size first");
  }
  for (const auto& [name, count] : {std::pair("ranks", row.ranks), std::pair("nodes", row.nodes)}) {
    if (count != -1 && count < 1)
      refuse(fmt::format("{} {} fit no communicator", count, name), "give 1 or more, or -1 for any");
  }
}

void check_orders(const std::vector<std::vector<int>>& orders, const std::vector<int>& present) {
  const auto refuse = [](const std::string& what, const std::string& mend) {
    throw Error(ErrorKind::usage, what, "the orders for NCCL's graph file", mend);
  };
  if (orders.empty() || orders.front().empty()) refuse("there is no order", "give one a search channel");
  if (orders.size() > kMostSearchChannels) {
    refuse(fmt::format("{} search channels; NCCL has {} at most", orders.size(), kMostSearchChannels),
           "leave orders out: NCCL runs each twice");
  }
  const std::set<int> known(present.begin(), present.end());
  const std::set<int> first(orders.front().begin(), orders.front().end());
  for (std::size_t channel = 0; channel < orders.size(); ++channel) {
    const std::vector<int>& order = orders[channel];
    for (const int gpu : order) {
      if (known.count(gpu) == 0) {
        refuse(fmt::format("channel {} names GPU {}, which is not present", channel, gpu),
               "take GPUs of the machine that are present");
      }
    }
    if (order.size() != first.size() || std::set<int>(order.begin(), order.end()) != first) {
      refuse(fmt::format("channel {} does not go once to each GPU of channel 0", channel),
             "every channel goes once around the same GPUs");
    }
  }
  const std::size_t elements = kElementsBesideChannels + 2 * orders.size() * (1 + orders.front().size());
  if (elements > kMostGraphElements) {
    refuse(fmt::format("the graphs have {} elements; NCCL reads {} at most", elements, kMostGraphElements),
           "give fewer orders: NCCL copies channels up to NCCL_MIN_NCHANNELS");
  }
}

/// As NCCL's graph files call a class of path. They lack C2C, and older releases P2C: the next farther one
/// stands for it.
const char* graph_file_name(PathType type) {
  if (type == PathType::c2c) return to_string(PathType::pix);
  if (type == PathType::p2c) return to_string(PathType::pxn);
  if (type <= PathType::sys) return to_string(type);
  throw Error(ErrorKind::usage, fmt::format("GPUs are joined by a path of class {}", to_string(type)),
              "the graph that NCCL's search found", "a graph file is for GPUs of one computer");
}

bool all_equal(const std::vector<std::vector<int>>& orders) {
  return std::all_of(orders.begin(), orders.end(),
                     [&](const std::vector<int>& order) { return order == orders.front(); });
}

/// GB/s of one channel: the search's, or its share where more channels share what the search found.
double channel_speed(const NcclGraph& graph, std::size_t channels) {
  const double found = graph.channels;
  return graph.speed_intra * std::min(1.0, found / static_cast<double>(channels));
}

void add_graph(pugi::xml_node graphs, int id, const NcclGraph& found,
               const std::vector<std::vector<int>>& orders, const std::vector<int>& present) {
  if (found.channels < 1 || found.speed_intra <= 0) {
    throw Error(ErrorKind::usage, fmt::format("graph {} has no channels or no speed", id),
                "what NCCL's search found", "take the setup of a communicator of two ranks or more");
  }
  const std::string speed = fmt::format("{:g}", channel_speed(found, orders.size()));
  const bool same = all_equal(orders) && (found.same_channels || orders != found.orders);
  pugi::xml_node graph = graphs.append_child("graph");
  graph.append_attribute("id") = id;
  graph.append_attribute("pattern") = static_cast<int>(found.pattern);
  graph.append_attribute("crossnic") = 0;
  graph.append_attribute("nchannels") = static_cast<unsigned>(orders.size());
  graph.append_attribute("speedintra") = speed.c_str();
  graph.append_attribute("speedinter") = speed.c_str();
  graph.append_attribute("latencyinter") = 0;
  graph.append_attribute("typeintra") = graph_file_name(found.type_intra);
  graph.append_attribute("typeinter") = to_string(found.fallback ? PathType::sys : PathType::pix);
  graph.append_attribute("samechannels") = same ? 1 : 0;
  for (const std::vector<int>& order : orders) {
    pugi::xml_node channel = graph.append_child("channel");
    for (const int gpu : order) {
      const auto place = std::lower_bound(present.begin(), present.end(), gpu) - present.begin();
      channel.append_child("gpu").append_attribute("dev") = fmt::format("{:#x}", place).c_str();
    }
  }
}

bool is_variable_name(const std::string& name) {
  const auto is_kept = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), is_kept);
}

}  // namespace

std::string nccl_tuner_csv(const std::vector<NcclTunerRow>& rows, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += commented(comment);
  text += "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NcclTunerRow& row = rows[i];
    check_row(row, i);
    text +=
        fmt::format("{},{},{},{},{},{},{},{}\n", tuner_name(row.collective), row.from.value(), row.to.value(),
                    to_string(row.algorithm), to_string(row.protocol), row.channels, row.nodes, row.ranks);
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
  std::ostringstream out;
  document.print(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  std::string text = out.str();
  // NCCL takes the `/` behind a blank for an attribute
  for (std::size_t at = text.find(" />"); at != std::string::npos; at = text.find(" />", at))
    text.erase(at, 1);
  return text;
}

std::string nccl_environment_text(const std::vector<NcclEnvironmentLine>& lines,
                                  const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += commented(comment);
  for (const NcclEnvironmentLine& line : lines) {
    if (!is_variable_name(line.name)) {
      throw Error(ErrorKind::usage, "no shell takes `" + safe_text(line.name) + "` for a variable's name",
                  "NCCL's environment", "take capitals, digits and _, no digit first");
    }
    text += "\n" + commented(line.reason) + (line.advised ? "" : "# ") + "export " + line.name + "=" +
            shell_quoted(line.value) + "\n";
  }
  return text;
}

}  // namespace lanecast
