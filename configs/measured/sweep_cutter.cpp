#include "configs/measured/sweep_cutter.hpp"

#include <algorithm>
#include <string_view>

namespace lanecast {
namespace {

/// What differs from row to row of one sweep.
constexpr std::array<std::string_view, 18> kByRow{"size_bytes",       "size",          "count",
                                                  "in_place",         "time_us",       "time_us_out_of_place",
                                                  "time_us_in_place", "time_us_min",   "time_us_p99",
                                                  "algbw_GBps",       "busbw_GBps",    "wrong",
                                                  "samples",          "graph_replays", "working_set_bytes",
                                                  "limit_busbw_GBps", "note",          "first_wrong"};

/// What `measure` lets the engine choose by size.
constexpr std::array<std::string_view, 8> kResolved{"algorithm", "variant", "protocol",    "transport",
                                                    "channels",  "threads", "chunk_bytes", "buffsize_bytes"};

template <class Names>
bool among(const Names& names, std::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

std::string configuration_of(const DataRow& row) {
  const bool by_measure = row.has("ranks_as");
  std::string text;
  for (const DataCell& cell : row.cells) {
    if (among(kByRow, cell.key) || (by_measure && among(kResolved, cell.key))) continue;
    text += cell.key + '\n' + cell.text + '\n';
  }
  return text;
}

}  // namespace

bool SweepCutter::continues(const std::string& configuration, const std::vector<MeasuredCall>& calls) const {
  if (!open_ || configuration != configuration_) return false;
  if (calls.front().call.size != size_) return calls.front().call.size > size_;
  return std::none_of(calls.begin(), calls.end(),
                      [&](const MeasuredCall& call) { return seen_[call.call.in_place ? 1 : 0]; });
}

void SweepCutter::close() {
  if (sweeps_ > 0 && sizes_ == 1) ++single_;
}

void SweepCutter::place(const DataRow& row, std::vector<MeasuredCall>& calls) {
  if (calls.empty()) return;
  std::string configuration = configuration_of(row);
  const Bytes size = calls.front().call.size;
  if (!continues(configuration, calls)) {
    close();
    sweep_ = reading_.next_sweep();
    sizes_ = 0;
    ++sweeps_;
    first_size_ = size;
    configuration_ = std::move(configuration);
    open_ = true;
  }
  if (sizes_ == 0 || size != size_) {
    ++sizes_;
    seen_ = {};
  }
  size_ = size;
  line_ = row.at.line;
  for (MeasuredCall& call : calls) {
    call.sweep = sweep_;
    call.first_of_sweep = size == first_size_;
    seen_[call.call.in_place ? 1 : 0] = true;
  }
}

void SweepCutter::finish() {
  close();
  if (single_ == 0 || 2 * single_ < sweeps_) return;
  reading_.note(
      std::to_string(single_) + " of " + std::to_string(sweeps_) +
          " sweeps hold one size only, and the first row of a sweep counts as cold: keep the rows of "
          "one configuration together, with sizes that grow",
      line_);
}

}  // namespace lanecast
