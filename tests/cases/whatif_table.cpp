#include "tests/cases/whatif_table.hpp"

#include "model/error.hpp"

namespace lanecast::cases {

const char* to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::peer_access:
      return "P2P off and on";
    case ChangeKind::uplink:
      return "uplink generation";
    case ChangeKind::acs:
      return "ACS";
    case ChangeKind::channels:
      return "channels";
    case ChangeKind::sharing:
      return "own and shared uplinks";
    case ChangeKind::wiring:
      return "wiring";
    case ChangeKind::protocol:
      return "protocol";
    case ChangeKind::algorithm:
      return "algorithm";
  }
  return "";
}

const std::vector<ChangeKind>& change_kinds() {
  static const std::vector<ChangeKind> kinds{
      ChangeKind::peer_access, ChangeKind::uplink, ChangeKind::acs,      ChangeKind::channels,
      ChangeKind::sharing,     ChangeKind::wiring, ChangeKind::protocol, ChangeKind::algorithm};
  return kinds;
}

const std::vector<PeerMatrices>& peer_matrices() {
  static const std::vector<PeerMatrices> table{
      {"esc8000a-e12-4x-rtx6000ada-p2p", "esc8000a-e12-4x-rtx6000ada-p2p"},
      {"wrx90-2x-rtx6000ada-p2p", "wrx90-2x-rtx6000ada-p2p"},
      {"wrx80-2x4090-p2p-driver525-60", "wrx80-2x4090-p2p-driver525-60"},
      {"wrx80-2x-rtx6000ada-p2p", "wrx80-2x-rtx6000ada-p2p"},
      {"a100pcie-4x-sys-p2p", "a100pcie-4x-sys-p2p"},
      {"rtx5090-9x-p2p", "rtx5090-9x-p2p"},
      {"8x4090-dualsocket-p2pon-p2p", "rtx4090x8-2socket-p2p"},
  };
  return table;
}

const std::vector<std::string>& peer_access_off() {
  static const std::vector<std::string> sets{"p2p.enabled=false"};
  return sets;
}

const std::vector<WhatIfLeftOut>& what_ifs_left_out() {
  static const std::vector<WhatIfLeftOut> table{
      {"wrx80-2x3090-nop2p, autodl-2x2080ti-pix-p2p, 2x5090-genoa-nop2p: P2P=Disabled and Enabled",
       "no peer access in either: the same setting twice"},
      {"8x4090-dualsocket-p2poff-p2p to 8x4090-dualsocket-p2pon-p2p",
       "the latter has both settings itself, and the former's figures are those of its P2P=Disabled"},
      {"latency matrices with P2P off and on", "the copies' issue rate: no one-way latency (facts.md B3)"},
      {"rtxpro6000-8gpu-nccl-channels, single CPU with 4 switches, default to 8 channels",
       "how the switches hang together is not stated"},
      {"wrx90-2vs-per-chip-rtxpro6000-multiflow, V1 to V2",
       "which roots the uplinks end at: the machine file draws one uplink a chip and serves both"},
      {"x399-2x3070ti-uma-vs-numa-p2p, UMA to NUMA mode",
       "memory interleaved over both dies: a machine file cannot say that"},
      {"reads beside writes", "copies of a matrix or of `--flows` are writes"},
      {"facts.md C6: Microchip switches, four GPUs each, 52 to 13 GB/s by writes to two roots",
       "three switches take part; no machine file has them"},
      {"facts.md C4: 8 x L40S and sm_120 pairs, one flow to all flows over the boundary",
       "what hangs below which switch is not stated"},
      {"facts.md C6, C7: IOMMU translation, relaxed ordering, xGMI width by the BIOS", "no `--set` for it"},
  };
  return table;
}

const CopySet& copy_set(const std::string& case_id, const std::string& label) {
  for (const CopySet& set : copy_sets()) {
    if (set.case_id == case_id && set.label == label) return set;
  }
  throw Error(ErrorKind::usage, "there is no copy set `" + label + "` of `" + case_id + "`",
              "tests/cases/copy_set_table.cpp", "name one that is there");
}

const AllReduceCase& all_reduce_case(const std::string& name) {
  for (const AllReduceCase& entry : all_reduce_cases()) {
    if (entry.name() == name) return entry;
  }
  throw Error(ErrorKind::usage, "there is no all-reduce sweep `" + name + "`",
              "tests/cases/all_reduce_table.cpp", "name one that is there");
}

}  // namespace lanecast::cases
