#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/units.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What the rows and columns of a copy matrix stand for. With `host` at one end there is one row, a column a
/// GPU.
enum class MatrixEnds { gpu_to_gpu, host_to_gpu, gpu_to_host };

/// The pairwise table of p2pBandwidthLatencyTest or nvbandwidth, predicted.
struct MatrixReport {
  RunInfo run;
  std::string machine;
  std::string profile;
  std::string kind;    // "p2p", "bidir", "h2d", "d2h", "latency"
  std::string engine;  // "ce", "sm"
  std::string unit;    // "GB/s", "us"
  MatrixEnds ends = MatrixEnds::gpu_to_gpu;
  std::vector<int> gpus;                                 // labels of rows and columns
  std::vector<std::vector<std::optional<double>>> rows;  // row source, column destination, in `unit`
  std::vector<Warning> warnings;
};

/// One of several copies that run at the same time. An absent end is host memory.
struct FlowRate {
  std::optional<int> source;
  std::optional<int> destination;
  BytesPerSecond rate{0};
  std::string bottleneck;  // empty: no link is full
};

struct FlowsReport {
  RunInfo run;
  std::string machine;
  std::string profile;
  std::string engine;
  std::vector<FlowRate> flows;
  std::vector<Warning> warnings;
};

/// The document in a format. CSV is tidy: one line a pair of ends.
std::string matrix_text(const MatrixReport& report, Format format);
std::string flows_text(const FlowsReport& report, Format format);

}  // namespace lanecast
