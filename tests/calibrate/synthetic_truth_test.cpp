// Data made by the simulator with known parameters and noise give the parameters back within their intervals.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "calibrate/fit.hpp"
#include "configs/shipped.hpp"
#include "sim/evaluator.hpp"

namespace lanecast {
namespace {

constexpr int kSeeds = 24;
constexpr double kNoise = 0.03;
constexpr double kDeviations95 = 1.96;

/// What the calls below can tell, over NVLink and host memory.
const std::vector<Param> kDrawn{
    Param::base_specialised,     Param::base_generic,     Param::latency_nvlink,
    Param::nvlink_sm_efficiency, Param::simple_peer_send, Param::simple_overhead,
    Param::ll_peer_poll,         Param::ll_host_poll,     Param::ll128_overhead,
    Param::ll128_send,           Param::host_joint_share, Param::simple_peer_reduce_send,
    Param::host_read_round_trip};

/// Rings of two H200: each protocol, transport, channel count and place is one sweep over sizes.
struct Rings {
  Machine machine = load_machine("h200x2-nvlink-vm");
  Evaluator evaluator;
  FitData data;  // times not filled in

  Rings() {
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      for (const Transport transport : {Transport::p2p, Transport::shm}) {
        data.kinds.push_back(std::string(to_string(protocol)) + " " + to_string(transport));
        for (const int channels : {1, 4, 16}) {
          for (const bool in_place : {false, true}) add_sweep(protocol, transport, channels, in_place);
        }
      }
    }
  }

  void add_sweep(Protocol protocol, Transport transport, int channels, bool in_place) {
    data.configurations.push_back(data.kinds.back() + " channels " + std::to_string(channels) +
                                  (in_place ? " in place" : ""));
    for (std::uint64_t size = 1024; size <= 64u << 20; size *= 8) {
      Call call;
      call.size = Bytes(size);
      call.algorithm = Algorithm::ring;
      call.protocol = protocol;
      call.transport = transport;
      call.channels = channels;
      call.in_place = in_place;
      Observation seen;
      seen.call = evaluator.add_call(machine, resolve_call(machine, Implementation{}, call));
      seen.configuration = data.configurations.size() - 1;
      seen.kind = data.kinds.size() - 1;
      data.calls.push_back(data.configurations.back() + ", " + std::to_string(size) + " B");
      data.observations.push_back(seen);
    }
  }

  Evaluate evaluate() const {
    return [this](std::size_t call, const Profile& profile) { return evaluator.time(call, profile); };
  }

  FitData measured(const Profile& truth, std::mt19937_64& bits) const {
    FitData noisy = data;
    std::normal_distribution<double> normal(0.0, kNoise);
    for (Observation& seen : noisy.observations)
      seen.time = Seconds(evaluator.time(seen.call, truth).value() * std::exp(normal(bits)));
    return noisy;
  }
};

/// Values within a deviation of their priors.
Profile drawn_truth(std::mt19937_64& bits) {
  Profile truth;
  std::uniform_real_distribution<double> place(-1.0, 1.0);
  for (const Param parameter : kDrawn) {
    const Coordinate coordinate(parameter);
    truth.set(parameter, coordinate.value(coordinate.prior() + place(bits) * coordinate.prior_sd()));
  }
  return truth;
}

struct Tally {
  int fits = 0;
  int inside = 0;
  double sum = 0;  // of errors in deviations
  double squares = 0;
};

TEST(SyntheticTruth, ComesBackWithinTheIntervalsOfTheFit) {
  const Rings rings;
  std::map<Param, Tally> tallies;
  Tally all;
  std::size_t undetermined = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937_64 bits(seed);
    const Profile truth = drawn_truth(bits);
    FitOptions options;
    options.only = kDrawn;
    const FitData data = rings.measured(truth, bits);
    const FitResult fit = fit_profile(data, rings.evaluate(), Profile(), options);
    for (std::size_t k = 0; k < fit.coordinates.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      const Param parameter = fit.coordinates[k].parameter();
      const double away =
          (fit.x[at] - fit.coordinates[k].of_value(truth.value(parameter))) / fit.deviations[at];
      for (Tally* tally : {&all, &tallies[parameter]}) {
        ++tally->fits;
        if (std::abs(away) <= kDeviations95) ++tally->inside;
        tally->sum += away;
        tally->squares += away * away;
      }
    }
    undetermined += fit.undetermined.size();
  }
  for (const auto& [parameter, tally] : tallies) {
    std::printf("%-28s %2d of %2d, mean %+.2f, rms %.2f\n", info(parameter).name.c_str(), tally.inside,
                tally.fits, tally.sum / tally.fits, std::sqrt(tally.squares / tally.fits));
    EXPECT_GE(tally.inside, 0.7 * tally.fits) << info(parameter).name;
  }
  std::printf("all: %d of %d, rms %.2f; %zu undetermined\n", all.inside, all.fits,
              std::sqrt(all.squares / all.fits), undetermined);
  EXPECT_GE(all.inside, 0.9 * all.fits);
  EXPECT_LE(undetermined, kSeeds) << "the data tell most of them";
}

}  // namespace
}  // namespace lanecast
