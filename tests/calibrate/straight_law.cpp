#include "tests/calibrate/straight_law.hpp"

#include <cmath>
#include <random>

namespace lanecast::support {
namespace {

Seconds straight_time(const Profile& profile, Bytes size) {
  return profile.time(Param::simple_overhead) + size / profile.rate(Param::simple_peer_send);
}

}  // namespace

Evaluate Sweeps::law() const {
  return [sizes = sizes](std::size_t call, const Profile& profile) {
    return straight_time(profile, sizes[call]);
  };
}

Sweeps measured_sweeps(const Profile& truth, const SweepOptions& options) {
  Sweeps sweeps;
  std::mt19937_64 bits(options.seed);
  std::normal_distribution<double> noise(0.0, 1.0);
  sweeps.data.kinds = {"simple p2p"};
  for (int c = 0; c < options.configurations; ++c) {
    const auto configuration = static_cast<std::size_t>(c);
    sweeps.data.configurations.push_back("sweep " + std::to_string(c));
    for (std::uint64_t size = options.from; size <= options.to; size *= 4) {
      Observation seen;
      seen.call = sweeps.sizes.size();
      seen.configuration = configuration;
      seen.time = Seconds(straight_time(truth, Bytes(size)).value() * std::exp(options.noise * noise(bits)));
      sweeps.sizes.push_back(Bytes(size));
      sweeps.data.calls.push_back(std::to_string(size) + " B, sweep " + std::to_string(c));
      sweeps.data.observations.push_back(seen);
    }
  }
  return sweeps;
}

Profile straight_profile(double overhead_us, double rate_GBps) {
  Profile profile;
  profile.set(Param::simple_overhead, overhead_us);
  profile.set(Param::simple_peer_send, rate_GBps);
  return profile;
}

}  // namespace lanecast::support
