#include "configs/dumps/recognition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace lanecast {
namespace {

constexpr std::string_view collected_head = "# lanecast topo collect";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ':' || c == '.';
}

/// Where XML begins: at a `<` that begins a line and opens an element, a comment or a declaration. Prompts
/// and prose may stand before it, but not too much of them: logs hold such lines, too.
std::size_t xml_begin(std::string_view text) {
  constexpr std::size_t most_lines_before = 20;
  std::size_t at = 0;
  for (std::size_t line = 0; line <= most_lines_before && at < text.size(); ++line) {
    const std::size_t first = text.find_first_not_of(" \t\r", at);
    if (first == std::string_view::npos) break;
    if (text[first] == '<' && first + 1 < text.size()) {
      const char next = text[first + 1];
      if (next == '?' || next == '!' || next == '/' || std::isalpha(static_cast<unsigned char>(next)) != 0)
        return first;
    }
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::string_view::npos;
}

/// Name of the first element, declarations, comments and closing tags passed over.
std::string first_element(std::string_view xml) {
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at + 1)) {
    if (xml.compare(at, 4, "<!--") == 0) {
      at = xml.find("-->", at);
      if (at == std::string_view::npos) break;
      continue;
    }
    std::size_t end = at + 1;
    while (end < xml.size() && is_name_character(xml[end])) ++end;
    if (end > at + 1) return std::string(xml.substr(at + 1, end - at - 1));
  }
  return "";
}

struct XmlRow {
  std::string_view element;
  DumpKind kind;
  std::string_view missing_root;  // where the element is not the root: an excerpt begins below it
};

constexpr std::array<XmlRow, 12> xml_rows{{
    {"system", DumpKind::nccl_topology, ""},
    {"cpu", DumpKind::nccl_topology, "<system>"},
    {"pci", DumpKind::nccl_topology, "<system>"},
    {"gpu", DumpKind::nccl_topology, "<system>"},
    {"nvlink", DumpKind::nccl_topology, "<system>"},
    {"xgmi", DumpKind::nccl_topology, "<system>"},
    {"nic", DumpKind::nccl_topology, "<system>"},
    {"graphs", DumpKind::nccl_graph, ""},
    {"graph", DumpKind::nccl_graph, "<graphs>"},
    {"channel", DumpKind::nccl_graph, "<graphs>"},
    {"nvidia_smi_log", DumpKind::nvidia_smi_xml, ""},
    {"topology", DumpKind::hwloc_xml, ""},
}};

/// The XML with the lines before it emptied, so that places keep their line numbers, and with the root of an
/// excerpt.
std::string xml_body(std::string_view text, std::size_t begin, std::string_view missing_root) {
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return std::string(static_cast<std::size_t>(lines), '\n').append(missing_root).append(text.substr(begin));
}

bool has_line_beginning(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

bool is_machine_file(std::string_view text) {
  return has_line_beginning(text, "lanecast:") && has_line_beginning(text, "machine:");
}

}  // namespace

RecognisedText recognised(const std::string& text, std::optional<DumpKind> as) {
  RecognisedText result;
  const std::size_t begin = xml_begin(text);
  if (begin != std::string::npos) result.xml_root = first_element(std::string_view(text).substr(begin));
  if (!result.xml_root.empty()) {
    const auto row = std::find_if(xml_rows.begin(), xml_rows.end(),
                                  [&](const XmlRow& each) { return each.element == result.xml_root; });
    const bool known = row != xml_rows.end();
    result.body = xml_body(text, begin, known ? row->missing_root : "");
    if (as) {
      result.kinds = {*as};
    } else if (known) {
      result.kinds = {row->kind};
    }
    return result;
  }
  result.body = text;
  if (as) {
    result.kinds = {*as};
  } else if (is_machine_file(text)) {
    result.kinds = {DumpKind::machine_file};
  } else if (has_line_beginning(text, collected_head)) {
    result.kinds = {DumpKind::collected};
  } else {
    result.kinds = {DumpKind::lspci_tree,       DumpKind::lspci_verbose,    DumpKind::nvidia_smi_topo,
                    DumpKind::nvidia_smi_p2p,   DumpKind::nvidia_smi_query, DumpKind::nvidia_smi_csv,
                    DumpKind::nvidia_smi_table, DumpKind::nccl_log};
  }
  return result;
}

}  // namespace lanecast
