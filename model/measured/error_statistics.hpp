#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/protocol/protocol.hpp"
#include "model/units.hpp"

namespace lanecast {

/// One predicted call that was measured.
struct ErrorSample {
  std::optional<Protocol> protocol;  // absent: neither side says
  std::string transport;             // "p2p", "shm", "mixed"; empty: neither side says
  Bytes size{0};
  double error = 0;            // predicted / measured - 1
  std::optional<bool> within;  // whether the measured time is in the prediction's band; absent: no band
};

/// What some errors say together. Without any sample all numbers are nan.
struct ErrorSummary {
  std::size_t n = 0;
  double median_abs_error = std::numeric_limits<double>::quiet_NaN();
  double p95_abs_error = std::numeric_limits<double>::quiet_NaN();
  double max_abs_error = std::numeric_limits<double>::quiet_NaN();
  double median_error = std::numeric_limits<double>::quiet_NaN();  // with its sign: a bias
  std::optional<double> coverage;  // share of samples with a band that lie in it; absent: none has a band
};

/// Middle of some numbers; of an even count, the mean of the middle two.
/// @param values  at least one, in any order
double median_of(std::vector<double> values);

/// The smallest of the values that at least `share` of them do not exceed (nearest rank).
/// @param values  at least one, in any order
/// @param share   above 0, up to 1
double quantile_of(std::vector<double> values, double share);

ErrorSummary summarize(const std::vector<ErrorSample>& samples);

/// Sizes in which calls behave alike: latency rules below 64 KiB, bandwidth above 4 MiB.
struct SizeBand {
  Bytes from{0};
  std::optional<Bytes> to;  // included; absent: no end
  const char* name = "";    // "<64K", "64K-4M", ">4M"
};

/// The bands, rising; together they hold every size once.
const std::vector<SizeBand>& size_bands();

const SizeBand& size_band_of(Bytes size);

/// Samples of one protocol and transport.
struct ErrorGroup {
  std::optional<Protocol> protocol;
  std::string transport;
  ErrorSummary summary;
  struct Band {
    SizeBand band;
    ErrorSummary summary;
  };
  std::vector<Band> bands;  // those with samples, rising
};

/// By protocol, then transport; samples of which neither side says them come last.
std::vector<ErrorGroup> error_groups(const std::vector<ErrorSample>& samples);

/// "simple p2p", "ll any transport", "any protocol shm", as messages and tables name a group.
std::string group_name(const std::optional<Protocol>& protocol, const std::string& transport);

}  // namespace lanecast
