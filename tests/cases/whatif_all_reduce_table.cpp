#include <tuple>
#include <utility>

#include "tests/cases/whatif_table.hpp"

namespace lanecast::cases {
namespace {

using namespace literals;

constexpr const char* kStated = "stated";

AllReduceSide side(const std::string& sweep) { return {all_reduce_case(sweep), std::nullopt, {}}; }

void set_variable(AllReduceSide& one, const char* name, const char* value) {
  one.entry.environment.push_back({name, value, kStated});
}

AllReduceWhatIf pair_of(ChangeKind kind, AllReduceSide before, AllReduceSide after,
                        std::vector<Bytes> sizes) {
  AllReduceWhatIf pair;
  pair.kind = kind;
  pair.before = std::move(before);
  pair.after = std::move(after);
  pair.sizes = std::move(sizes);
  return pair;
}

/// Four GPUs of one chip: NCCL keeps pairs of two virtual switches on host memory.
AllReduceWhatIf esc8000a_level() {
  AllReduceSide before = side("esc8000a-e13p-rtxpro6000-nccl-4gpu, default");
  AllReduceSide after = side("esc8000a-e13p-rtxpro6000-nccl-4gpu, NCCL_P2P_LEVEL=SYS");
  after.entry.machine = before.entry.machine;
  after.entry.call.ranks = before.entry.call.ranks;
  AllReduceWhatIf pair = pair_of(ChangeKind::peer_access, before, after, {32_MiB});
  pair.note = "peer copies go over the root ports in this file, inside the chip in the machine";
  return pair;
}

AllReduceWhatIf eight_4090_peer_access() {
  AllReduceSide before = side("8x4090-dualsocket-p2poff-nccl");
  before.entry.machine = "rtx4090x8-2socket-p2p";
  before.entry.sets = peer_access_off();
  AllReduceSide after = before;
  after.entry.sets.clear();
  after.carried = 20.64;
  AllReduceWhatIf pair = pair_of(ChangeKind::peer_access, before, after, {128_MiB});
  pair.note = "the file takes NCCL_P2P_LEVEL=SYS for NCCL's release, which is not stated";
  return pair;
}

/// The case has the mean of a sweep with 8 channels; facts.md A5 gives it for 32 MB.
AllReduceWhatIf dual_turin_channels() {
  AllReduceSide before = side("rtxpro6000-8gpu-nccl-channels, dual Turin, 2 channels");
  AllReduceSide after = before;
  set_variable(after, "NCCL_MIN_NCHANNELS", "8");
  after.carried = 37.6;
  for (Bytes size = 8_MiB; size <= 2048_MiB; size = Bytes(size.value() * 2)) after.mean_over.push_back(size);
  AllReduceWhatIf pair = pair_of(ChangeKind::channels, before, after, {32_MiB});
  pair.note = "after: the mean of a sweep of 8 MiB to 2 GiB (doubling sizes are assumed), not 32 MiB alone";
  return pair;
}

AllReduceWhatIf dual_turin_protocol() {
  AllReduceSide before = side("rtxpro6000-8gpu-nccl-channels, dual Turin, Simple, 2 channels");
  AllReduceSide after = side("rtxpro6000-8gpu-nccl-channels, dual Turin, LL, 4 channels");
  after.entry.call.protocol.reset();
  after.entry.call.channels.reset();
  for (const auto& [one, protocol, channels] :
       {std::tuple{&before, "Simple", "2"}, std::tuple{&after, "LL", "4"}}) {
    set_variable(*one, "NCCL_PROTO", protocol);
    set_variable(*one, "NCCL_MIN_NCHANNELS", channels);
    set_variable(*one, "NCCL_MAX_NCHANNELS", channels);
  }
  AllReduceWhatIf pair = pair_of(ChangeKind::protocol, before, after,
                                 {Bytes(32u << 10), Bytes(64u << 10), Bytes(128u << 10), Bytes(256u << 10)});
  pair.note = "the source changes both by a graph file";
  return pair;
}

/// Every eighth size of the sweeps.
std::vector<Bytes> l40s_sizes() {
  return {Bytes(4u << 10), Bytes(32u << 10), Bytes(256u << 10), 2_MiB, 16_MiB, 128_MiB};
}

void add_l40s(std::vector<AllReduceWhatIf>& all) {
  for (const char* protocol : {"ll", "ll128", "simple"}) {
    all.push_back(pair_of(ChangeKind::protocol, side("l40s-2gpu-node-auto-1"),
                          side(std::string("l40s-2gpu-node-") + protocol), l40s_sizes()));
    all.back().note = "two other cards of the host after than before";
  }
  all.push_back(
      pair_of(ChangeKind::algorithm, side("l40s-2gpu-node-ring"), side("l40s-2gpu-node-tree"), l40s_sizes()));
}

/// The machine file of the second case, whose card is moved below the switch of the other one for the first.
AllReduceWhatIf two_4090_uplinks() {
  AllReduceSide before = side("4090x2-sameswitch-shm-docker");
  AllReduceSide after = side("4090x2-crosssocket-shm-k8s");
  before.entry.machine = after.entry.machine;
  before.entry.sets = {"links.gpu1.from=sw0"};
  AllReduceWhatIf pair = pair_of(ChangeKind::sharing, before, after, {1_MiB, 16_MiB, 128_MiB, 1024_MiB});
  pair.note = "layout inferred; both are half as fast as two Gen3 x16 slots allow";
  return pair;
}

}  // namespace

const std::vector<AllReduceWhatIf>& all_reduce_what_ifs() {
  static const std::vector<AllReduceWhatIf> table = [] {
    std::vector<AllReduceWhatIf> all{esc8000a_level(), eight_4090_peer_access(), dual_turin_channels(),
                                     two_4090_uplinks(), dual_turin_protocol()};
    add_l40s(all);
    return all;
  }();
  return table;
}

}  // namespace lanecast::cases
