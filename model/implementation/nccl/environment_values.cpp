#include "model/implementation/nccl/environment_values.hpp"

#include <charconv>
#include <system_error>

namespace lanecast {
namespace {

constexpr int kWarp = 32;

/// The digits of a number in a base, without a sign.
std::from_chars_result read_magnitude(const char* begin, const char* end, std::uint64_t& magnitude,
                                      int& base) {
  base = begin != end && *begin == '0' ? 8 : 10;
  if (end - begin > 2 && base == 8 && (begin[1] == 'x' || begin[1] == 'X')) {
    const auto read = std::from_chars(begin + 2, end, magnitude, 16);
    base = 16;
    if (read.ptr != begin + 2) return read;
    base = 8;  // "0x" and no digit: strtoll reads the 0
  }
  return std::from_chars(begin, end, magnitude, base);
}

/// The number that a K, M or G (with B or iB, in any case) behind it asks for.
std::optional<std::int64_t> with_unit(const CInteger& number) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const std::size_t unit = std::string("KkMmGg").find(number.rest.front());
  const std::string tail = number.rest.substr(1);
  const bool bytes = tail.empty() || tail == "B" || tail == "b" || tail == "iB" || tail == "ib";
  if (unit == std::string::npos || !bytes || number.value <= 0 || number.value > kMost) return std::nullopt;
  return number.value << (10 * (unit / 2 + 1));
}

}  // namespace

CInteger read_c_integer(const std::string& text) {
  CInteger result;
  std::size_t at = 0;
  while (at < text.size() && is_blank(text[at])) ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const char* begin = text.data() + at;
  const char* end = text.data() + text.size();
  std::uint64_t magnitude = 0;
  int base = 10;
  const auto read = read_magnitude(begin, end, magnitude, base);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  result.digits = read.ec != std::errc::invalid_argument;
  result.octal = base == 8 && read.ptr - begin > 1;
  result.overflow = read.ec == std::errc::result_out_of_range || magnitude > kMost - (negative ? 0 : 1);
  result.rest = result.digits ? std::string(read.ptr, end) : text;
  if (result.digits && !result.overflow) {
    result.value = static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude);
  }
  return result;
}

std::optional<std::int64_t> read_integer(const std::string& text, NcclValueReport& report) {
  const CInteger number = read_c_integer(text);
  const std::string read = std::to_string(number.value);
  if (!number.digits) {
    report.problems.push_back({"not a number; NCCL would read 0", "write a whole number"});
  } else if (number.overflow) {
    report.problems.push_back(
        {"too large for 64 bits; NCCL would take its default", "write a smaller number"});
  } else if (!number.rest.empty()) {
    const auto meant = with_unit(number);
    report.problems.push_back({"NCCL would read " + read + " and pass over `" + number.rest + "`",
                               meant ? "write the plain number: " + std::to_string(*meant)
                                     : "write " + read + ", or the plain number that is meant"});
  } else {
    if (number.octal) report.remarks.push_back("NCCL reads it as octal for its leading 0: " + read);
    return number.value;
  }
  return std::nullopt;
}

std::optional<bool> read_flag(const std::string& text, NcclTruth truth, NcclValueReport& report) {
  const auto number = read_integer(text, report);
  if (!number || (*number < 0 && truth == NcclTruth::automatic)) return std::nullopt;
  if (truth == NcclTruth::one && *number != 0 && *number != 1) {
    report.remarks.push_back("NCCL heeds 1 only; it is as if it were not set");
    return std::nullopt;
  }
  return *number != 0;
}

