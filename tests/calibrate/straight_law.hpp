#pragma once
#include <cstdint>
#include <vector>

#include "calibrate/observation.hpp"

namespace lanecast::support {

/// Sweeps of a law that can be done by hand: time = `simple.overhead` + size / `simple.peer.send`.
struct Sweeps {
  FitData data;
  std::vector<Bytes> sizes;  // [call]

  Evaluate law() const;
};

struct SweepOptions {
  int configurations = 12;
  std::uint64_t from = 1024;  // sizes, both ends included, by factors of 4
  std::uint64_t to = 64u << 20;
  double noise = 0;  // standard deviation of log time
  std::uint64_t seed = 1;
};

/// Each configuration is one sweep; each of its sizes a call that is measured once.
Sweeps measured_sweeps(const Profile& truth, const SweepOptions& options = {});

/// A profile with these two.
Profile straight_profile(double overhead_us, double rate_GBps);

}  // namespace lanecast::support
