#include "configs/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t max_quantity_length = 64;

/// A decimal unit is 10^power of the base unit, divided by `divisor`; a binary one is 2^power.
struct Unit {
  std::string_view name;
  int power;
  int divisor = 1;
};

constexpr std::array<Unit, 5> byte_units{{{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
constexpr std::array<Unit, 6> rate_units{
    {{"B/s", 0}, {"kB/s", 3}, {"MB/s", 6}, {"GB/s", 9}, {"TB/s", 12}, {"Gbit/s", 9, 8}}};
constexpr std::array<Unit, 4> time_units{{{"ns", -9}, {"us", -6}, {"ms", -3}, {"s", 0}}};
constexpr std::array<Unit, 14> size_units{{{"", 0},
                                           {"B", 0},
                                           {"K", 10},
                                           {"M", 20},
                                           {"G", 30},
                                           {"T", 40},
                                           {"k", 10},
                                           {"m", 20},
                                           {"g", 30},
                                           {"t", 40},
                                           {"KiB", 10},
                                           {"MiB", 20},
                                           {"GiB", 30},
                                           {"TiB", 40}}};

constexpr const char* bytes_mend = "write it like `256 KiB`; the units are B, KiB, MiB, GiB and TiB";
constexpr const char* rate_mend =
    "write it like `25.6 GB/s`; the units are B/s, kB/s, MB/s, GB/s, TB/s and Gbit/s";
constexpr const char* time_mend = "write it like `1.2 us`; the units are ns, us, ms and s";
constexpr const char* size_mend = "write it like `8`, `128M` or `64KiB`; K, M, G and T are powers of 1024";

/// A decimal number taken apart: `digits` holds no sign and no exponent.
struct Number {
  std::string digits;
  int exponent = 0;
  bool whole = true;  // written without a point and an exponent
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Splits "1.5e3 GB/s" into the number and the unit behind it; nothing where it does not begin with a number.
std::optional<std::pair<Number, std::string_view>> split(std::string_view text) {
  if (text.size() > max_quantity_length) return std::nullopt;
  Number number;
  std::size_t at = 0, digit_count = 0, points = 0;
  while (at < text.size() && (is_digit(text[at]) || (text[at] == '.' && points == 0))) {
    (is_digit(text[at]) ? digit_count : points) += 1;
    ++at;
  }
  if (digit_count == 0) return std::nullopt;
  number.digits = std::string(text.substr(0, at));
  number.whole = points == 0;
  if (at + 1 < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t sign = text[at + 1] == '-' || text[at + 1] == '+' ? 1 : 0;
    const char* first = text.data() + at + 1 + (text[at + 1] == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), number.exponent);
    const bool fits = std::abs(static_cast<double>(number.exponent)) < 400;
    if (error != std::errc() || !fits || at + 1 + sign >= text.size() || !is_digit(text[at + 1 + sign])) {
      return std::nullopt;
    }
    number.whole = false;
    at = static_cast<std::size_t>(end - text.data());
  }
  while (at < text.size() && text[at] == ' ') ++at;
  return std::pair(number, text.substr(at));
}

/// The double nearest to number x 10^power; nothing where it overflows or vanishes.
std::optional<double> decimal(const Number& number, int power) {
  const std::string text = number.digits + "e" + std::to_string(number.exponent + power);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> whole_bytes(const Number& number, int power) {
  constexpr double exact_limit = 9007199254740992.0;  // 2^53: from here on a double skips whole numbers
  if (number.whole) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), value);
    if (error != std::errc() || value > (std::numeric_limits<std::uint64_t>::max() >> power))
      return std::nullopt;
    return value << power;
  }
  const std::optional<double> value = decimal(number, 0);
  if (!value) return std::nullopt;
  const double size_bytes = std::ldexp(*value, power);
  if (size_bytes >= exact_limit || size_bytes != std::floor(size_bytes)) return std::nullopt;
  return static_cast<std::uint64_t>(size_bytes);
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Complaint complain(std::string_view what, std::string_view text, std::string_view unit, const char* mend) {
  const bool number = !text.empty() && (is_digit(text.front()) || text.front() == '.');
  if (!number) return {"not " + std::string(what), mend};
  if (unit.empty()) return {std::string(what) + " needs a unit", mend};
  return {"`" + printable(std::string(unit)) + "` is no unit of " + std::string(what), mend};
}

Reading<Bytes> parse_binary(const std::string& text, std::span<const Unit> units, const char* what,
                            const char* mend) {
  const auto parts = split(text);
  if (!parts) return Complaint{std::string("not ") + what, mend};
  const Unit* unit = find_unit(units, parts->second);
  if (unit == nullptr) return complain(what, text, parts->second, mend);
  const auto value = whole_bytes(parts->first, unit->power);
  if (!value) return Complaint{"not a whole number of bytes below 2^64", mend};
  return Bytes(*value);
}

Reading<double> parse_decimal(const std::string& text, std::span<const Unit> units, const char* what,
                              const char* mend) {
  const auto parts = split(text);
  if (!parts) return Complaint{std::string("not ") + what, mend};
  const Unit* unit = find_unit(units, parts->second);
  if (unit == nullptr) return complain(what, text, parts->second, mend);
  const auto value = decimal(parts->first, unit->power);
  if (!value) return Complaint{"out of range", mend};
  return *value / unit->divisor;
}

/// The shortest digits that read back to `value` x 10^-power.
std::string shortest(double value, int power) {
  if (!std::isfinite(value)) return "nan";  // nothing reads that back; check_machine refuses it, too
  if (value < 0) return "-" + shortest(-value, power);
  std::array<char, 40> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string text(buffer.data(), end.ptr);
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, 1) + (e > 2 ? text.substr(2, e - 2) : "");
  int point = std::stoi(text.substr(e + 1)) - power + 1;  // the point stands behind that many digits
  if (value == 0) return "0";
  if (point < -8 || point > 18) {
    const std::string fraction = digits.substr(1);
    return digits.substr(0, 1) + (fraction.empty() ? "" : "." + fraction) + "e" + std::to_string(point - 1);
  }
  if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  const auto whole = static_cast<std::size_t>(point);
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string pattern(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : "|") + std::string(unit.name);
  return R"(^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *()" + names + ")$";
}

}  // namespace

