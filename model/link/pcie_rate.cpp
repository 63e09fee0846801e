#include "model/link/pcie_rate.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace lanecast {
namespace {

/// Line rate of one lane and the share of it that carries bytes, by generation.
struct LineCode {
  double transfers_per_second;
  double efficiency;
};

constexpr std::array<LineCode, 6> line_codes{{
    {2.5e9, 8.0 / 10.0},
    {5e9, 8.0 / 10.0},
    {8e9, 128.0 / 130.0},
    {16e9, 128.0 / 130.0},
    {32e9, 128.0 / 130.0},
    {64e9, 242.0 / 256.0},
}};

constexpr double bits_per_byte = 8.0;

}  // namespace

std::string to_string(PcieRate rate) { return "gen" + std::to_string(static_cast<int>(rate)); }

std::optional<PcieRate> pcie_rate_from_string(const std::string& text) {
  if (text.size() != 4) return std::nullopt;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const int generation = lower[3] - '0';
  if (lower.compare(0, 3, "gen") != 0 || generation < 1 || generation > 6) return std::nullopt;
  return static_cast<PcieRate>(generation);
}

bool is_pcie_width(int width) {
  constexpr std::array<int, 6> widths{1, 2, 4, 8, 12, 16};
  return std::find(widths.begin(), widths.end(), width) != widths.end();
}

BytesPerSecond pcie_raw_rate(PcieRate rate, int width) {
  const LineCode& code = line_codes.at(static_cast<std::size_t>(rate) - 1);
  return BytesPerSecond(code.transfers_per_second * code.efficiency * width / bits_per_byte);
}

}  // namespace lanecast
