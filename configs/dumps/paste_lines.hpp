#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lanecast {

/// The lines of a text that people paste, one after another, cleaned of what a way through a terminal, a mail
/// or a chat adds: escape sequences (also where the escape character itself got lost, "[4m"), other control
/// characters, no-break spaces, line ends of two characters, and the marks of quotations and comments (`>`,
/// `#`) with the blanks around them at the begin of a line. Tabs inside a line are kept.
class PasteLines {
 public:
  explicit PasteLines(std::string_view text) : rest_(text) {}

  /// Goes to the next line. False: there is none.
  bool next();

  const std::string& text() const { return text_; }
  int number() const { return number_; }  // from 1

  /// The text ends within this line: without a line end, its last word may be cut.
  bool unterminated() const { return unterminated_; }

 private:
  std::string_view rest_;
  std::string text_;
  int number_ = 0;
  bool unterminated_ = false;
};

/// Words between blanks and tabs, as parts of `line`; at most `most`, which bounds memory on lines without
/// end.
std::vector<std::string_view> words(std::string_view line, std::size_t most);

/// A decimal number of at most 9 digits and nothing else; -1 for any other text.
int small_number(std::string_view text);

}  // namespace lanecast
