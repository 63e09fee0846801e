#include "cli/measure_record.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "model/error.hpp"
#include "reports/grid.hpp"

namespace lanecast {

MeasureRecord::MeasureRecord(const MeasureOptions& options, const Session& session, std::uint64_t rows)
    : options_(options),
      session_(session),
      rows_(rows),
      format_(checked_outputs(options)),
      streams_(format_ == Format::table && (options.output.path.empty() || options.output.path == "-")),
      terminal_(isatty(STDERR_FILENO) != 0 && !session.quiet) {
  if (options.json_lines.empty()) return;
  lines_.reset(std::fopen(options.json_lines.c_str(), options.output.force ? "w" : "wx"));
  if (!lines_) {
    throw Error(ErrorKind::runtime, "cannot write `" + options.json_lines + "`: " + std::strerror(errno),
                "--json-lines " + options.json_lines, "take a place that you may write to");
  }
}

void MeasureRecord::clear_progress() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

void MeasureRecord::print(const std::string& text) {
  if (!streams_ || text.empty()) return;
  clear_progress();
  std::cout << text << std::flush;
}

void MeasureRecord::begin() { print(MeasureTable::head(report_)); }

void MeasureRecord::add(const MeasuredRun& run) {
  report_.runs.push_back(run);
  print(table_.add(run, !options_.in_place && !options_.out_of_place));
  if (lines_) {
    keep_line(run_as_json(report_, run).dump());
  }
  if (run.first_wrong.empty()) return;
  clear_progress();
  session_.note(std::to_string(*run.wrong) + " wrong elements; " + run.first_wrong);
}

/// What can't be kept is said once; measuring goes on, since everything is written at the end, too.
void MeasureRecord::keep_line(const std::string& line) {
  const bool kept = std::fputs((line + "\n").c_str(), lines_.get()) >= 0 && std::fflush(lines_.get()) == 0;
  if (kept) return;
  clear_progress();
  session_.note("cannot write `" + options_.json_lines + "`: " + std::strerror(errno) +
                "; no more rows go there");
  lines_.reset();
}

void MeasureRecord::add(const MicroRow& row) {
  report_.micro.push_back(row);
  if (!lines_) return;
  keep_line(micro_as_json(row).dump());
}

void MeasureRecord::left_out(const std::string& reason) {
  for (const std::string& known : report_.left_out) {
    if (known == reason) return;
  }
  report_.left_out.push_back(reason);
}

void MeasureRecord::progress(const std::string& what) {
  if (!terminal_) return;
  std::cerr << "\r\033[K[" << report_.runs.size() << "/" << rows_ << "] " << what << std::flush;
  shown_ = true;
}

void MeasureRecord::finish(const std::string& ended) {
  clear_progress();
  report_.ended = ended;
  // First what a program reads: where the other file can't be written, the measurement is not lost
  if (!options_.json.empty()) write_output(json_output(options_), measure_text(report_, Format::json));
  if (streams_) {
    print(table_.flush());
    if (!report_.micro.empty()) print(comment_line("") + aligned_text(micro_grid(report_)));
    print(MeasureTable::foot(report_));
  } else {
    write_output(options_.output, measure_text(report_, format_));
  }
}

}  // namespace lanecast
