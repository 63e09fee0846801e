#include "configs/json_document.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t most_levels = 64;
constexpr std::size_t most_values = 8'000'000;

/// Tells how far the parser has read, since it does not say so itself.
class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* at, const char** read_to) : at_(at), read_to_(read_to) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *read_to_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_ = nullptr;
  const char** read_to_ = nullptr;
};

/// Builds nodes from the parser's events.
class NodeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  NodeBuilder(const std::string& text, const std::string& file, int first_line)
      : read_to(text.data()),
        file_(file),
        line_begin_(text.data()),
        counted_(text.data()),
        line_(first_line) {}

  const char* read_to;
  JsonNode root;

  bool null() override { return add(JsonNode::Kind::null, "null"); }
  bool boolean(bool value) override { return add(JsonNode::Kind::flag, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return add(JsonNode::Kind::number, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(JsonNode::Kind::number, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return add(JsonNode::Kind::number, text);
  }
  bool string(string_t& value) override { return add(JsonNode::Kind::text, std::move(value)); }
  bool binary(binary_t&) override { return true; }  // not in JSON text
  bool start_object(std::size_t) override { return open(JsonNode::Kind::map); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override;

 private:
  Position here();
  bool add(JsonNode::Kind kind, std::string text);
  bool open(JsonNode::Kind kind);
  bool close() {
    levels_.pop_back();
    return true;
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& mend) {
    throw Error(ErrorKind::usage, what, to_string(here(), file_), mend);
  }

  const std::string& file_;
  const char* line_begin_;
  const char* counted_;  // line ends before it are in `line_`
  int line_;
  std::size_t values_ = 0;
  std::vector<JsonNode*> levels_;  // maps and lists that are open
};

/// Where the last token ends.
Position NodeBuilder::here() {
  const char* end = read_to > counted_ ? read_to - 1 : counted_;  // a number's end is known one byte later
  for (; counted_ < end; ++counted_) {
    if (*counted_ != '\n') continue;
    ++line_;
    line_begin_ = counted_ + 1;
  }
  return {line_, static_cast<int>(std::min<std::ptrdiff_t>(end - line_begin_ + 1, 1 << 30))};
}

bool NodeBuilder::add(JsonNode::Kind kind, std::string text) {
  if (++values_ > most_values) refuse("there are more than 8 million values", "split the file");
  JsonNode node;
  node.kind = kind;
  node.text = std::move(text);
  node.at = here();
  if (levels_.empty()) {
    root = std::move(node);
  } else {
    levels_.back()->items.push_back(std::move(node));
  }
  return true;
}

bool NodeBuilder::open(JsonNode::Kind kind) {
  if (levels_.size() >= most_levels)
    refuse("more than 64 levels of lists and mappings", "give a flatter file");
  add(kind, "");
  levels_.push_back(levels_.empty() ? &root : &levels_.back()->items.back());
  return true;
}

bool NodeBuilder::key(string_t& value) {
  std::vector<std::string>& keys = levels_.back()->keys;
  if (std::find(keys.begin(), keys.end(), value) != keys.end()) {
    refuse("`" + printable(value) + "` stands here twice", "keep one of the two");
  }
  if (keys.size() >= 512) refuse("a mapping with more than 512 keys", "no format that is read has so many");
  keys.push_back(std::move(value));
  return true;
}

bool NodeBuilder::parse_error(std::size_t, const std::string& token, const nlohmann::json::exception& error) {
  if (std::string_view(error.what()).find("unexpected end of input") != std::string_view::npos) {
    refuse("the JSON ends before it is complete", "copy all of it");
  }
  refuse("this is no JSON: `" + printable(token) + "`",
         "give the file as the tool wrote it; numbers like nan are no JSON");
}

}  // namespace

const JsonNode* JsonNode::find(const std::string& key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

const char* describe(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::flag:
      return "true or false";
    case JsonNode::Kind::number:
      return "a number";
    case JsonNode::Kind::text:
      return "text";
    case JsonNode::Kind::list:
      return "a list";
    case JsonNode::Kind::map:
      return "a mapping";
  }
  return "?";
}

JsonNode parse_json(const std::string& text, const std::string& file, int first_line) {
  NodeBuilder builder(text, file, first_line);
  const char* end = text.data() + text.size();
  nlohmann::json::sax_parse(CountingIterator(text.data(), &builder.read_to),
                            CountingIterator(end, &builder.read_to), &builder);
  return std::move(builder.root);
}

}  // namespace lanecast
