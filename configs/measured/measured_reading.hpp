#pragma once
#include <map>
#include <string>
#include <vector>

#include "configs/problem_list.hpp"
#include "model/measured/measurement.hpp"

namespace lanecast {

/// What the reader of one file writes to: data, problems that stop it, and what was passed over.
class MeasuredReading {
 public:
  /// @param name  the file, as messages name it
  explicit MeasuredReading(std::string name) : name_(std::move(name)), problems_(name_) {}

  MeasuredData data;

  const std::string& name() const { return name_; }

  /// "run.log:17"; the name alone for line 0.
  std::string at(int line) const;

  /// The file cannot be used as it is. Throws once there are too many (ProblemList).
  void problem(const Position& at, const std::string& text, const std::string& mend,
               const std::string& path = "");
  void problem(int line, const std::string& text, const std::string& mend) {
    problem({line, line == 0 ? 0 : 1}, text, mend);
  }

  /// A row that is not taken (LC-DATA-01). Lines with the same reason are told together.
  void leave_out(const std::string& reason, int line) { left_out_[reason].push_back(line); }

  /// What was understood in one of several ways, or is not modelled (LC-DATA-02).
  void note(const std::string& text, int line) { noted_[text].push_back(line); }

  int next_sweep() { return sweeps_++; }

  /// All of it. @throws Error  kind usage, with all problems
  MeasuredData finish() &&;

 private:
  void add_warnings(const char* code, const std::map<std::string, std::vector<int>>& lines);

  std::string name_;
  ProblemList problems_;
  std::map<std::string, std::vector<int>> left_out_;
  std::map<std::string, std::vector<int>> noted_;
  int sweeps_ = 0;
};

}  // namespace lanecast
