#pragma once
#include <optional>
#include <string>

#include "model/units.hpp"

namespace lanecast {

/// NCCL's three wire protocols (facts.md A2, A3).
enum class Protocol { simple, ll, ll128 };

const char* to_string(Protocol protocol);  // "simple", "ll", "ll128"
std::optional<Protocol> protocol_from_string(const std::string& text);

/// What a protocol fixes about sizes and waiting. All byte figures are payload unless `wire` is in the name.
struct ProtocolTraits {
  int fifo_steps = 8;           // steps of a connection's buffer (NCCL_STEPS)
  int steps_per_chunk = 1;      // ring collectives; all-reduce Simple: 4
  int steps_per_slice = 1;      // Simple: 2
  Bytes default_buffsize{0};    // wire bytes of one connection's buffer
  double wire_per_payload = 1;  // bytes in the FIFO and on the link for each payload byte
  Bytes grain{16};              // chunk sizes are multiples of this
  int max_threads = 512;        // without Simple's extra sync warp
  bool flag_in_line = false;    // data and flag arrive together: the receiver follows line by line, no fence
};

/// Source: facts.md A2 and A3 (NVIDIA/nccl src/include/device.h, src/init.cc, src/include/collectives.h).
ProtocolTraits protocol_traits(Protocol protocol);

}  // namespace lanecast
