#pragma once
#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.hpp"

namespace lanecast {

/// An XML text with places: for the readers of configs/dumps only, so that pugixml stays theirs.
///
/// A text that stops in the middle, or breaks there, still gives the elements before: people paste parts.
/// Then `problem()` says what is wrong and where, and the reader adds that as a note. Text around the
/// outermost element (a prompt, a DOCTYPE) is skipped. Bytes are taken as UTF-8, whatever the declaration
/// says.
class XmlDocument {
 public:
  /// Most tags, attributes and lines together, so that memory stays bounded; the dumps of a machine of 16
  /// GPUs hold about 30 000.
  static constexpr std::size_t most_parts = std::size_t{1} << 18;

  /// @param file    as messages name it
  /// @throws Error  kind usage: no element at all, with file:line:column; or more than `most_parts`
  XmlDocument(std::string_view text, const std::string& file);

  /// The outermost elements are its children: `root().child("system")`.
  pugi::xml_node root() const { return document_; }

  /// "file:12", the line of an element's tag.
  std::string place(const pugi::xml_node& node) const;

  /// Where and why reading stopped: "box.xml:40:3: not well-formed XML: ...; what stands before it was
  /// taken". Nothing: all was read.
  const std::optional<std::string>& problem() const { return problem_; }

  /// For a reader that finds nothing of its kind. Names the outermost element, or why reading stopped.
  /// @param wanted  "an NCCL topology (<system>)"
  Error refusal(const std::string& wanted) const;

 private:
  std::string line_and_column(std::size_t offset) const;

  std::string file_;
  std::vector<std::size_t> line_starts_;
  pugi::xml_document document_;
  std::optional<std::string> problem_;
  std::string broken_at_;  // file:line:column; empty: well-formed
};

}  // namespace lanecast
