#include "configs/measured/nccl_tests_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "configs/measured/call_row.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr double kPlainRate = 0.1;  // GB/s; smaller ones have too few digits to tell anything

std::optional<double> number(const std::string& text) {
  const Reading<double> value = parse_number(text);
  return value.value;
}

bool is_open(const std::string& text) { return text.empty() || text == "N/A"; }

/// Half of the last digit: 0.005 of "1.25", 0.5 of "1025"; a hundredth of what has an exponent.
double precision_of(const std::string& text, double value) {
  if (text.find_first_of("eE") != std::string::npos) return value * 0.05;
  const std::size_t point = text.find('.');
  const std::size_t digits = point == std::string::npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(digits));
}

/// nccl-tests' types that are not ours, by size: a sum of them takes as long.
std::optional<Datatype> datatype_of(const std::string& type) {
  if (type == "int8" || type == "char") return Datatype::uint8;
  if (type == "uint32") return Datatype::int32;
  if (type == "uint64") return Datatype::int64;
  return datatype_from_string(type);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

NcclTestsRow row_of_fields(const std::vector<std::string>& fields, const NcclTestsColumns& columns,
                           int line) {
  const auto field = [&](int at) {
    return at < 0 || at >= static_cast<int>(fields.size()) ? std::string()
                                                           : fields[static_cast<std::size_t>(at)];
  };
  NcclTestsRow row{
      line, field(0), field(columns.count), field(columns.type), field(columns.op), field(columns.root), {}};
  for (std::size_t i = 0; i < 2; ++i) {
    const NcclTestsColumns::Place& place = columns.places[i];
    row.places[i] = {field(place.time),  field(place.algbw), field(place.busbw),
                     field(place.wrong), field(place.min),   field(place.p99)};
  }
  return row;
}

double NcclTestsTable::unit_of(bool milliseconds) const {
  std::vector<double> ratios;
  for (const NcclTestsRow& row : rows_) {
    for (const NcclTestsCell& cell : row.places) {
      const auto time = number(cell.time), rate = number(cell.algbw), size = number(row.size);
      if (time && rate && size && *time > 0 && *rate >= kPlainRate)
        ratios.push_back(*size * 1e-3 / *time / *rate);
    }
  }
  if (ratios.empty()) return milliseconds ? 1000 : 1;
  return median(ratios) > 100 ? 1000 : 1;
}

/// What a row asks for. @return  false where it is not modelled
bool NcclTestsTable::put_question(const NcclTestsRow& row, MeasuredCall& call) {
  const Reading<Bytes> size = parse_size(row.size);
  if (!size || size.value->value() > std::uint64_t{1} << 50) {
    reading_.problem(row.line, "`" + printable(row.size) + "` is no size",
                     "give the row as nccl-tests printed it");
    return false;
  }
  call.call.size = *size.value;
  const auto datatype = datatype_of(row.type);
  if (!datatype) {
    reading_.leave_out("rows of type " + printable(row.type) + " are left out: it is not modelled", row.line);
    return false;
  }
  call.call.datatype = *datatype;
  call.stated.datatype = true;
  if (const auto op = reduce_op_from_string(row.op)) {
    call.call.op = *op;
    call.stated.op = true;
  }
  if (const auto root = number(row.root)) call.call.root = static_cast<int>(std::min(*root, 65535.0));
  const auto rank = static_cast<std::size_t>(call.call.root);
  if (rank < call.call.ranks.size()) call.call.root = call.call.ranks[rank];  // nccl-tests counts ranks
  if (!call.stated.collective) infer_collective(row, call);
  return true;
}

/// From operation, root and count: all-reduce counts the whole buffer, all-gather and reduce-scatter a block.
void NcclTestsTable::infer_collective(const NcclTestsRow& row, MeasuredCall& call) {
  const bool reduces = row.op != "none";
  const bool rooted = !row.root.empty() && row.root != "-1";
  if (rooted) {
    call.call.collective = reduces ? Collective::reduce : Collective::broadcast;
  } else if (!reduces) {
    call.call.collective = Collective::all_gather;
    reading_.note("the collective is not said; without an operation and a root it counts as all_gather",
                  row.line);
  } else {
    const double bytes = number(row.count).value_or(0) * element_bytes(call.call.datatype);
    const bool block = bytes > 0 && bytes * 1.5 < static_cast<double>(call.call.size.value());
    call.call.collective = block ? Collective::reduce_scatter : Collective::all_reduce;
  }
}

void NcclTestsTable::read_place(const NcclTestsRow& row, bool in_place, MeasuredCall call, double unit_us) {
  const NcclTestsCell& cell = row.places[in_place ? 1 : 0];
  if (is_open(cell.time)) return;
  const auto time = number(cell.time);
  if (!time || *time <= 0) {
    reading_.problem(row.line,
                     std::string(in_place ? "in place" : "out of place") + " the time is `" +
                         printable(cell.time) + "`, not a number above 0",
                     "leave the row out, or measure it again");
    return;
  }
  call.call.in_place = in_place;
  const auto wrong = number(cell.wrong);
  if (wrong && *wrong > 0) {
    reading_.leave_out("rows whose results were wrong are left out", row.line);
    return;
  }
  if (wrong) call.wrong = 0;
  call.time = Seconds(*time * unit_us * 1e-6);
  if (const auto least = number(cell.min); least && *least > 0)
    call.time_min = Seconds(*least * unit_us * 1e-6);
  if (const auto p99 = number(cell.p99); p99 && *p99 > 0) call.time_p99 = Seconds(*p99 * unit_us * 1e-6);
  Timed timed{row.line, call.call.size, *time * unit_us, precision_of(cell.time, *time) * unit_us, 0, 0, {}};
  timed.algbw = number(cell.algbw).value_or(0);
  timed.busbw = number(cell.busbw).value_or(0);
  timed.call = std::move(call);
  timed_.push_back(std::move(timed));
}

void NcclTestsTable::read_row(const NcclTestsRow& row, const MeasuredCall& base, double unit_us) {
  MeasuredCall call = base;
  call.where = reading_.at(row.line);
  if (!put_question(row, call)) return;
  if (call.call.size == Bytes(0)) {
    reading_.leave_out("rows of 0 B are left out", row.line);
    return;
  }
  for (const bool in_place : {false, true}) read_place(row, in_place, call, unit_us);
}

/// Whether the run as a whole is not taken.
bool NcclTestsTable::refuses(const NcclTestsRun& run, bool cpu_time, bool counts_wrong) {
  const int line = rows_.front().line;
  std::string reason;
  if (!run.test().empty() && !collective_from_string(run.test())) {
    reason = "runs of " + printable(run.test()) + " are left out: it is not modelled";
  } else if (cpu_time) {
    reason = "runs with CPU times (-C) are left out: they are not times of the collective";
  } else if (run.on_several_hosts()) {
    reason = "runs on several hosts are left out: they are not those of one machine";
  } else if (failed_line_ != 0 && !counts_wrong) {
    reason = "runs that end with FAILED are left out: results were wrong, and it is not said where";
  }
  if (reason.empty()) return false;
  reading_.leave_out(reason, failed_line_ != 0 ? failed_line_ : line);
  return true;
}

void NcclTestsTable::check_rates() {
  for (const Timed& timed : timed_) {
    if (timed.algbw < kPlainRate) continue;
    const double rate = static_cast<double>(timed.size.value()) * 1e-3 / timed.time_us;
    const double allowed = 0.0051 + timed.algbw * (0.01 + 1.1 * timed.precision_us / timed.time_us) +
                           (timed.algbw >= 100 ? 0.06 * timed.algbw / 10 : 0);
    if (std::abs(rate - timed.algbw) <= allowed) continue;
    reading_.problem(timed.line,
                     std::to_string(timed.size.value()) + " B in " + format_number(timed.time_us) +
                         " us are " + format_number(std::round(rate * 100) / 100) + " GB/s, but algbw says " +
                         format_number(timed.algbw),
                     "give the row as nccl-tests printed it: a column is missing, or two rows are mixed up");
  }
}

/// Sets sweeps; a table that begins again (-N) is another sweep.
void NcclTestsTable::check_order() {
  Bytes first{0}, before{0};
  int sweep = 0, line = 0;
  for (Timed& timed : timed_) {
    const bool again = timed.line != line && timed.size <= before;
    if (line == 0 || (again && timed.size == first)) {
      sweep = reading_.next_sweep();
      first = timed.size;
    } else if (again) {
      reading_.problem(timed.line,
                       std::to_string(timed.size.value()) + " B come behind " +
                           std::to_string(before.value()) + " B: sizes of a table grow",
                       "two runs are mixed up: give each with its header, or in its own file");
    }
    timed.call.sweep = sweep;
    timed.call.first_of_sweep = timed.size == first;
    before = timed.size;
    line = timed.line;
  }
}

/// The number of ranks that the ratio of busbw to algbw stands for.
void NcclTestsTable::check_ranks() {
  const Timed* best = nullptr;
  for (const Timed& timed : timed_) {
    if (best == nullptr || timed.busbw > best->busbw) best = &timed;
  }
  if (best == nullptr || best->algbw < 1) return;
  const Collective collective = best->call.call.collective;
  if (collective == Collective::broadcast || collective == Collective::reduce) return;
  const double ratio = best->busbw / best->algbw;
  const double share = collective == Collective::all_reduce ? ratio / 2 : ratio;  // (n - 1) / n
  const double doubt = 0.011 / best->algbw;
  const int stated = best->call.ranks;
  if (stated > 0) {
    const double expected = busbw_factor(collective, stated);
    if (std::abs(ratio - expected) <= doubt + 0.01) return;
    reading_.problem(best->line,
                     "busbw / algbw is " + format_number(std::round(ratio * 1000) / 1000) + ", but " +
                         to_string(collective) + " of " + std::to_string(stated) + " ranks has " +
                         format_number(std::round(expected * 1000) / 1000),
                     "the table is of another run than what stands around it");
    return;
  }
  const double ranks = 1 / (1 - share), ranks_doubt = ranks * ranks * doubt;
  if (share >= 1 || ranks < 1.5 || ranks > 1024 || ranks_doubt > 0.3) return;
  if (std::abs(ranks - std::round(ranks)) > std::max(0.1, ranks_doubt)) return;
  for (Timed& timed : timed_) timed.call.ranks = static_cast<int>(std::round(ranks));
}

void NcclTestsTable::check_end(const NcclTestsRun& run) {
  if (ended_ || !run.max_bytes() || !run.factor() || timed_.empty()) return;
  const double next = static_cast<double>(timed_.back().size.value()) * *run.factor();
  if (next > static_cast<double>(run.max_bytes()->value())) return;
  reading_.note("the table ends at " + format_bytes(timed_.back().size) + ", and the run was to go on to " +
                    format_bytes(*run.max_bytes()),
                timed_.back().line);
}

void NcclTestsTable::finish(NcclTestsRun run, bool milliseconds, bool cpu_time, bool counts_wrong) {
  if (rows_.empty() || refuses(run, cpu_time, counts_wrong)) return;
  const double unit_us = unit_of(milliseconds);
  const NcclTestsRun head = run;
  const MeasuredCall base = std::move(run).call(reading_);
  for (const NcclTestsRow& row : rows_) read_row(row, base, unit_us);
  check_rates();
  check_order();
  check_ranks();
  check_end(head);
  for (Timed& timed : timed_) {
    Call& call = timed.call.call;
    if (head.max_bytes() && timed.call.stated.iterations) {
      call.working_set = rotating_working_set(call.size, call.iterations, *head.max_bytes(), call.in_place);
    }
    reading_.data.calls.push_back(std::move(timed.call));
  }
}

}  // namespace lanecast
