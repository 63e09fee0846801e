#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/predict/call.hpp"
#include "model/predict/time_shares.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Something the reader must know beside the numbers. `code` is stable and explained by `lanecast help CODE`.
struct Warning {
  std::string code;
  std::string text;
  auto operator<=>(const Warning&) const = default;
};

/// The most loaded link of a call.
struct Bottleneck {
  std::string link;        // "gpu0", "uplink1", "upi0", "memory cpu0"
  std::string direction;   // "up", "down", "both", "cpu0 to cpu1"
  double utilization = 0;  // of its payload capacity, averaged over the call; 0 to 1
};

/// The answer for one call.
struct Prediction {
  Call call;            // as asked
  Seconds time{0};      // of one call, as nccl-tests reports it
  Seconds time_low{0};  // band of the profile
  Seconds time_high{0};
  Algorithm algorithm = Algorithm::ring;  // the implementation's choices, resolved
  Protocol protocol = Protocol::simple;
  std::string stands_in_for;  // "nvls/simple": what NCCL takes, where that is not simulated; empty: nothing
  std::string transport;      // "p2p", "shm", "mixed" (some neighbours each)
  int channels = 0;
  int threads = 0;
  Bytes chunk{0};
  Bytes buffsize{0};
  std::vector<int> ring_order;  // GPU indices; of channel 0
  bool folded = false;
  std::optional<Bottleneck> bottleneck;       // absent where nothing crosses a link (one rank)
  std::optional<BytesPerSecond> limit_busbw;  // what the links allow at best
  double busbw_factor = 1;
  std::optional<TimeShares> shares;  // absent: not asked for
  std::vector<Warning> warnings;

  BytesPerSecond algbw() const { return call.size / time; }
  BytesPerSecond busbw() const { return algbw() * busbw_factor; }
};

}  // namespace lanecast
