#include "configs/dumps/xml_document.hpp"

#include <algorithm>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr const char* whole_file = "paste the whole output of the command, or name the file that it wrote";

/// pugixml's word for a fault, with what it most often means here.
std::string fault(const pugi::xml_parse_result& result, bool at_end) {
  if (at_end) return "it ends before its last element is closed";
  return std::string(result.description());
}

/// The outermost element; null where there is none.
pugi::xml_node outermost(const pugi::xml_document& document) {
  return document.find_child([](const pugi::xml_node& node) { return node.type() == pugi::node_element; });
}

/// Takes away the value in which the text breaks: "1" may be the begin of "16".
void drop_cut_value(pugi::xml_document& document, std::string_view text, pugi::xml_parse_status status) {
  pugi::xml_node last = document.last_child();
  while (last.last_child()) last = last.last_child();
  if (status == pugi::status_bad_attribute) last.remove_attribute(last.last_attribute());
  if (last.type() == pugi::node_pcdata && last.offset_debug() >= 0 &&
      text.find('<', static_cast<std::size_t>(last.offset_debug())) == std::string_view::npos) {
    last.parent().remove_child(last);
  }
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, const std::string& file) : file_(file), line_starts_{0} {
  std::size_t parts = 0;
  for (std::size_t i = 0; i < text.size() && parts <= most_parts; ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
    if (text[i] == '<' || text[i] == '=' || text[i] == '\n') ++parts;
  }
  if (parts > most_parts) {
    throw Error(ErrorKind::usage,
                "this XML holds more than " + std::to_string(most_parts) + " tags, attributes and lines",
                file_, "give the dump of one machine");
  }
  const pugi::xml_parse_result result =
      document_.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    const auto offset =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)), text.size());
    const bool at_end =
        text.find_first_not_of(" \t\r\n", std::min(offset + 1, text.size())) == std::string_view::npos;
    broken_at_ = line_and_column(offset);
    drop_cut_value(document_, text, result.status);
    problem_ = broken_at_ + ": not well-formed XML: " + fault(result, at_end) +
               "; what stands before it was taken; mend: " + whole_file;
  }
  if (outermost(document_).empty()) {
    throw Error(ErrorKind::usage, "not well-formed XML: no element", problem_ ? broken_at_ : file_,
                whole_file);
  }
}

std::string XmlDocument::line_and_column(std::size_t offset) const {
  const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset) - 1;
  return file_ + ":" + std::to_string(line - line_starts_.begin() + 1) + ":" +
         std::to_string(offset - *line + 1);
}

std::string XmlDocument::place(const pugi::xml_node& node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  if (offset < 0) return file_;
  const std::string full = line_and_column(static_cast<std::size_t>(offset));
  return full.substr(0, full.rfind(':'));
}

Error XmlDocument::refusal(const std::string& wanted) const {
  if (problem_) {
    return {ErrorKind::usage, "not well-formed XML, and nothing of " + wanted + " stands before the fault",
            broken_at_, whole_file};
  }
  const pugi::xml_node first = outermost(document_);
  return {ErrorKind::usage, "not " + wanted + ": the outermost element is <" + printable(first.name()) + ">",
          place(first), "check which command wrote it"};
}

}  // namespace lanecast
