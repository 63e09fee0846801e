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
  lines_.reset(std::fopen(options.json_lines.c_str(), "w"));
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
    std::fputs((run_as_json(report_, run).dump() + "\n").c_str(), lines_.get());
    std::fflush(lines_.get());
  }
  if (run.first_wrong.empty()) return;
  clear_progress();
  session_.note(std::to_string(*run.wrong) + " wrong elements; " + run.first_wrong);
}

void MeasureRecord::add(const MicroRow& row) {
  report_.micro.push_back(row);
  if (!lines_) return;
  std::fputs((micro_as_json(row).dump() + "\n").c_str(), lines_.get());
  std::fflush(lines_.get());
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
  if (streams_) {
    print(table_.flush());
    if (!report_.micro.empty()) print(comment_line("") + aligned_text(micro_grid(report_)));
    print(MeasureTable::foot(report_));
  } else {
    write_output(options_.output, measure_text(report_, format_));
  }
  if (!options_.json.empty()) write_output(json_output(options_), measure_text(report_, Format::json));
}

}  // namespace lanecast
