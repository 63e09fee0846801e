#pragma once
#include <string>

namespace lanecast {

/// What is known of one parameter of the model before anything is measured.
struct ParameterInfo {
  std::string name;  // "pcie.dllp_share"
  std::string unit;  // "1", "GB/s", "us", "ns", "B"
  double prior = 0;  // in `unit`
  double low = 0;    // plausible range, in `unit`
  double high = 0;
  std::string source;  // where the prior comes from
  std::string doc;     // what it means
};

/// Whose property a parameter is: what a profile of one machine can lend to another.
enum class ParameterGroup {
  gpu,   // thread blocks, launches, protocols, local memory, and what crosses NVLink
  link,  // PCIe packets, duplex, host memory's path, sockets, latencies of what lies between GPUs
  band,  // how far to trust
};

}  // namespace lanecast
