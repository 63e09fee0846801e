#include "configs/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_values = 1'000'000;

/// What stops the parser; becomes an Error in `parse_yaml`.
struct Refusal {
  Position at;
  Complaint complaint;
};

Position position(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

/// Builds the tree from the parser's events, so that nothing is built that the limits forbid.
class TreeBuilder : public YAML::EventHandler {
 public:
  bool has_document() const { return documents_ > 0; }
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(mark, "a second YAML document begins here", "keep one document in a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    close(start(mark, "", anchor, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_anchor(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = start(mark, tag, anchor, YamlNode::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";  // yaml-cpp's mark for quoted and block scalars
    close(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(start(mark, tag, anchor, YamlNode::Kind::list));
  }
  void OnSequenceEnd() override { close_open(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(start(mark, tag, anchor, YamlNode::Kind::map));
  }
  void OnMapEnd() override { close_open(); }

 private:
  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& text, const std::string& mend) {
    throw Refusal{position(mark), {text, mend}};
  }
  [[noreturn]] static void refuse_anchor(const YAML::Mark& mark) {
    refuse(mark, "YAML anchors and aliases are not supported", "write the value out where it is used");
  }

  YamlNode start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != YAML::NullAnchor) refuse_anchor(mark);
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(mark, "YAML tags such as `" + printable(tag) + "` are not supported", "leave the tag out");
    }
    if (++values_ > max_values) refuse(mark, "more than a million values", "split the file");
    YamlNode node;
    node.kind = kind;
    node.at = position(mark);
    return node;
  }

  void open(YamlNode node) {
    if (open_.size() >= max_depth) {
      throw Refusal{node.at, {"nested more than 32 levels deep", "a machine file needs three levels"}};
    }
    open_.push_back(std::move(node));
  }

  void close_open() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    close(std::move(node));
  }

  void close(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    YamlNode& parent = open_.back();
    const bool is_key = parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size();
    if (is_key && node.kind != YamlNode::Kind::scalar) {
      throw Refusal{node.at,
                    {std::string("a key is ") + describe(node.kind) + ", not text", "write `key: value`"}};
    }
    (is_key ? parent.keys : parent.items).push_back(std::move(node));
  }

  YamlNode root_;
  std::vector<YamlNode> open_;
  std::size_t values_ = 0;
  int documents_ = 0;
};

[[noreturn]] void throw_refusal(const Refusal& refusal, const std::string& file) {
  throw Error(ErrorKind::usage, refusal.complaint.text, to_string(refusal.at, file), refusal.complaint.mend);
}

}  // namespace

const char* describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "text";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      break;
  }
  return "a mapping";
}

YamlNode parse_yaml(const std::string& text, const std::string& file) {
  TreeBuilder builder;
  try {
    if (text.size() > max_file_bytes) throw Refusal{{}, {"larger than 8 MiB", "split the machine"}};
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (!builder.has_document()) throw Refusal{{1, 1}, {"the file is empty", "begin it with `lanecast: 1`"}};
  } catch (const Refusal& refusal) {
    throw_refusal(refusal, file);
  } catch (const YAML::Exception& error) {
    throw_refusal({position(error.mark),
                   {"not YAML: " + printable(error.msg), "indent with spaces and write `key: value`"}},
                  file);
  }
  return builder.take();
}

std::string read_text_file(const std::string& path) {
  const std::string shown = path == "-" ? "standard input" : printable(path);
  std::ifstream file;
  if (path != "-") {
    errno = 0;
    file.open(path, std::ios::binary);
    if (!file) {
      const std::string reason = errno != 0 ? std::strerror(errno) : "it cannot be opened";
      throw Error(ErrorKind::usage, "cannot read `" + shown + "`: " + reason, "",
                  "give a file that exists and that you may read");
    }
  }
  std::istream& stream = path == "-" ? std::cin : file;
  std::string text;
  std::array<char, 65536> block{};
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0) {  // devices and pipes have no size
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_file_bytes) {
      throw Error(ErrorKind::usage, "`" + shown + "` is larger than 8 MiB", shown, "give a smaller file");
    }
  }
  if (stream.bad())
    throw Error(ErrorKind::usage, "cannot read `" + shown + "`", "", "give a text file, not a folder");
  return text;
}

}  // namespace lanecast
