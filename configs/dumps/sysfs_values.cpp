#include "configs/dumps/sysfs_values.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include "configs/dumps/sysfs_tree.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

// linux/ioport.h
constexpr std::uint64_t kMemory = 0x200;
constexpr std::uint64_t kPrefetchable = 0x2000;
constexpr std::uint64_t kMemory64 = 0x100000;
constexpr std::uint64_t kUnset = 0x20000000;  // no address was found for it
constexpr int kBars = 6;                      // of an endpoint; the ROM and virtual functions' windows follow

template <class T>
std::optional<T> number_of(std::string_view text, int base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end && !text.empty() ? std::optional(value) : std::nullopt;
}

/// Takes the text up to the next of `ends` off.
std::string_view taken(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view first = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return first;
}

/// A decimal number without sign, "16", "2.5", in tenths; nothing for more digits than rates have.
std::optional<int> tenths_of(std::string_view text) {
  std::string_view rest = text;
  const auto whole = number_of<unsigned>(taken(rest, '.'), 10);
  const bool point = text.find('.') != std::string_view::npos;
  const auto tenth = point ? number_of<unsigned>(rest.substr(0, 1), 10) : std::optional<unsigned>(0);
  if (!whole || !tenth || *whole > 100000) return std::nullopt;
  return static_cast<int>(*whole * 10 + *tenth);
}

std::optional<std::uint64_t> hex_address(std::string_view text) {
  if (text.substr(0, 2) != "0x") return std::nullopt;
  return number_of<std::uint64_t>(text.substr(2), 16);
}

}  // namespace

std::optional<PcieRate> rate_of_link_speed(std::string_view text) {
  const std::string kept(trimmed(text));
  std::string_view rest = kept;
  const auto speed = tenths_of(taken(rest, ' '));
  if (!speed || rest.substr(0, 4) != "GT/s") return std::nullopt;
  switch (*speed) {
    case 25:
      return PcieRate::gen1;
    case 50:
      return PcieRate::gen2;
    case 80:
      return PcieRate::gen3;
    case 160:
      return PcieRate::gen4;
    case 320:
      return PcieRate::gen5;
    case 640:
      return PcieRate::gen6;
    default:
      return std::nullopt;
  }
}

std::optional<int> width_of_link(std::string_view text) {
  const std::optional<int> width = whole_number(text);
  return width && is_pcie_width(*width) ? width : std::nullopt;
}

std::optional<std::uint32_t> hex_number(std::string_view text) {
  const std::optional<std::uint64_t> value = hex_address(trimmed(text));
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<int> whole_number(std::string_view text) {
  const std::string kept(trimmed(text));
  return kept.size() > 9 ? std::nullopt : number_of<int>(kept, 10);
}

std::optional<std::uint64_t> error_total(std::string_view text) {
  std::optional<std::uint64_t> sum;
  while (!text.empty()) {
    const std::string line(trimmed(taken(text, '\n')));
    const std::size_t blank = line.find_last_of(" \t");
    const std::string_view digits = std::string_view(line).substr(blank == std::string::npos ? 0 : blank + 1);
    const auto count = number_of<std::uint64_t>(digits, 10);
    if (!count) continue;
    if (line.compare(0, 5, "TOTAL") == 0) return count;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - sum.value_or(0);
    sum = sum.value_or(0) + std::min(*count, room);
  }
  return sum;
}

std::optional<Window> memory_window(std::string_view resource) {
  constexpr std::uint64_t wanted = kMemory | kPrefetchable | kMemory64;
  std::optional<Window> largest;
  for (int bar = 0; bar < kBars && !resource.empty(); ++bar) {
    std::string_view line = taken(resource, '\n');
    const auto begin = hex_address(taken(line, ' '));
    const auto end = hex_address(taken(line, ' '));
    const auto flags = hex_address(trimmed(line));
    if (!begin || !end || !flags || (*flags & wanted) != wanted || *end < *begin) continue;
    if (*end - *begin == std::numeric_limits<std::uint64_t>::max()) continue;
    const Window window{Bytes(*end - *begin + 1), *begin != 0 && (*flags & kUnset) == 0};
    if (!largest || window.size > largest->size) largest = window;
  }
  return largest;
}

std::optional<BytesPerSecond> port_rate(std::string_view text) {
  const std::string kept(trimmed(text));
  std::string_view rest = kept;
  const auto tenths = tenths_of(taken(rest, ' '));
  if (!tenths || *tenths == 0 || rest.substr(0, 6) != "Gb/sec") return std::nullopt;
  return BytesPerSecond(*tenths * 1e8 / 8);
}

}  // namespace lanecast
