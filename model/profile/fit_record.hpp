#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/predict/call.hpp"
#include "model/profile/parameter.hpp"
#include "model/protocol/protocol.hpp"
#include "model/units.hpp"

namespace lanecast {

enum class Param : std::size_t;

/// What data said of one parameter.
struct FittedParameter {
  Param parameter{};
  double value = 0;  // in the parameter's unit
  double low = 0;    // 95 % interval, in the parameter's unit
  double high = 0;
  bool determined = false;  // false: the data can't tell; the prior stays
  std::string note;         // "cannot be told apart from simple.overhead"; empty: nothing
};

/// How far measured times lie from fitted ones, for one kind of calls.
struct ResidualSpread {
  Protocol protocol = Protocol::simple;
  Transport transport = Transport::p2p;
  Launch launch = Launch::graph;
  Bytes from{0};  // sizes, both ends included
  Bytes to{0};
  double spread = 0;  // standard deviation of log(measured / predicted), robust; on calls that were held out
  int rows = 0;       // where `held_out`, else of the fit
  bool held_out = false;
};

/// What the data of a fit covered. A prediction outside widens its band and says so.
struct CalibratedRange {
  int ranks_from = 0;
  int ranks_to = 0;
  Bytes size_from{0};
  Bytes size_to{0};
  int channels_from = 0;
  int channels_to = 0;
  std::vector<std::string>
      kinds;  // "ring/simple/p2p-nvlink", "ring/ll/shm": algorithm, protocol, class of path
  std::vector<std::string> links;        // "gen5 x16", "nvlink": slowest PCIe link of a path, or NVLink
  std::vector<std::string> launches;     // "graph", "stream"
  std::vector<std::string> collectives;  // "all_reduce"
};

/// A source of data: a file, and what it was about.
struct FitSource {
  std::string file;     // name without folder
  std::string digest;   // digest of its bytes (64-bit FNV-1a)
  std::string machine;  // machine file that its calls were predicted on
  int rows = 0;         // that were used
};

/// Errors on calls that the fit did not see.
struct HoldoutError {
  std::string kind;  // "simple p2p", "all"; as in tables
  std::string how;   // "5 folds of configurations", "channels=2,8"
  int rows = 0;
  double median_abs_error = 0;  // shares
  double p95_abs_error = 0;
  double coverage = 0;  // share of measured times within the 90 % band
};

/// Where the numbers of a profile come from, and how far to trust them.
struct FitRecord {
  std::vector<FittedParameter> parameters;  // those that the calls of the data depend on
  std::vector<double> covariance;  // of coordinates (coordinate.hpp), parameters x parameters, by rows
  std::vector<ResidualSpread> spread;
  CalibratedRange range;
  std::vector<FitSource> sources;
  std::vector<HoldoutError> holdout;
  std::string date;     // "2026-11-30"
  std::string command;  // the line that repeats it
};

}  // namespace lanecast
