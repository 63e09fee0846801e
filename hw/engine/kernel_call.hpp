#pragma once
#include <cstddef>
#include <cstdint>

#include "model/schedule/geometry.hpp"

namespace lanecast {

/// Ranks of one communicator, and channels of one call (a tree has two blocks for each).
inline constexpr int kMostEngineRanks = 16;
inline constexpr int kMostEngineChannels = 64;
inline constexpr std::uint64_t kMostSlots = 1u << 16;  // of a connection

/// Counters of one direction of a connection, in the memory of the device whose kernels use them: they last
/// from call to call, so that a captured graph can be replayed.
struct ConnectionState {
  std::uint64_t step = 0;   // slices so far
  std::uint64_t slots = 0;  // of the last call: slot_cut
};

/// The part of a rank's memory that others write into, and where in it each thing lies. All ranks of a
/// communicator have the same layout, over peer memory and over host memory.
///
/// Connections are numbered by class: those of rings (one a channel and protocol: from the previous rank),
/// then those between any two ranks (one for each other rank, channel and protocol).
struct MailboxLayout {
  int ranks = 2;
  int channels = 1;
  std::uint64_t ring_bytes[3] = {};  // FIFO of a ring connection, wire bytes, by Protocol
  std::uint64_t any_bytes[3] = {};   // FIFO of a connection between any two; 0: there are none
  int copy_channels = 0;             // copy-engine-driven staging
  int copy_slots = 0;                // of a channel
  std::uint64_t copy_slot_bytes = 0;
};

inline constexpr std::uint64_t kFlagBytes = 128;  // a counter has a line of its own (facts.md A4)

/// Connections of one protocol that end at a rank: `from` is the sender. For the way out, the same number
/// with `from` replaced by the receiver addresses the head.
LANECAST_HD constexpr int connection_index(const MailboxLayout& layout, bool ring, int peer, int channel) {
  return ring ? channel : layout.channels * (1 + peer) + channel;
}
LANECAST_HD constexpr int connection_count(const MailboxLayout& layout) {
  return layout.channels * (1 + layout.ranks);
}

/// Flags first: tail of each connection in (written by the sender), then head of each connection out (written
/// by the receiver), by protocol.
LANECAST_HD constexpr std::uint64_t tail_offset(const MailboxLayout& layout, int protocol, int connection) {
  return kFlagBytes * static_cast<std::uint64_t>(protocol * connection_count(layout) + connection);
}
LANECAST_HD constexpr std::uint64_t head_offset(const MailboxLayout& layout, int protocol, int connection) {
  return kFlagBytes * static_cast<std::uint64_t>((3 + protocol) * connection_count(layout) + connection);
}
LANECAST_HD constexpr std::uint64_t flag_bytes(const MailboxLayout& layout) {
  return round_up(kFlagBytes * 6 * static_cast<std::uint64_t>(connection_count(layout)), 4096);
}

/// Bytes of all FIFOs of one protocol.
LANECAST_HD constexpr std::uint64_t fifo_area_bytes(const MailboxLayout& layout, int protocol) {
  const auto channels = static_cast<std::uint64_t>(layout.channels);
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  return channels * (layout.ring_bytes[protocol] + ranks * layout.any_bytes[protocol]);
}

/// Where the FIFO of a connection begins; a multiple of 128.
LANECAST_HD constexpr std::uint64_t fifo_offset(const MailboxLayout& layout, int protocol, int connection) {
  std::uint64_t offset = flag_bytes(layout);
  for (int p = 0; p < protocol; ++p) offset += fifo_area_bytes(layout, p);
  const auto ring_channels = static_cast<std::uint64_t>(layout.channels);
  const auto index = static_cast<std::uint64_t>(connection);
  if (index < ring_channels) return offset + index * layout.ring_bytes[protocol];
  return offset + ring_channels * layout.ring_bytes[protocol] +
         (index - ring_channels) * layout.any_bytes[protocol];
}

LANECAST_HD constexpr std::uint64_t mailbox_bytes(const MailboxLayout& layout) {
  std::uint64_t bytes = flag_bytes(layout);
  for (int p = 0; p < 3; ++p) bytes += fifo_area_bytes(layout, p);
  return bytes;
}

/// Behind the mailbox proper: a page for each rank's test pattern, then, in host memory only, what copy
/// engines use: their tails and heads, by channel, and slots from the previous rank.
inline constexpr std::uint64_t kTestBytes = 4096;
LANECAST_HD constexpr std::uint64_t test_offset(const MailboxLayout& layout, int from) {
  return mailbox_bytes(layout) + kTestBytes * static_cast<std::uint64_t>(from);
}
LANECAST_HD constexpr std::uint64_t copy_flags_offset(const MailboxLayout& layout) {
  return test_offset(layout, layout.ranks);
}
LANECAST_HD constexpr std::uint64_t copy_tail_offset(const MailboxLayout& layout, int channel) {
  return copy_flags_offset(layout) + kFlagBytes * static_cast<std::uint64_t>(channel);
}
LANECAST_HD constexpr std::uint64_t copy_head_offset(const MailboxLayout& layout, int channel) {
  return copy_tail_offset(layout, layout.copy_channels + channel);
}
LANECAST_HD constexpr std::uint64_t copy_slot_offset(const MailboxLayout& layout, int channel, int slot) {
  const std::uint64_t flags = kFlagBytes * 2 * static_cast<std::uint64_t>(layout.copy_channels);
  return copy_flags_offset(layout) + round_up(flags, 4096) +
         layout.copy_slot_bytes * static_cast<std::uint64_t>(channel * layout.copy_slots + slot);
}
LANECAST_HD constexpr std::uint64_t device_bytes(const MailboxLayout& layout) {
  return copy_flags_offset(layout);
}
LANECAST_HD constexpr std::uint64_t host_bytes(const MailboxLayout& layout) {
  return copy_slot_offset(layout, layout.copy_channels, 0);
}

/// Counters of a rank: for each protocol the way out (send), then the way in (receive), by connection.
LANECAST_HD constexpr int state_index(const MailboxLayout& layout, int protocol, bool receive,
                                      int connection) {
  return (2 * protocol + (receive ? 1 : 0)) * connection_count(layout) + connection;
}
LANECAST_HD constexpr int state_count(const MailboxLayout& layout) { return 6 * connection_count(layout); }

/// What one slice of one turn was, and when: for the comparison with the simulator and for timelines. Times
/// are the device's global timer, ns.
struct SliceRecord {
  std::uint64_t begin_ns = 0;  // the turn came to this slice
  std::uint64_t ready_ns = 0;  // data and credit were there
  std::uint64_t end_ns = 0;    // done, before the flag
  std::uint64_t loop = 0;
  std::uint64_t bytes = 0;
  std::int32_t channel = 0;
  std::int32_t strand = 0;
  std::int32_t step = 0;
  std::int32_t chunk = 0;
  std::int32_t slice = 0;
  std::int32_t action = 0;  // TurnAction
};

/// Where records go: `most` for each block; `counts[block]` says how many came (more than `most`: cut).
struct Recording {
  SliceRecord* records = nullptr;  // null: nothing is recorded
  std::uint32_t* counts = nullptr;
  std::uint32_t most = 0;
};

struct KernelFault;

/// What a kernel is compiled for: rings and one-shots know their peers beforehand, and keep their counters in
/// registers; one kernel runs all the other schedules.
enum class KernelShape : std::int32_t { ring, one_shot, any };

/// Where the connections of one protocol and class lie, so that a kernel need not go through the layout:
/// offsets in a mailbox, and a number in the states, of the first channel's connection with rank 0; others
/// follow by channel, those with the next rank `per_peer` later (0 in a ring's class, which has one a
/// channel).
struct ConnectionPlaces {
  std::uint64_t fifo = 0;
  std::uint64_t fifo_bytes = 0;  // of one connection
  std::uint64_t tail = 0;
  std::uint64_t head = 0;
  std::int32_t sending = 0;    // states
  std::int32_t receiving = 0;  // states
  std::int32_t per_peer = 0;
};

LANECAST_HD constexpr ConnectionPlaces places_of(const MailboxLayout& layout, int protocol, bool ring) {
  const int first = connection_index(layout, ring, 0, 0);
  ConnectionPlaces places;
  places.fifo = fifo_offset(layout, protocol, first);
  places.fifo_bytes = ring ? layout.ring_bytes[protocol] : layout.any_bytes[protocol];
  places.tail = tail_offset(layout, protocol, first);
  places.head = head_offset(layout, protocol, first);
  places.sending = state_index(layout, protocol, false, first);
  places.receiving = state_index(layout, protocol, true, first);
  places.per_peer = ring ? 0 : layout.channels;
  return places;
}

/// One rank's part of a collective call, as its kernel takes it: a plain value of less than 4 KiB.
///
/// Arguments lie in constant memory that no cache has yet when a kernel starts, and each 64 B of them that it
/// reads cost 0.13 us (H200: docs/micro-benchmarks.md, graph_kernel_arguments). What every kernel needs comes
/// first.
struct KernelCall {
  ChannelWork work;  // what all channels share; channel 0's where they differ
  const void* input = nullptr;
  void* output = nullptr;
  std::uint64_t share = 0;  // elements of a channel; the last one has what is left of `total`
  std::uint64_t total = 0;
  std::uint64_t odd_chunk_count = 0;  // ChannelWork::chunk_count of channels of odd number
  std::uint64_t slot_bytes = 0;       // wire bytes of one slice's place in a FIFO
  std::uint64_t most_slices = 0;      // that any connection takes in this call
  int fifo_slices = 8;
  int channels = 1;  // blocks: channels x strands
  int strands = 1;
  int protocol = 0;  // Protocol
  int op = 0;        // ReduceOp
  int datatype = 0;  // Datatype
  KernelShape shape = KernelShape::ring;
  std::uint32_t staged = 0;  // bit r: rank r is reached through host memory
  ConnectionPlaces places;
  ConnectionState* states = nullptr;         // own, state_count(layout)
  std::uint32_t* broken = nullptr;           // own device memory; not 0: an earlier kernel gave up
  std::byte* own_device = nullptr;           // own mailbox in device memory
  std::byte* own_host = nullptr;             // own mailbox in host memory, as the device sees it
  std::byte* theirs[kMostEngineRanks] = {};  // mailbox of each other rank, on whichever path it is reached
  bool alone = false;  // no other rank has this GPU: the stream's next kernel may come onto it early
  TreeNode trees[2];   // of even and of odd channels, by rank; where the schedule has trees
  MailboxLayout layout;
  const std::uint32_t* abort = nullptr;  // own StatusPage::abort, as the device sees it
  KernelFault* fault = nullptr;          // own StatusPage::fault, as the device sees it
  std::uint64_t timeout_ns = 0;
  std::uint64_t call = 0;  // number, for the fault
  Recording recording;
};
static_assert(sizeof(KernelCall) <= 4096 - 64);

/// How a call cuts a FIFO into slots, as one word that is never 0. Where a call cuts it otherwise than the
/// one before, the sender waits until it is empty: a slot may lie where data wait that were not taken yet.
LANECAST_HD constexpr std::uint64_t slot_cut(const KernelCall& call) {
  return call.slot_bytes << 20 | static_cast<std::uint64_t>(call.fifo_slices);
}

/// A channel's share, in elements.
LANECAST_HD constexpr std::uint64_t share_begin(const KernelCall& call, int channel) {
  return call.share * static_cast<std::uint64_t>(channel);
}
LANECAST_HD constexpr std::uint64_t share_count(const KernelCall& call, int channel) {
  const std::uint64_t left = call.total - share_begin(call, channel);
  return left < call.share ? left : call.share;
}

LANECAST_HD constexpr std::uint64_t chunk_count(const KernelCall& call, int channel) {
  return channel % 2 == 0 ? call.work.chunk_count : call.odd_chunk_count;
}

LANECAST_HD constexpr bool takes_ring_connections(const KernelCall& call) {
  return call.shape == KernelShape::ring;
}

/// Whether slots are given back within the call. A call that no connection's FIFO is too small for leaves
/// that to the next one, which does it first of all: a store to a peer at a kernel's end is a round trip in
/// which nothing else happens.
LANECAST_HD constexpr bool gives_back(const KernelCall& call) {
  return call.most_slices > static_cast<std::uint64_t>(call.fifo_slices);
}

}  // namespace lanecast
