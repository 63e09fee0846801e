#pragma once
#include <string>

namespace lanecast {

/// From its making on, the first SIGINT or SIGTERM is kept for who asks; a second one ends the process as
/// usual. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static bool came();
  static std::string name();  // "SIGINT"; empty: none came
};

}  // namespace lanecast
