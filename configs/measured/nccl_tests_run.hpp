#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/measured/measured_reading.hpp"
#include "configs/nccl_log_messages.hpp"
#include "model/measured/measurement.hpp"

namespace lanecast {

/// A rank as nccl-tests lists it.
struct NcclTestsRank {
  int device = 0;
  std::string host;
  std::string bus_id;
  std::string model;
};

/// What stands around the table of one run of nccl-tests. Absent: not said.
class NcclTestsRun {
 public:
  NcclTestsRun(const std::string& name, int line) : log_(name, NcclLogLimits{}), line_(line) {}

  /// A line without its launcher's prefix. @return  whether it says something about the run
  bool take(std::string_view line);
  void take_nccl(std::string_view message, int line) { log_.take_line(message, line); }

  /// Whether a line begins a run, given what this one has said so far.
  bool begins_another(std::string_view line, bool has_rows) const;

  // What nccl-tests' JSON states as well
  void set_library(int code);  // 22809
  void set_test(const std::string& name);
  void set_sizes(Bytes max_bytes, int iterations, std::optional<int> graph);
  void set_together(int operations) { together_ = operations; }  // of a group (-m)
  void set_own_ranks(int ranks) { own_ranks_ = ranks; }          // of one process
  void add_rank(int rank, NcclTestsRank listed);
  void set_variable(const std::string& name, const std::string& value) { typed_[name] = value; }

  /// A call with all that is the same in all rows. Notes what is not modelled.
  MeasuredCall call(MeasuredReading& reading) &&;

  const std::string& test() const { return test_; }  // "all_reduce"; empty: not said
  std::optional<Bytes> max_bytes() const { return max_bytes_; }
  std::optional<double> factor() const { return factor_; }
  bool on_several_hosts() const;
  int line() const { return line_; }

 private:
  bool take_head(std::string_view line);     // "# nThread 1 nGpus 2 ..."
  bool take_rank(std::string_view line);     // "#  Rank  0 Group  0 Pid ..."
  bool take_command(std::string_view line);  // "NCCL_PROTO=LL all_reduce_perf -b 8 ..."
  void take_option(std::string_view flag, std::string_view value);
  void put_ranks(MeasuredCall& measured, const NcclLog& log);
  void put_transport(MeasuredCall& measured, const NcclLog& log, MeasuredReading& reading);

  NcclLogMessages log_;
  int line_ = 0;
  std::string test_;
  std::optional<int> minor_;  // of the library that ran
  std::map<int, NcclTestsRank> ranks_;
  std::map<std::string, std::string> typed_;  // variables on a command line
  std::vector<int> visible_;                  // CUDA_VISIBLE_DEVICES
  bool head_ = false;
  bool command_ = false;
  bool version_ = false;
  std::optional<int> own_ranks_;  // of one process: threads x GPUs
  std::optional<Bytes> max_bytes_;
  std::optional<double> factor_;
  std::optional<int> iterations_;
  std::optional<int> graph_;  // replays; 0: stream
  int together_ = 1;          // operations in a group (-m)
};

}  // namespace lanecast
