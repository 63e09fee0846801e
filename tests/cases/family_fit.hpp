#pragma once
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/fit.hpp"
#include "calibrate/observation.hpp"
#include "calibrate/validation.hpp"
#include "model/measured/error_statistics.hpp"
#include "model/topology/machine.hpp"
#include "sim/evaluator.hpp"
#include "tests/cases/all_reduce_comparison.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/copy_sets.hpp"
#include "tests/cases/published_cases.hpp"

namespace lanecast::cases {

/// An observation of a case, besides what a fit needs of it.
struct CaseObservation {
  std::string case_id;
  std::string machine;  // that it was predicted on
  std::string sweep;    // AllReduceCase::name(); of copies the table's title
  bool is_copy = false;
  Bytes size{0};  // from here of an all-reduce
  Protocol protocol = Protocol::simple;
  std::string transport;
};

/// Measurements of some cases in the terms of a fit: all-reduce rows, out of place, and copies.
///
/// Copies across sockets stay out: how fast a socket link is says nothing of a GPU, and the machines' files
/// assume it. Cells of a matrix whose copies are alike for the model (equal by the priors) are one
/// observation, their median. Where there are several machines, each case is a session of its own: the fit
/// allows it to be faster or slower than others as a whole.
class CaseProblem {
 public:
  /// @param ids  of cases; each must exist
  CaseProblem(const std::vector<PublishedCase>& cases, const std::vector<AllReduceSweep>& sweeps,
              const std::vector<std::string>& ids);
  CaseProblem(const CaseProblem&) = delete;
  CaseProblem& operator=(const CaseProblem&) = delete;

  const FitData& data() const { return data_; }
  const std::vector<CaseObservation>& about() const { return about_; }
  /// Payload of copies that plays no part in such GPUs' copies: the fit cannot tell it from the other one.
  std::vector<Param> held() const;
  const CalibratedRange& range() const { return range_; }
  Evaluate evaluate() const;

  /// Configurations of each case.
  std::vector<std::vector<std::size_t>> by_case() const;

  /// [observation] predicted / measured - 1.
  std::vector<double> errors(const Profile& profile) const;

 private:
  Machine& add_machine(const std::string& name, const std::vector<std::string>& sets);
  void add_sweep(const AllReduceSweep& sweep);
  void add_matrix(const CaseMachine& entry, std::size_t index, const PublishedMatrix& matrix);
  void add_copy_set(const PublishedCase& published, const CopySet& set);
  void observe(std::size_t call, Seconds time, const std::string& kind, CaseObservation about);
  void widen_range(const Machine& machine, const ResolvedCall& resolved);

  std::list<Machine> machines_;
  std::set<std::string> hosts_;  // names of the machines
  int session_ = 0;              // of the case that is being added
  Evaluator evaluator_;
  FitData data_;
  std::vector<CaseObservation> about_;
  CalibratedRange range_;
  std::map<std::string, std::size_t> calls_;
  std::map<std::string, std::size_t> configurations_;
  std::map<std::string, std::size_t> kinds_;
};

/// A fit to some cases, and what it says of each case when it did not see it.
struct CaseFit {
  FitResult fit;
  HeldOuts held;  // a case at a time; empty: there is but one
};

/// Errors of the observations that were held out and that count.
lanecast::ErrorSummary held_out_errors(const HeldOuts& held,
                                       const std::function<bool(std::size_t observation)>& counts);

CaseFit fit_cases(const CaseProblem& problem, bool hold_out_cases);

}  // namespace lanecast::cases
