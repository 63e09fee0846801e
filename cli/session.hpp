#pragma once
#include <string>
#include <vector>

#include "model/predict/prediction.hpp"
#include "reports/document.hpp"

namespace lanecast {

/// What holds for the whole command, whatever the subcommand: its words and how much it says on stderr.
///
/// stdout is for results. All that is said here goes to stderr.
struct Session {
  std::vector<std::string> words;  // after the program's name
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;

  /// "warning LC-LINK-01: ...", at most a few of each code: a machine without peer access has one for every
  /// pair. Nothing where the session is quiet.
  void warn(const std::vector<Warning>& warnings) const;

  /// Something that a reader of the result should know, but that is not about the model.
  void note(const std::string& text) const;

  /// Said only with `-v`.
  void detail(const std::string& text) const;

  /// Said always: "error: what\n  at where\n  mend: how".
  void error(const std::string& message) const;

  /// The command as a shell takes it back, beginning with `lanecast`.
  std::string command_line() const;

  /// Version, commit, host and command line, for the head of a document.
  RunInfo run_info(const std::string& config_digest) const;

 private:
  void warn(const std::string& code, const std::string& text) const;
  std::string painted(const char* word, const char* color) const;
};

}  // namespace lanecast
