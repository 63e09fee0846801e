#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/measure_options.hpp"
#include "cli/session.hpp"
#include "reports/measure_report.hpp"
#include "reports/measure_table.hpp"

namespace lanecast {

/// What rank 0 keeps of a measurement: prints rows as they come, shows progress on a terminal, and writes the
/// documents at the end, also where the end is an error.
class MeasureRecord {
 public:
  /// @param rows  that are expected over all sessions, for the progress
  /// @throws Error  kind usage: files that are there already, folders that are not
  MeasureRecord(const MeasureOptions& options, const Session& session, std::uint64_t rows);

  MeasureReport& report() { return report_; }

  /// Whether anyone will read facts that take time to find out.
  bool wants_all_facts() const { return !options_.json.empty() || format_ == Format::json; }

  /// Prints the head of the table. Call it once `report` has its facts, before the rows.
  void begin();
  void add(const MeasuredRun& run);
  void add(const MicroRow& row);
  void left_out(const std::string& reason);

  /// What is being measured, on a terminal's last line.
  void progress(const std::string& what);

  /// Writes everything. Once.
  /// @param ended  why it is not complete; empty: it is
  void finish(const std::string& ended);

 private:
  void print(const std::string& text);
  void clear_progress();

  const MeasureOptions& options_;
  const Session& session_;
  std::uint64_t rows_;
  Format format_;
  bool streams_;   // a table to stdout, row by row
  bool terminal_;  // progress can be shown
  bool shown_ = false;
  MeasureReport report_;
  MeasureTable table_;
  void keep_line(const std::string& line);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> lines_{nullptr, &std::fclose};
};

}  // namespace lanecast
