#include "cli/sweep_sizes.hpp"

#include <charconv>
#include <cmath>

#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kLargestSize = std::uint64_t{1}
                                       << 50;  // whole in a double, far beyond any GPU's memory

std::uint64_t read_bound(const std::string& text, const std::string& flag) {
  const Bytes size = read_size(text, flag + " " + printable(text));
  if (size.value() <= kLargestSize) return size.value();
  throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag, "take at most 1024T");
}

double read_factor(const std::string& text) {
  double factor = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, factor);
  if (error == std::errc() && stop == end && std::isfinite(factor) && factor > 1) return factor;
  throw Error(ErrorKind::usage, "`-f` is `" + printable(text) + "`: sizes would not grow", "-f",
              "take a number above 1, such as 2 or 1.5");
}

[[noreturn]] void refuse_points(const std::string& flag) {
  throw Error(ErrorKind::usage, "the sweep has more than " + std::to_string(max_sweep_points) + " sizes",
              flag, "take a larger " + flag + ", or move -b and -e together");
}

/// Keeps sizes above zero and strictly rising.
void add_if_larger(std::vector<Bytes>& sizes, std::uint64_t size_bytes) {
  if (size_bytes > (sizes.empty() ? 0 : sizes.back().value())) sizes.emplace_back(size_bytes);
}

std::vector<Bytes> by_factor(std::uint64_t begin, std::uint64_t end, double factor) {
  if (begin == 0) {
    throw Error(ErrorKind::usage, "`-b` is 0: no factor makes it grow", "-b",
                "begin at 1 or more, or sweep by -i");
  }
  const double ratio = static_cast<double>(end) / static_cast<double>(begin);
  if (std::log(ratio) / std::log(factor) >= max_sweep_points) refuse_points("-f");
  std::vector<Bytes> sizes;
  for (int i = 0;; ++i) {
    const double size = std::floor(static_cast<double>(begin) * std::pow(factor, i));
    if (size > static_cast<double>(end)) break;
    add_if_larger(sizes, static_cast<std::uint64_t>(size));
  }
  return sizes;
}

std::vector<Bytes> by_step(std::uint64_t begin, std::uint64_t end, std::uint64_t step) {
  if (step == 0)
    throw Error(ErrorKind::usage, "`-i` is 0: sizes would not grow", "-i", "take a size above 0");
  if ((end - begin) / step >= max_sweep_points) refuse_points("-i");
  std::vector<Bytes> sizes;
  for (std::uint64_t size = begin; size <= end; size += step) sizes.emplace_back(size);
  return sizes;
}

}  // namespace

std::vector<Bytes> sweep_sizes(const SweepOptions& options) {
  const std::uint64_t begin = read_bound(options.begin, "-b");
  const std::uint64_t end = read_bound(options.end, "-e");
  if (begin > end) {
    throw Error(ErrorKind::usage,
                "the sweep begins at " + printable(options.begin) + " and ends at " + printable(options.end),
                "-b, -e", "begin at or below the end");
  }
  if (options.step.empty()) return by_factor(begin, end, read_factor(options.factor));
  return by_step(begin, end, read_bound(options.step, "-i"));
}

std::vector<Bytes> rounded_sizes(const std::vector<Bytes>& sizes, std::uint64_t grain) {
  std::vector<Bytes> rounded;
  for (const Bytes size : sizes) {
    add_if_larger(rounded, size.value() / grain * grain);
  }
  return rounded;
}

}  // namespace lanecast
