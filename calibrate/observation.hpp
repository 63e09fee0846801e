#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/profile/profile.hpp"
#include "model/units.hpp"

namespace lanecast {

/// One measured time, and the call whose prediction it is set against.
struct Observation {
  std::size_t call = 0;  // by number; several observations may be of one call
  Seconds time{0};
  int session = 0;                // by number: machines, or days
  bool first_of_sweep = false;    // cold
  std::size_t configuration = 0;  // hold-outs and bootstraps go by configuration
  std::size_t kind = 0;           // calls of one kind (protocol and path) have one spread
};

/// What a fit works on.
struct FitData {
  std::vector<Observation> observations;
  std::vector<std::string> calls;           // [call]: as in tables, "1 KiB ring ll p2p, 4 channels"
  std::vector<std::string> configurations;  // [configuration]: "ring ll p2p channels 4"
  std::vector<std::string> kinds;           // [kind]: "ll p2p"
};

/// Predicts call number `call` with a profile. Called from several threads at once.
using Evaluate = std::function<Seconds(std::size_t call, const Profile& profile)>;

}  // namespace lanecast