std::optional<int> read_small_integer(const std::string& text, int low, int high,
                                      std::optional<int> otherwise, NcclValueReport& report) {
  const auto number = read_integer(text, report);
  if (!number) return std::nullopt;
  if ((*number < low || *number > high) && otherwise) {
    report.remarks.push_back("NCCL takes " + std::to_string(*otherwise));
    return otherwise;
  }
  if (*number < low || *number > high) {
    report.problems.push_back({"NCCL gives it no meaning",
                               "take a number from " + std::to_string(low) + " to " + std::to_string(high)});
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

std::optional<int> read_threads(const std::string& text, int low, int high, NcclValueReport& report) {
  const auto number = read_integer(text, report);
  if (!number) return std::nullopt;
  if (*number <= 0) {
    report.remarks.push_back("NCCL takes its default");
    return std::nullopt;
  }
  const bool warps = *number % kWarp == 0;
  if (warps && *number >= low && *number <= high) return static_cast<int>(*number);
  const int taken = warps && *number < low ? low : high;
  report.remarks.push_back("NCCL takes " + std::to_string(taken) + " (" +
                           (!warps          ? "no multiple of " + std::to_string(kWarp)
                            : taken == high ? "at most " + std::to_string(high)
                                            : "at least " + std::to_string(low)) +
                           ")");
  return taken;
}

std::optional<Bytes> read_buffer_size(const std::string& text, Protocol protocol, NcclValueReport& report) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const ProtocolTraits traits = protocol_traits(protocol);
  const auto line = static_cast<double>(traits.grain.value()) * traits.wire_per_payload;
  const auto least = static_cast<std::int64_t>(traits.fifo_steps * line);
  const auto number = read_integer(text, report);
  if (!number) return std::nullopt;
  if (*number < least || *number > kMost) {
    const std::string what = *number < least ? "too small for one line in each of its 8 steps"
                                             : "NCCL keeps it in 32 bits with a sign";
    report.problems.push_back({what, "give bytes from " + std::to_string(least) + " to " +
                                         std::to_string(kMost) + "; NCCL takes no unit such as K or M"});
    return std::nullopt;
  }
  return Bytes(static_cast<std::uint64_t>(*number));
}

std::optional<PathType> read_path_level(const std::string& text, NcclValueReport& report) {
  constexpr std::array<PathType, 6> kOld{PathType::loc, PathType::pix, PathType::pxb,
                                         PathType::phb, PathType::sys, PathType::sys};
  const auto named = path_type_from_string(text);
  if (named && *named <= PathType::sys) return named;
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const auto number = read_integer(text, report);
    if (!number) return std::nullopt;
    const auto last = static_cast<std::int64_t>(kOld.size()) - 1;
    if (*number > last) report.remarks.push_back("NCCL takes it for SYS");
    return kOld[static_cast<std::size_t>(std::min(*number, last))];
  }
  report.problems.push_back(
      {"NCCL knows no such level and passes over it", "take LOC, NVL, PIX, PXB, PHB or SYS, in upper case"});
  return std::nullopt;
}

NcclThreadThresholds read_thread_thresholds(const std::string& text, NcclValueReport& report) {
  constexpr std::array<Protocol, 3> kOrder{Protocol::ll, Protocol::ll128, Protocol::simple};
  NcclThreadThresholds thresholds;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip_blanks = [&] {
    while (at != end && is_blank(*at)) ++at;
  };
  skip_blanks();
  for (std::size_t count = 0; at != end && count < 2 * kOrder.size(); ++count) {
    std::int64_t number = 0;  // sscanf's %ld: always decimal
    const auto [stop, error] = std::from_chars(*at == '+' ? at + 1 : at, end, number);
    if (error != std::errc()) break;
    auto& side = count < kOrder.size() ? thresholds.tree : thresholds.ring;
    if (number >= 0) {
      side[static_cast<std::size_t>(kOrder[count % kOrder.size()])] =
          Bytes(static_cast<std::uint64_t>(number));
    }
    at = stop;
    skip_blanks();
  }
  if (at != end) {
    report.problems.push_back(
        {"NCCL stops reading at `" + std::string(at, end) + "`",
         "write up to six numbers with blanks between: LL, LL128 and Simple on trees, then on "
         "rings, such as `8 8 64 16 8 64`; -1 is NCCL's default"});
  }
  return thresholds;
}

}  // namespace lanecast
