#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// One line of a pasted text, without its end and without the marks of a quotation.
struct PastedLine {
  std::string_view text;
  int number = 1;
  bool whole = true;  // false: the text ends within it, or it is too long: its last word may be cut
};

/// Cuts a text into lines of at most 4096 bytes each; of longer ones the rest is left out.
class PastedLines {
 public:
  explicit PastedLines(std::string_view text) : rest_(text) {}
  std::optional<PastedLine> next();

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// Where a statement stands: "box.txt:41 (LnkSta)".
struct Place {
  const std::string& file;
  int line = 0;
  std::string with(std::string_view what) const;
};

/// Adds a value. Of one that keeps changing only the first 16 are kept, so that no text costs more than its
/// length.
template <class T>
void state(Statements<T>& statements, T value, const Place& place, std::string_view what) {
  constexpr std::size_t most = 16;
  for (const Statement<T>& each : statements.all()) {
    if (each.value == value) return;
  }
  if (statements.all().size() < most) statements.add(std::move(value), place.with(what));
}

/// The facts of a function. Nothing for a new one beyond 65536, which no machine has.
PciFacts* device_facts(MachineFacts& facts, const std::string& address);

/// Notes of one reading: each text once, at most 16.
class Notes {
 public:
  explicit Notes(MachineFacts& facts) : facts_(facts) {}
  void add(const std::string& text);

 private:
  MachineFacts& facts_;
  int added_ = 0;
};

/// Text of a dump as a fact: at most 160 bytes, what is no printable ASCII as `?`.
std::string plain_name(std::string_view text);

bool has(std::string_view text, std::string_view part);
bool is_digit(char c);
bool is_hex_digit(char c);

/// What follows the first `mark` of `text`; nothing where it has none.
std::optional<std::string_view> after(std::string_view text, std::string_view mark);

/// The decimal number that `text` begins with, at most 9 digits. Nothing where the digits touch the end of a
/// line that is not whole: more may have followed.
std::optional<int> leading_number(std::string_view text, bool whole);

/// The number that exactly `digits` hexadecimal digits at the begin of `text` write, with none following.
std::optional<std::uint32_t> leading_hex(std::string_view text, std::size_t digits);

}  // namespace lanecast
