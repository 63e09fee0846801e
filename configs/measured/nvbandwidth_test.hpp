#pragma once
#include <string>

#include "configs/measured/matrix_rows.hpp"
#include "configs/measured/measured_reading.hpp"

namespace lanecast {

/// What a test of nvbandwidth measures, by its name.
struct NvbandwidthTest {
  enum class Kind {
    matrix,   // one of `lanecast matrix`
    flows,    // host copies with others at the same time: rates
    unknown,  // not read
  };
  Kind kind = Kind::unknown;
  std::string matrix;    // "p2p", "bidir", "h2d", "d2h", "latency"
  std::string engine;    // "ce", "sm"
  std::string rate;      // flows: "ce_duplex", "sm_to_host_all", ...
  bool to_host = false;  // flows: from the GPU, else to it
};

NvbandwidthTest nvbandwidth_test(const std::string& name);

/// Adds one table. What `description` says of direction and unit counts, since write tests have the source in
/// columns ("GPU(row) <- GPU(column)") and read tests in rows.
/// @param table    name, line and cells are set
/// @param version  of the tool, x 10; 0: not said. Before 0.8 the latency between GPUs was wrong.
void add_nvbandwidth_table(PrintedMatrix table, const std::string& description, int version,
                           MeasuredReading& reading);

/// 8 of "v0.8"; 0 for another text.
int nvbandwidth_version(const std::string& text);

}  // namespace lanecast
