#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/dump_kind.hpp"

namespace lanecast {

/// What a text may hold, by its look.
struct RecognisedText {
  std::vector<DumpKind> kinds;  // readers to try; empty: XML of an unknown kind, or no text at all
  std::string body;      // what the readers get: XML without what stands before it, lines kept in place
  std::string xml_root;  // name of the root element; empty: no XML
};

/// XML is told by its root element (also where an excerpt begins below it), lanecast's own files by their
/// first key, a collected file by its head. Any other text may hold several dumps one after another: all
/// line-wise readers try it.
///
/// @param as  the kind that the user states; nothing: by look
RecognisedText recognised(const std::string& text, std::optional<DumpKind> as);

}  // namespace lanecast
