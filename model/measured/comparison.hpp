#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/measured/call_keys.hpp"
#include "model/measured/error_statistics.hpp"

namespace lanecast {

/// A measured call beside its prediction.
struct ComparedRow {
  MeasuredCall measured;
  PredictedCall predicted;
  std::optional<Seconds> nccl_model;  // NCCL's own estimate of the same call; absent: not asked for, or none

  double error() const { return predicted.time / measured.time - 1; }
  /// Absent where the prediction has no band.
  std::optional<bool> within() const;
  bool first_of_sweep() const { return measured.first_of_sweep || predicted.first_of_sweep; }
};

/// The reason of rows whose results were wrong.
inline constexpr const char* wrong_results = "wrong results";

/// What the measurement says of the call, and where it leaves something open, the prediction.
CallKeys keys_of(const ComparedRow& row);

ErrorSample sample_of(const ComparedRow& row);
std::vector<ErrorSample> samples_of(const std::vector<ComparedRow>& rows);

/// The same for NCCL's estimates; rows without one are left out.
std::vector<ErrorSample> nccl_samples_of(const std::vector<ComparedRow>& rows);

/// Measured rows that are not compared, for one reason.
struct LeftOutRows {
  std::string reason;  // "in place"
  std::size_t rows = 0;
  std::string where;       // the first of them
  bool asked_for = false;  // by an option; else a reader should know
};

/// Which measured rows count.
struct ComparisonOptions {
  bool in_place = false;    // those in place instead of those out of place
  bool first_rows = false;  // the first row of a sweep counts as the others do
  std::optional<Bytes> min_size;
  CallFilter only;
};

struct CallComparison {
  std::vector<ComparedRow> rows;
  std::vector<ComparedRow> first_rows;  // of sweeps, unless they count
  std::vector<LeftOutRows> left_out;
  std::vector<std::string> differences;  // in what rows differ although they are compared
};

/// Measured rows that the options ask for and whose results were right. Others are counted in `left_out`.
std::vector<MeasuredCall> selected_calls(const std::vector<MeasuredCall>& measured,
                                         const ComparisonOptions& options,
                                         std::vector<LeftOutRows>& left_out);

/// Gives each selected row its prediction.
///
/// They join where no key differs that both sides state: collective, datatype, operation, size, place, ranks,
/// algorithm, protocol, transport, channels, threads, chunk, buffer (of Simple), registration. Of several
/// predictions the one that agrees in the most keys counts; where that is more than one, none does. A row
/// that leaves open what a prediction was forced to is compared with it only if no other row states that, and
/// one of another launch only if neither side has its like. Predictions of one call (sessions of a second
/// measurement) are taken together by their median.
CallComparison compare_calls(const std::vector<MeasuredCall>& measured,
                             const std::vector<PredictedCall>& predicted, const ComparisonOptions& options);

/// The same for rows that have their predictions already.
/// @param left_out  what `selected_calls` left out
CallComparison arranged(std::vector<ComparedRow> rows, const ComparisonOptions& options,
                        std::vector<LeftOutRows> left_out);

/// Adds rows to those of the same reason.
void leave_out(std::vector<LeftOutRows>& left_out, const std::string& reason, const std::string& where,
               bool asked_for);

}  // namespace lanecast
