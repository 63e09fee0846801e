#pragma once
#include <stdexcept>
#include <string>

namespace lanecast {

enum class ErrorKind { usage = 2, check_failed = 3, no_hardware = 4, runtime = 1 };  // also the exit code

/// What happened, where (file:line:column, device, link), and what the reader can do about it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, const std::string& where, const std::string& mend)
      : std::runtime_error(what + (where.empty() ? "" : "\n  at " + where) +
                           (mend.empty() ? "" : "\n  mend: " + mend)),
        kind_(kind) {}

  /// For a message that already has its three lines (several problems of one file, an error from a child).
  Error(ErrorKind kind, const std::string& whole_message) : std::runtime_error(whole_message), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace lanecast
