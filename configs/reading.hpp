#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lanecast {

/// Why a text is not the value it should be. `text` completes "`mps` is `256`: ...".
struct Complaint {
  std::string text;
  std::string mend;
};

/// A value read from text, or why there is none. Exactly one of the two is set.
template <class T>
struct Reading {
  std::optional<T> value;
  Complaint complaint;

  Reading(T good) : value(std::move(good)) {}            // NOLINT: reads like `return value;`
  Reading(Complaint bad) : complaint(std::move(bad)) {}  // NOLINT
  explicit operator bool() const { return value.has_value(); }
};

/// Without blanks, line ends and zeros at both ends; a part of `text`.
std::string_view trimmed(std::string_view text);

/// Text as it may be printed in a message: at most 80 bytes, control characters shown as `\xNN`.
std::string printable(const std::string& text);

}  // namespace lanecast
