#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/advice/doctor.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What `doctor` found in one machine.
struct DoctorReport {
  RunInfo run;
  std::string machine;
  std::string earlier;  // name of the dump it was compared with; empty: none
  std::string profile;
  std::string implementation;
  std::size_t ranks = 0;  // of the calls that costs are stated for
  std::vector<Finding> findings;
};

/// The document in a format. The table is for people: a block a finding, those that passed in a line each.
/// CSV has a row for each finding and size (one without size where no cost is stated).
std::string doctor_text(const DoctorReport& report, Format format);

}  // namespace lanecast
