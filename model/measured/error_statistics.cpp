#include "model/measured/error_statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace lanecast {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr double kTail = 0.95;

/// Order of groups: as protocols are numbered, what is not said last.
int rank_of(const std::optional<Protocol>& protocol) {
  return protocol ? static_cast<int>(*protocol) : std::numeric_limits<int>::max();
}

using GroupKey = std::pair<int, std::pair<bool, std::string>>;

GroupKey key_of(const ErrorSample& sample) {
  return {rank_of(sample.protocol), {sample.transport.empty(), sample.transport}};
}

}  // namespace

double median_of(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double quantile_of(std::vector<double> values, double share) {
  assert(!values.empty() && share > 0 && share <= 1);
  std::sort(values.begin(), values.end());
  constexpr double kRounding = 1e-9;  // 0.95 x 20 is 19, whatever its last bit
  const double rank = std::ceil(share * static_cast<double>(values.size()) - kRounding);
  const auto at = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(at, values.size() - 1)];
}

ErrorSummary summarize(const std::vector<ErrorSample>& samples) {
  ErrorSummary summary;
  summary.n = samples.size();
  if (samples.empty()) return summary;
  std::vector<double> errors;
  std::vector<double> sizes;
  std::size_t banded = 0;
  std::size_t within = 0;
  for (const ErrorSample& sample : samples) {
    errors.push_back(sample.error);
    sizes.push_back(std::abs(sample.error));
    if (sample.within) ++banded;
    if (sample.within.value_or(false)) ++within;
  }
  summary.median_abs_error = median_of(sizes);
  summary.p95_abs_error = quantile_of(sizes, kTail);
  summary.max_abs_error = *std::max_element(sizes.begin(), sizes.end());
  summary.median_error = median_of(errors);
  if (banded > 0) summary.coverage = static_cast<double>(within) / static_cast<double>(banded);
  return summary;
}

const std::vector<SizeBand>& size_bands() {
  static const std::vector<SizeBand> kBands{{Bytes(0), Bytes(64 * kKiB - 1), "<64K"},
                                            {Bytes(64 * kKiB), Bytes(4 * kMiB), "64K-4M"},
                                            {Bytes(4 * kMiB + 1), std::nullopt, ">4M"}};
  return kBands;
}

const SizeBand& size_band_of(Bytes size) {
  const std::vector<SizeBand>& bands = size_bands();
  return *std::find_if(bands.begin(), bands.end(),
                       [&](const SizeBand& band) { return !band.to || size <= *band.to; });
}

std::vector<ErrorGroup> error_groups(const std::vector<ErrorSample>& samples) {
  std::map<GroupKey, std::vector<ErrorSample>> sorted;
  for (const ErrorSample& sample : samples) sorted[key_of(sample)].push_back(sample);
  std::vector<ErrorGroup> groups;
  for (const auto& [key, members] : sorted) {
    ErrorGroup group{members.front().protocol, members.front().transport, summarize(members), {}};
    for (const SizeBand& band : size_bands()) {
      std::vector<ErrorSample> in_band;
      std::copy_if(members.begin(), members.end(), std::back_inserter(in_band),
                   [&](const ErrorSample& sample) { return size_band_of(sample.size).from == band.from; });
      if (!in_band.empty()) group.bands.push_back({band, summarize(in_band)});
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string group_name(const std::optional<Protocol>& protocol, const std::string& transport) {
  return (protocol ? to_string(*protocol) : std::string("any protocol")) + " " +
         (transport.empty() ? "any transport" : transport);
}

}  // namespace lanecast
