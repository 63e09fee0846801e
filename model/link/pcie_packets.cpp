#include "model/link/pcie_packets.hpp"

#include <algorithm>
#include <cmath>

#include "model/error.hpp"

namespace lanecast {
namespace {

bool is_read(Traffic traffic) { return traffic == Traffic::sm_load || traffic == Traffic::copy_load; }

Param payload_parameter(Traffic traffic) {
  switch (traffic) {
    case Traffic::sm_store:
      return Param::pcie_sm_payload;
    case Traffic::sm_load:
      return Param::pcie_sm_read_payload;
    case Traffic::copy_store:
    case Traffic::copy_load:
      return Param::pcie_copy_payload;
  }
  return Param::pcie_sm_payload;
}

double overhead_bytes(const Profile& profile, Traffic traffic) {
  return profile.value(is_read(traffic) ? Param::pcie_completion_overhead : Param::pcie_write_overhead);
}

}  // namespace

Bytes wire_bytes(Bytes payload, Bytes mps, Bytes overhead) {
  const std::uint64_t size = mps.value();
  if (size < 128 || size > 4096 || (size & (size - 1)) != 0) {
    throw Error(ErrorKind::usage, "Maximum Payload Size " + std::to_string(size) + " B", "wire_bytes",
                "take a power of two from 128 to 4096 B");
  }
  const std::uint64_t packets = payload.value() / size + (payload.value() % size != 0 ? 1 : 0);
  return payload + Bytes(packets * overhead.value());
}

Bytes packet_payload(const Profile& profile, Traffic traffic, Bytes mps) {
  return std::min(mps,
                  Bytes(static_cast<std::uint64_t>(std::llround(profile.value(payload_parameter(traffic))))));
}

double wire_per_payload(const Profile& profile, Traffic traffic, Bytes packet) {
  const auto payload = static_cast<double>(packet.value());
  const double packets = (payload + overhead_bytes(profile, traffic)) / payload;
  return is_read(traffic) ? packets / profile.value(Param::pcie_read_efficiency) : packets;
}

BytesPerSecond pcie_capacity(const Profile& profile, const Link& link, Bytes packet_wire) {
  const BytesPerSecond raw = pcie_raw_rate(link.rate, link.width);
  const Seconds packet_time = packet_wire / raw;
  const double replays = link.replay_rate * (profile.time(Param::pcie_replay_time) / packet_time);
  return raw * ((1.0 - profile.value(Param::pcie_dllp_share)) / (1.0 + replays));
}

Seconds aspm_exit(const Profile& profile, const Link& link) {
  switch (link.aspm) {
    case Aspm::off:
      return Seconds(0);
    case Aspm::l0s:
      return profile.time(Param::pcie_l0s_exit);
    case Aspm::l1:
      return profile.time(Param::pcie_l1_exit);
  }
  return Seconds(0);
}

}  // namespace lanecast
