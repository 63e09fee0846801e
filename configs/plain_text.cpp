#include "configs/plain_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& mend) {
  throw Error(ErrorKind::usage, what, where, mend);
}

}  // namespace

std::string mend_for_start(std::string_view start, const std::string& command) {
  const auto begins = [&](std::string_view magic) { return start.substr(0, magic.size()) == magic; };
  if (begins("\x1f\x8b")) return "unpack it first: `gzip -dc FILE | " + command + "`";
  if (begins("\x28\xb5\x2f\xfd")) return "unpack it first: `zstd -dc FILE | " + command + "`";
  if (begins("\xfd"
             "7zXZ"))
    return "unpack it first: `xz -dc FILE | " + command + "`";
  if (begins("\xff\xfe") || begins("\xfe\xff"))
    return "it is UTF-16: `iconv -f UTF-16 -t UTF-8 FILE | " + command + "`";
  return "";
}

void expect_plain_text(std::string_view text, const std::string& name, const std::string& command) {
  const std::string mend = mend_for_start(text.substr(0, 8), command);
  if (!mend.empty()) refuse("`" + name + "` is no plain text", name, mend);
  const std::size_t zero = text.find('\0');
  if (zero == std::string_view::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
  refuse("a zero byte: this is no text", name + ":" + std::to_string(line),
         "give plain text, as the command printed it");
}

std::string read_plain_text(const std::string& path, std::uint64_t most_bytes, const std::string& command) {
  const std::string name = path == "-" ? "standard input" : printable(path);
  std::ifstream file;
  if (path != "-") {
    errno = 0;
    file.open(path, std::ios::binary);
    if (!file) {
      const std::string reason = errno != 0 ? std::strerror(errno) : "it cannot be opened";
      refuse("cannot read `" + name + "`: " + reason, name, "give a file that exists and that you may read");
    }
  }
  std::istream& stream = path == "-" ? std::cin : file;
  std::string text;
  std::array<char, 65536> block{};
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0) {  // devices and pipes have no size
    const auto count = static_cast<std::size_t>(stream.gcount());
    if (text.empty()) expect_plain_text({block.data(), count}, name, command);
    text.append(block.data(), count);
    if (text.size() > most_bytes) {
      refuse("`" + name + "` is larger than " + std::to_string(most_bytes >> 20) + " MiB", name,
             "leave out what is not needed");
    }
  }
  if (stream.bad()) refuse("cannot read `" + name + "`", name, "give a text file, not a folder");
  expect_plain_text(text, name, command);
  if (std::string_view(text).substr(0, utf8_mark.size()) == utf8_mark) text.erase(0, utf8_mark.size());
  return text;
}

}  // namespace lanecast