Reading<Bytes> parse_bytes(const std::string& text) {
  return parse_binary(text, byte_units, "a size", bytes_mend);
}

Reading<Bytes> parse_size(const std::string& text) {
  return parse_binary(text, size_units, "a size", size_mend);
}

Reading<BytesPerSecond> parse_rate(const std::string& text) {
  const Reading<double> value = parse_decimal(text, rate_units, "a rate", rate_mend);
  if (!value) return value.complaint;
  return BytesPerSecond(*value.value);
}

Reading<Seconds> parse_time(const std::string& text) {
  const Reading<double> value = parse_decimal(text, time_units, "a time", time_mend);
  if (!value) return value.complaint;
  return Seconds(*value.value);
}

Reading<double> parse_number(const std::string& text) {
  constexpr std::array<Unit, 1> none{{{"", 0}}};
  return parse_decimal(text, none, "a number", "write a number without a unit, such as `1e-4`");
}

Reading<int> parse_integer(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Complaint{"not a whole number", "write a whole number without a unit, such as `2`"};
  }
  return value;
}

Bytes read_size(const std::string& text, const std::string& where) {
  const Reading<Bytes> size = parse_size(text);
  if (size) return *size.value;
  throw Error(ErrorKind::usage, "`" + printable(text) + "` is not a size: " + size.complaint.text, where,
              size.complaint.mend);
}

std::string format_bytes(Bytes size) {
  const std::uint64_t size_bytes = size.value();
  const Unit* best = &byte_units.front();
  for (const Unit& unit : byte_units) {
    if (size_bytes != 0 && (size_bytes & ((std::uint64_t{1} << unit.power) - 1)) == 0) best = &unit;
  }
  return std::to_string(size_bytes >> best->power) + " " + std::string(best->name);
}

std::string format_rate(BytesPerSecond rate) { return shortest(rate.value(), 9) + " GB/s"; }

std::string format_time(Seconds time) {
  const double time_seconds = time.value();
  const Unit* best = &time_units.front();
  for (const Unit& unit : time_units) {
    if (time_seconds >= std::pow(10.0, unit.power)) best = &unit;
  }
  return shortest(time_seconds, best->power) + " " + std::string(best->name);
}

std::string format_number(double value) { return shortest(value, 0); }

std::string bytes_pattern() { return pattern(byte_units); }
std::string rate_pattern() { return pattern(rate_units); }
std::string time_pattern() { return pattern(time_units); }

}  // namespace lanecast
