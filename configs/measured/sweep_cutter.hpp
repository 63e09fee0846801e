#pragma once
#include <array>
#include <string>
#include <vector>

#include "configs/measured/data_row.hpp"

namespace lanecast {

/// Cuts rows of calls that follow each other into sweeps.
///
/// A sweep is one configuration over growing sizes: another configuration, a smaller size, or a size again
/// begins a new one. What `measure` resolved (protocol, channels ...) may change within a sweep of its rows.
class SweepCutter {
 public:
  explicit SweepCutter(MeasuredReading& reading) : reading_(reading) {}

  /// Sets sweep and `first_of_sweep` of one row's calls.
  void place(const DataRow& row, std::vector<MeasuredCall>& calls);

  /// The next row begins a sweep.
  void cut() { open_ = false; }

  /// Notes where sweeps are single rows: the first row of a sweep counts as cold.
  void finish();

 private:
  bool continues(const std::string& configuration, const std::vector<MeasuredCall>& calls) const;
  void close();

  MeasuredReading& reading_;
  bool open_ = false;
  std::string configuration_;
  Bytes size_{0};
  Bytes first_size_{0};
  std::array<bool, 2> seen_{};  // of this size: out of place, in place
  int sweep_ = 0;
  int sizes_ = 0;  // of this sweep
  int sweeps_ = 0;
  int single_ = 0;  // sweeps of one size
  int line_ = 0;
};

}  // namespace lanecast
