// Any text is measured data or an Error. What is taken is within bounds, and knows where it comes from.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "configs/measured/read_measured.hpp"
#include "model/error.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_call(const lanecast::MeasuredCall& measured) {
  check(std::isfinite(measured.time.value()) && measured.time.value() > 0);
  check(measured.call.size.value() > 0 && measured.call.size.value() <= std::uint64_t{1} << 50);
  check(measured.call.iterations > 0 && measured.ranks >= 0 && measured.session > 0 && measured.sweep >= 0);
  check(measured.wrong.value_or(0) == 0 && !measured.where.empty());
  for (const auto& [name, value] : measured.environment) check(!name.empty());
}

void check_matrix(const lanecast::MeasuredMatrix& matrix) {
  const bool host = matrix.kind == "h2d" || matrix.kind == "d2h";
  check(!matrix.rows.empty() && !matrix.rows.front().empty());
  check(host ? matrix.rows.size() == 1 : matrix.rows.size() == matrix.rows.front().size());
  for (const auto& row : matrix.rows) {
    check(row.size() == matrix.rows.front().size());
    for (const auto& cell : row) check(!cell || (std::isfinite(*cell) && *cell > 0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    lanecast::MeasuredData measured = lanecast::read_measured(text, "fuzz");
    check(!measured.calls.empty() || !measured.matrices.empty() || !measured.rates.empty());
    for (const lanecast::MeasuredCall& call : measured.calls) check_call(call);
    for (const lanecast::MeasuredMatrix& matrix : measured.matrices) check_matrix(matrix);
    for (const lanecast::MeasuredRate& rate : measured.rates) {
      check((rate.GBps || rate.us) && rate.GBps.value_or(1) > 0 && rate.us.value_or(1) > 0);
    }
    lanecast::MeasuredDefaults defaults;
    defaults.protocol = lanecast::Protocol::ll;
    defaults.channels = 4;
    lanecast::apply(defaults, measured);
    lanecast::merge_measured({measured, measured});
  } catch (const lanecast::Error& error) {
    check(error.kind() == lanecast::ErrorKind::usage);
  }
  return 0;
}
