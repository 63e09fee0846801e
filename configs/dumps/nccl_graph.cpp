#include <charconv>
#include <pugixml.hpp>

#include "configs/dumps/readers.hpp"
#include "configs/dumps/xml_document.hpp"
#include "configs/dumps/xml_numbers.hpp"
#include "configs/reading.hpp"

// Source of the format: facts.md A9; NVIDIA/nccl src/graph/search.cc (`ncclTopoGetXmlFromGraph`).

namespace lanecast {
namespace {

constexpr std::size_t kMostGpus = 1024;

/// A GPU's number. Newer releases write hexadecimal with the number of the host in the upper 8 bits.
struct GraphGpu {
  int host = 0;
  int index = 0;
};

std::optional<GraphGpu> graph_gpu(std::string_view text) {
  const bool hexadecimal = text.substr(0, 2) == "0x";
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  constexpr std::uint64_t kLocal = (std::uint64_t{1} << 56) - 1;
  if (error != std::errc() || stop != text.data() + text.size() || (value & kLocal) >= kMostGpus)
    return std::nullopt;
  return GraphGpu{static_cast<int>(value >> 56), static_cast<int>(value & kLocal)};
}

/// The GPUs of a channel in ring order; why not, as a clause, where that cannot be told.
Reading<std::vector<int>> order_of(const pugi::xml_node& channel) {
  std::vector<int> order;
  for (const pugi::xml_node gpu : channel.children("gpu")) {
    const std::string dev = gpu.attribute("dev").value();
    const std::optional<GraphGpu> read = graph_gpu(dev);
    if (!read || order.size() == kMostGpus) return Complaint{"a GPU number `" + printable(dev) + "`", ""};
    if (read->host != 0) return Complaint{"GPUs of several computers", "give the graph file of one computer"};
    order.push_back(read->index);
  }
  if (order.empty()) return Complaint{"no GPU", ""};
  return order;
}

/// Graph 0. The others say nothing of the machine that this one does not: their GPUs are the same, and trees
/// and NVLS follow from the same search.
void take_ring_graph(const pugi::xml_node& graph, const XmlDocument& document, MachineFacts& facts) {
  const std::optional<int> channels = xml_number(graph.attribute("nchannels").value());
  if (channels && *channels > 0 && *channels <= 1024)
    facts.nccl.search_channels.add(*channels, document.place(graph) + " (nchannels)");
  std::optional<std::vector<int>> first;
  for (const pugi::xml_node channel : graph.children("channel")) {
    const bool cut_off = document.problem() && !channel.next_sibling() && !graph.next_sibling();
    if (cut_off) return;  // its last GPUs may be missing
    const Reading<std::vector<int>> order = order_of(channel);
    if (!order) {
      facts.notes.push_back(document.place(channel) + ": the channel holds " + order.complaint.text +
                            "; no ring was taken" +
                            (order.complaint.mend.empty() ? "" : "; mend: " + order.complaint.mend));
      return;
    }
    if (!first) {
      first = order.value;
      facts.nccl.ring.add(*first, document.place(channel) + " (channel)");
    } else if (*first != *order.value) {
      facts.notes.push_back(
          document.place(channel) +
          ": this channel takes the GPUs in another order than the first one, which is shown");
      return;
    }
  }
}

}  // namespace

int read_nccl_graph(std::string_view text, const std::string& file, MachineFacts& facts) {
  const XmlDocument document(text, file);
  const pugi::xml_node graphs = document.root().child("graphs");
  if (!graphs) throw document.refusal("an NCCL graph file (<graphs>)");
  int items = 0;
  for (const pugi::xml_node graph : graphs.children("graph")) {
    ++items;
    if (xml_number(graph.attribute("id").value()) == 0) take_ring_graph(graph, document, facts);
  }
  if (graphs.child("channel")) {  // an excerpt that begins within a graph: which one, it does not say
    facts.notes.push_back(
        file +
        ": the excerpt does not say which graph its channels belong to; mend: give the whole "
        "file of NCCL_GRAPH_DUMP_FILE");
  }
  if (document.problem()) facts.notes.push_back(*document.problem());
  return items;
}

}  // namespace lanecast
