#pragma once
#include <string>
#include <vector>

#include "configs/measured/data_row.hpp"

namespace lanecast {

/// Timed calls from a row with the keys of docs/measured-data.md: out of place and in place in one row are
/// two. Their sweep is not set.
///
/// Problems go to `reading`; then, or where the results were wrong, there may be no call.
std::vector<MeasuredCall> calls_of_row(const DataRow& row, MeasuredReading& reading);

/// A rate from a row with the keys of `measure`'s micro-benchmarks.
void add_rate_of_row(const DataRow& row, MeasuredReading& reading);

/// Keys that rows of calls, and of rates, may have. NCCL_... is allowed besides.
const std::vector<std::string>& call_keys();
const std::vector<std::string>& rate_keys();

/// What nccl-tests touches in one timing: it rotates over a buffer of the largest size, and out of place has
/// two.
Bytes rotating_working_set(Bytes size, int iterations, Bytes max_bytes, bool in_place);

}  // namespace lanecast
