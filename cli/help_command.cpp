#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "cli/codes.hpp"
#include "cli/commands.hpp"
#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kTextWidth = 100;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The text in lines that fit a terminal.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::size_t column = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (column != 0 && column + 1 + word.size() > kTextWidth) {
      lines += "\n";
      column = 0;
    } else if (column != 0) {
      lines += " ";
      ++column;
    }
    lines += word;
    column += word.size();
    begin = end + 1;
  }
  return lines + "\n";
}

void list_codes() {
  for (const CodeEntry& entry : code_table()) {
    std::cout << entry.code << std::string(17 - entry.code.size(), ' ') << entry.title << "\n";
  }
}

void run_help(const std::string& asked) {
  if (asked.empty()) {
    list_codes();
    return;
  }
  std::vector<std::string> codes;
  for (const CodeEntry& entry : code_table()) {
    if (entry.code == upper(asked)) {
      std::cout << entry.code << ": " << entry.title << "\n\n"
                << wrapped(entry.text) << "\n"
                << wrapped("What to do: " + entry.mend);
      return;
    }
    codes.push_back(entry.code);
  }
  const std::string near = nearest(upper(asked), codes);
  throw Error(ErrorKind::usage, "there is no code `" + printable(asked) + "`", "",
              (near.empty() ? "" : "did you mean `" + near + "`? ") +
                  std::string("`lanecast help` lists the codes, `lanecast --help` the commands"));
}

}  // namespace

void add_help_command(CLI::App& app, Session& /*session*/) {
  CLI::App* command = app.add_subcommand("help", "explain a warning code, or list all of them");
  const auto code = std::make_shared<std::string>();
  command->add_option("CODE", *code, "such as LC-LINK-01");
  command->callback([code] { run_help(*code); });
}

}  // namespace lanecast
