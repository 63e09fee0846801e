#pragma once
#include <string>

namespace lanecast {

/// A profile with one of everything, as a person would write it.
inline std::string profile_example() {
  return R"(lanecast_profile: 1
profile: box
description: "one of everything"
gpus: ["H200", "NVIDIA H100 80GB HBM3"]
implementations:
  nccl:
    date: "2026-11-30"
    command: "lanecast calibrate a.csv --machine box"
    sources:
      - {file: a.csv, machine: box, rows: 40, digest: "00ff"}
    holdout:
      - {kind: all, how: "channels=2", rows: 9, median_abs_error: 0.02, p95_abs_error: 0.08, coverage: 0.9}
    range:
      ranks_from: 2
      ranks_to: 4
      size_from: 1 KiB
      size_to: 1 GiB
      channels_from: 1
      channels_to: 32
      kinds: ["ring/simple/p2p-nvlink"]
      links: [nvlink]
      launches: [graph]
      collectives: [all_reduce]
    parameters:
      gpu.base_generic: {value: 7.5, unit: us, low: 7.25, high: 7.75}
      gpu.channel_spread: {value: 0.0625, low: 0.05, high: 0.07, note: "from two sweeps"}
      latency.gpu: {value: 560, unit: ns, low: 450, high: 650, determined: false, note: "not seen"}
      pcie.dllp_share: {value: 0.03125, source: "data sheet"}
    covariance:
      names: [gpu.base_generic, gpu.channel_spread]
      rows:
        - [0.25]
        - [-0.125, 0.5]
    spread:
      - {protocol: ll, transport: shm, from: 1 KiB, to: 1 MiB, spread: 0.03, rows: 20, held_out: true}
  lanecast: {}
)";
}

}  // namespace lanecast
