#pragma once
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/observation.hpp"
#include "model/measured/comparison.hpp"
#include "model/measured/measurement.hpp"
#include "model/profile/fit_record.hpp"
#include "model/topology/machine.hpp"
#include "sim/evaluator.hpp"

namespace lanecast {

/// Measured data in the terms of a fit.
///
/// Calls, pairwise tables of copies, and those micro-benchmarks that measure a parameter by itself become
/// observations; everything else is counted in `left_out` with the reason.
class CalibrationProblem {
 public:
  /// @param machine         that the data were measured on
  /// @param implementation  whose calls count; empty: the data's own, NCCL where they don't say
  CalibrationProblem(Machine machine, std::string implementation, std::uint64_t seed);

  /// @param smallest  calls of less are left out: they take as long as calls of that size
  void add(const MeasuredData& data, Bytes smallest);

  /// "nccl" or "lanecast", once calls were added; "nccl" for copies alone.
  std::string part() const { return library_.empty() ? "nccl" : library_; }

  const Machine& machine() const { return machines_.front(); }

  /// Observations that came from a file of this name.
  int rows_of(const std::string& file) const;

  const FitData& data() const { return data_; }
  Evaluate evaluate() const;
  const CalibratedRange& range() const { return range_; }

  /// Largest difference between the fit's evaluator and SimGrid on so many of the calls, spread over all; a
  /// share. Nothing where there are no calls.
  std::optional<double> difference_to_simgrid(const Profile& profile, std::size_t calls) const;

  /// [observation]: protocol and transport of a call; copies and micro-benchmarks have none.
  struct About {
    std::optional<ErrorSample> call;  // protocol, transport, size; no error yet
    CallKeys keys;                    // for --holdout
    Launch launch = Launch::graph;
    std::string where;
  };
  const std::vector<About>& about() const { return about_; }

  std::vector<LeftOutRows> left_out;
  std::vector<Warning> warnings;

 private:
  void add_call(const MeasuredCall& measured, Bytes smallest);
  void add_matrix(const MeasuredMatrix& matrix);
  void add_rate(const MeasuredRate& rate);
  bool takes(const Implementation& implementation, const MeasuredCall& measured);
  void widen_range(const ResolvedCall& resolved);
  void observe(std::size_t call, Seconds time, const std::string& configuration, const std::string& kind,
               About about, int session = 0, bool first = false);
  bool is_of_another_library(const MeasuredCall& measured) const;
  std::size_t call_number(const std::string& identity, const Implementation& implementation,
                          const Call& call);
  const Machine& without_peer_access();
  int session_number(int session);

  std::list<Machine> machines_;  // the machine, and it without peer access once that is asked for
  std::string implementation_;
  std::string library_;
  Evaluator evaluator_;
  FitData data_;
  CalibratedRange range_;
  std::vector<About> about_;
  std::vector<std::pair<std::size_t, ResolvedCall>> resolved_;  // calls, by number
  std::map<std::size_t, std::size_t> call_index_;               // call -> in `resolved_`
  std::map<std::string, std::size_t> calls_;
  std::map<std::string, std::size_t> configurations_;
  std::map<std::string, std::size_t> kinds_;
  std::map<int, int> sessions_;
  std::map<std::string, Implementation> implementations_;  // by name and environment
};

}  // namespace lanecast
