#pragma once
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Who moves the data, and whether it is written or read across the link.
enum class Traffic { sm_store, sm_load, copy_store, copy_load };

/// Bytes on the wire for `payload` sent as posted memory writes with 64-bit addresses.
///
/// @param payload   user bytes; may be 0
/// @param mps       Maximum Payload Size in force on the whole path; a power of two, 128 B to 4096 B
/// @param overhead  bytes a TLP besides its payload: 24 for writes (16 header; 8 framing, sequence, LCRC),
///                  20 for read completions
/// @throws Error    kind usage, when mps is out of range
/// Source: facts.md C2; cross-checked with pcie-bench (SIGCOMM 2018).
Bytes wire_bytes(Bytes payload, Bytes mps, Bytes overhead = Bytes(24));

/// Payload of one packet of this traffic where the path allows `mps`.
Bytes packet_payload(const Profile& profile, Traffic traffic, Bytes mps);

/// Wire bytes for each payload byte of long transfers, at `packet` bytes of payload a TLP.
double wire_per_payload(const Profile& profile, Traffic traffic, Bytes packet);

/// What one direction of a link can carry, in wire bytes: raw rate less DLLPs, skips and replays.
///
/// Replays: at rate e per packet the link does 1 / (1 + e T_replay / T_packet) of its work (facts.md C8).
/// @param packet_wire  bytes of a packet on the wire, for the time of one packet
BytesPerSecond pcie_capacity(const Profile& profile, const Link& link, Bytes packet_wire);

/// Time that the first packet after idle waits for this link (facts.md C8). 0 with ASPM off.
Seconds aspm_exit(const Profile& profile, const Link& link);

}  // namespace lanecast
