#include "configs/nccl_log.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string_view>

#include "configs/nccl_log_messages.hpp"
#include "configs/plain_text.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr const char* kHowToLog = "run with NCCL_DEBUG=INFO and give what it prints";

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& mend) {
  throw Error(ErrorKind::usage, what, where, mend);
}

/// Where an escape sequence (colour, title) that begins at `at` ends.
std::size_t end_of_escape(const std::string& line, std::size_t at) {
  if (at + 1 >= line.size()) return line.size();
  const char kind = line[at + 1];
  if (kind == '[') {
    std::size_t end = at + 2;
    while (end < line.size() && (line[end] < 0x40 || line[end] > 0x7e)) ++end;
    return std::min(end + 1, line.size());
  }
  if (kind == ']') {
    const std::size_t end = line.find_first_of("\a\033", at + 2);
    if (end == std::string::npos) return line.size();
    return line[end] == '\a' ? end + 1 : std::min(end + 2, line.size());
  }
  return at + 2;
}

/// Without escape sequences and carriage returns.
std::string plain_text(const std::string& line) {
  if (line.find_first_of("\033\r") == std::string::npos) return line;
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\033') {
      at = end_of_escape(line, at);
      continue;
    }
    if (line[at] != '\r') text += line[at];
    ++at;
  }
  return text;
}

/// Cuts a stream into lines of bounded length and hands each to a parser.
class LineReader {
 public:
  LineReader(const std::string& name, const NcclLogLimits& limits, NcclLogMessages& messages)
      : name_(name), limits_(limits), messages_(messages) {}

  void take(std::string_view block) {
    while (!block.empty()) {
      const std::size_t end = block.find('\n');
      append(block.substr(0, end));
      if (end == std::string_view::npos) return;
      finish_line();
      block.remove_prefix(end + 1);
    }
  }

  void finish() {
    if (!line_.empty()) finish_line();
  }

 private:
  void append(std::string_view part) {
    if (part.find('\0') != std::string_view::npos) {
      refuse("a zero byte: this is no text", name_ + ":" + std::to_string(number_),
             "give the log as plain text");
    }
    const std::size_t room = limits_.line_bytes - std::min(limits_.line_bytes, line_.size());
    line_.append(part.substr(0, room));
  }
  void finish_line() {
    messages_.take_line(plain_text(line_), number_);
    line_.clear();
    ++number_;
  }

  const std::string& name_;
  const NcclLogLimits& limits_;
  NcclLogMessages& messages_;
  std::string line_;
  int number_ = 1;
};

}  // namespace

NcclLog read_nccl_log(std::istream& stream, const std::string& name, const NcclLogLimits& limits) {
  NcclLogMessages messages(name, limits);
  LineReader lines(name, limits, messages);
  std::array<char, 65536> block{};
  std::uint64_t bytes = 0;
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0) {
    const std::string_view part(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (bytes == 0) {
      const std::string mend = mend_for_start(part.substr(0, 8), "lanecast ... --nccl-log -");
      if (!mend.empty()) refuse("`" + name + "` is no plain text", name, mend);
    }
    bytes += part.size();
    if (bytes > limits.bytes) {
      refuse("`" + name + "` is larger than " + std::to_string(limits.bytes >> 20) + " MiB", name,
             "leave out what is not NCCL's: `grep NCCL FILE | lanecast ... --nccl-log -`");
    }
    lines.take(part);
  }
  if (stream.bad()) refuse("cannot read `" + name + "`", name, "give a text file, not a folder");
  lines.finish();
  if (bytes == 0) refuse("`" + name + "` is empty", name, kHowToLog);
  if (!messages.has_info()) refuse("no NCCL INFO line in `" + name + "`", name, kHowToLog);
  return std::move(messages).finish();
}

NcclLog read_nccl_log(const std::string& path) {
  if (path == "-") return read_nccl_log(std::cin, "standard input");
  const std::string name = printable(path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "it cannot be opened";
    refuse("cannot read `" + name + "`: " + reason, name, "give a file that exists and that you may read");
  }
  return read_nccl_log(file, name);
}

}  // namespace lanecast
