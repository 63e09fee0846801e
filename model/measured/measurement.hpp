#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/predict/call.hpp"
#include "model/predict/prediction.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Which of the members of a Call that are never absent the file states; the others hold their defaults.
struct StatedMembers {
  bool collective = false;
  bool datatype = false;
  bool op = false;
  bool launch = false;
  bool iterations = false;
  bool registration = false;
  bool session = false;  // of the measured call
};

/// One timed collective call, as a file states it. What the file leaves open is absent in `call`.
struct MeasuredCall {
  Call call;
  StatedMembers stated;
  int ranks = 0;            // that took part; 0: not said
  bool shared_gpu = false;  // several ranks on one GPU: no link lies between them
  Seconds time{0};
  std::optional<Seconds> time_min;
  std::optional<Seconds> time_p99;
  std::string implementation;                      // "nccl-2.28", "nccl", "lanecast"; empty: not said
  std::map<std::string, std::string> environment;  // NCCL variables that the file states
  std::string staging;                             // lanecast over host memory: "sm", "ce"; empty: not said
  int session = 1;                                 // tells machines, or days, apart
  int sweep = 0;                       // rows of one sweep: one configuration measured over sizes in one go
  bool first_of_sweep = false;         // the first that ran, often cold
  std::optional<std::uint64_t> wrong;  // elements; absent: not checked
  std::string where;                   // "run.log:17"
};

/// One pairwise table of p2pBandwidthLatencyTest or nvbandwidth.
struct MeasuredMatrix {
  std::string name;    // as the tool names it: "device_to_device_memcpy_read_ce"
  std::string kind;    // "p2p", "bidir", "h2d", "d2h", "latency": as `lanecast matrix`
  std::string engine;  // "ce", "sm"
  bool peer_access = true;
  std::string unit;                                      // "GB/s", "us"
  std::vector<std::vector<std::optional<double>>> rows;  // source x destination; h2d and d2h have one row
  std::string where;
};

/// One micro-benchmark of `measure --suite`, or one row of a table of rates.
struct MeasuredRate {
  std::string name;    // of docs/micro-benchmarks.md
  std::string source;  // "gpu0", "host"
  std::string destination;
  int threads = 0;  // 0: not a kernel, or not said
  int blocks = 0;
  std::uint64_t size_bytes = 0;
  std::optional<double> GBps;
  std::optional<double> us;
  std::string where;
};

/// Everything that some files of measurements say.
struct MeasuredData {
  std::vector<MeasuredCall> calls;
  std::vector<MeasuredMatrix> matrices;
  std::vector<MeasuredRate> rates;
  std::vector<std::string> gpu_models;  // of the machine, where a file names them
  std::vector<Warning> warnings;        // what was passed over, and why
};

}  // namespace lanecast
