#pragma once

namespace lanecast {

/// Where a point in simulated time comes from, in seconds; the sum is the point. As `TimeShares`, without the
/// launch.
struct TimeAccount {
  double latency = 0;
  double protocol = 0;
  double wire = 0;
  double waiting = 0;

  double sum() const { return latency + protocol + wire + waiting; }
  TimeAccount& operator+=(const TimeAccount& other) {
    latency += other.latency;
    protocol += other.protocol;
    wire += other.wire;
    waiting += other.waiting;
    return *this;
  }
};

inline TimeAccount operator*(TimeAccount account, double factor) {
  return {account.latency * factor, account.protocol * factor, account.wire * factor,
          account.waiting * factor};
}

}  // namespace lanecast
