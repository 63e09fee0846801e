#include <cassert>

#include "model/profile/profile.hpp"

namespace lanecast {
namespace {

constexpr const char* kPackets = "facts.md C2 (pcie-bench/pcie-model, PCI Express Base Specification)";
constexpr const char* kPriors = "facts.md C9";
constexpr const char* kFindings = "h200-findings.md (2 x H200, NCCL 2.28.9)";
constexpr const char* kSmRates = "measurements/h200x1-host/sm-rates.csv (H200, 512 threads, one block)";

const std::array<ParameterInfo, parameter_count> kTable{{
    {"pcie.write_overhead", "B", 24, 24, 28, kPackets, "header, framing, sequence and LCRC of a posted write"},
    {"pcie.completion_overhead", "B", 20, 20, 24, kPackets, "the same of a read completion"},
    {"pcie.dllp_share", "1", 0.02, 0.0, 0.05, kPriors, "share of a link taken by Ack, flow control and skips"},
    {"pcie.sm_payload", "B", 128, 64, 512, kPriors, "payload of a packet stored by thread blocks"},
    {"pcie.copy_payload", "B", 256, 64, 512, kPriors, "payload of a packet moved by a copy engine"},
    {"pcie.sm_read_payload", "B", 128, 64, 512, kPriors, "payload of a completion that answers a thread block's load"},
    {"pcie.read_efficiency", "1", 0.97, 0.8, 1.0, "facts.md C4 (H2D 55.1 of 57.3 packet-limited, 2 x H200)",
     "share of the completions' rate that reads reach: gaps between requests"},
    {"pcie.replay_time", "us", 1.0, 0.2, 5.0, "facts.md C8", "time a link loses for one replayed packet"},
    {"pcie.l0s_exit", "us", 1.0, 0.064, 4.0, "facts.md C8 (pciutils ls-caps.c encodings)",
     "exit from L0s, paid by the first packet after idle"},
    {"pcie.l1_exit", "us", 16.0, 1.0, 64.0, "facts.md C8 (RTX 4090: L1 < 16 us)",
     "exit from L1, paid by the first packet after idle"},
    {"duplex.peer", "1", 0.03, 0.0, 0.15, kPriors, "loss of a GPU's link that carries peer traffic both ways"},
    {"duplex.uplink", "1", 0.03, 0.0, 0.15, kPriors, "the same of a switch's uplink"},
    {"duplex.host", "1", 0.09, 0.0, 0.35, kPriors, "the same of a GPU's link to host memory"},
    {"host.joint_share", "1", 0.65, 0.5, 0.9, kPriors,
     "thread blocks' stores to and loads from host memory together, of the sum of both alone"},
    {"host.joint_exponent", "1", 1.6, 1.0, 8.0, kFindings, "how softly that joint capacity is approached"},
    {"socket.duplex", "1", 0.10, 0.0, 0.4, "facts.md C4 (8 x A40: 50 in a socket, 40 across, both ways)",
     "loss of a socket link that carries both ways"},
    {"gpu.channel_spread", "1", 0.09, 0.0, 0.2, kFindings, "channels of one call differ by this share, evenly spread"},
    {"latency.gpu", "ns", 560, 450, 650, kPriors, "leaving one GPU and entering another, with the poll that sees it"},
    {"latency.switch", "ns", 115, 100, 150, kPriors, "cut-through of a PCIe switch"},
    {"latency.root", "ns", 275, 200, 400, kPriors, "traversal of a root complex"},
    {"latency.socket", "ns", 175, 100, 600, kPriors, "crossing to another socket"},
    {"latency.nvlink", "ns", 620, 400, 900, "facts.md C5 (LL line round trip 1.24 us over NVLink)",
     "one way over NVLink, with the poll that sees it"},
    {"host.read_round_trip", "us", 1.5, 0.9, 2.5, "h200-findings.md (4 KB a round trip: 2.7 GB/s a channel)",
     "a thread block's load from host memory"},
    {"host.poll_share", "1", 0.83, 0.5, 1.5, "facts.md C5 (LL round trip through host memory 3.60 us)",
     "read round trips between data reaching host memory and the polling block seeing it"},
    {"nvlink.sm_efficiency", "1", 0.71, 0.5, 1.0, "h200-findings.md (egress 340 of 478 GB/s)",
     "share of NVLink's raw rate that thread blocks' stores reach"},
    {"nvlink.copy_efficiency", "1", 0.826, 0.5, 1.0, "facts.md G (copy engine 395 of 478 GB/s)",
     "share of NVLink's raw rate that a copy engine reaches"},
    {"staged.efficiency", "1", 0.77, 0.3, 1.0, "facts.md C4 and public p2pBandwidthLatencyTest tables, P2P disabled",
     "driver-staged copies through host memory, of the slower of their two halves"},
    {"staged.duplex", "1", 0.70, 0.4, 1.0, "the same tables, bidirectional",
     "the same in both directions at once, of the sum of two one-way copies"},
    {"staged.latency", "us", 12.0, 5.0, 25.0, "public p2pBandwidthLatencyTest tables, P2P disabled: 11.7 to 12.8 us",
     "a small driver-staged copy"},
    {"gpu.base_specialised", "us", 3.2, 1.5, 6.0, kFindings, "start and end of an LL kernel in a graph"},
    {"gpu.base_generic", "us", 7.4, 3.0, 12.0, kFindings, "the same of LL128 and Simple, called indirectly"},
    {"gpu.block_start_128", "us", 1.4, 0.0, 2.5, kFindings, "more from 128 threads a block (Simple)"},
    {"gpu.block_start_256", "us", 2.5, 0.0, 4.5, kFindings, "more from 256 threads a block (Simple)"},
    {"gpu.graph_replay", "us", 18, 5, 40, kFindings, "replaying a graph once, divided by the launches in it"},
    {"gpu.stream_period", "us", 9.9, 4.0, 25.0, "facts.md C5 (kernel launch with synchronisation)",
     "the host's period between launches in a stream"},
    {"gpu.registration_exchange", "us", 2.0, 0.5, 5.0, kFindings, "exchanging pointers of registered buffers"},
    {"simple.peer.send", "GB/s", 40, 15, 60, kFindings, "own data into the next GPU's memory"},
    {"simple.peer.reduce_send", "GB/s", 24, 8, 50, kFindings, "received plus own data into the next GPU's memory"},
    {"simple.peer.copy", "GB/s", 48, 15, 80, kFindings, "received data into own output"},
    {"simple.host.send", "GB/s", 45, 15, 60, kFindings, "own data into host memory"},
    {"simple.host.reduce_send", "GB/s", 19, 6, 40, kFindings, "data from host memory plus own into host memory"},
    {"simple.host.copy", "GB/s", 21, 6, 45, kSmRates, "data from host memory into own output"},
    {"simple.send_threads", "1", 170, 64, 512, kSmRates,
     "threads from which plain stores reach their peak; loads and reductions grow with all 512"},
    {"ll128.send", "GB/s", 30, 10, 60, kFindings, "LL128, own data, at 640 threads"},
    {"ll128.reduce_send", "GB/s", 22, 8, 50, kFindings, "LL128, received plus own"},
    {"ll128.copy", "GB/s", 24, 8, 60, kFindings, "LL128, received data into own output"},
    {"ll.peer_poll", "us", 0.47, 0.25, 0.9, "facts.md G (LL, one channel: 5.3 GB/s busbw at 2 ranks)",
     "a thread's turn on one LL line in its own memory: load, check, store on"},
    {"ll.send", "GB/s", 16, 6, 30, kPriors, "LL, own data into lines, at 512 threads"},
    {"ll128.poll_bytes", "B", 60, 30, 120, "NCCL src/device/prims_ll128.h: 8 elements a thread in flight",
     "LL128 payload of one thread in flight over the host path"},
    {"gpu.local_copy", "GB/s", 600, 100, 3000, "assumed: half of what GDDR6X and HBM2e cards copy in their own memory",
     "copy within one GPU's memory: a call of one rank"},
    {"gpu.l2_hot_gain", "1", 1.46, 1.0, 2.0, kFindings, "LL rates while the working set stays in the L2 cache"},
    {"gpu.l2_share", "1", 0.62, 0.3, 1.0, "h200-findings.md (31 MB of 50 MB)", "share of the L2 that counts for that"},
    {"simple.overhead", "us", 1.6, 0.5, 4.0, "facts.md C9 less flag and fence: barriers, first loads and stores",
     "one Simple slice besides its bytes"},
    {"simple.fence_local", "us", 0.5, 0.1, 2.0, "facts.md C5 (flag release/acquire 2.41 against LL 1.24 us round trip)",
     "a system fence besides the round trip that drains the stores"},
    {"simple.empty_slice", "us", 0.3, 0.0, 1.0, "assumed: two barriers, no data, no fence",
     "one empty Simple slice: credit and flag only"},
    {"ll.overhead", "us", 0.10, 0.0, 1.0, "facts.md C9 (LL step 1.0 us PCI less the flight)", "one LL step"},
    {"ll128.overhead", "us", 1.2, 0.2, 2.5, "facts.md A6 (LL128 hop 2.5 PCI, 1.9 NVLink, less the flight)",
     "one LL128 step"},
    {"band.latency", "1", 0.40, 0.0, 2.0, "assumed for priors: not fitted to any machine",
     "half-width of the band of small calls, as a share"},
    {"band.bandwidth", "1", 0.25, 0.0, 2.0, "assumed for priors: not fitted to any machine",
     "half-width of the band of large calls, as a share"},
}};

}  // namespace

const std::array<ParameterInfo, parameter_count>& parameter_table() { return kTable; }

}  // namespace lanecast
