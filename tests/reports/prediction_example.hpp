#pragma once
#include "reports/prediction_report.hpp"

namespace lanecast {

/// Two sizes of an all-reduce over GPUs 0, 1 and 3. 1 MiB in 100 us is 10.48576 GB/s of algbw.
inline PredictionReport example_report() {
  Prediction p;
  p.call.size = Bytes(1 << 20);
  p.time = Seconds(100e-6);
  p.time_low = Seconds(80e-6);
  p.time_high = Seconds(130e-6);
  p.protocol = Protocol::ll128;
  p.transport = "mixed";
  p.channels = 2;
  p.threads = 512;
  p.chunk = Bytes(1 << 19);
  p.buffsize = Bytes(1 << 22);
  p.ring_order = {0, 3, 1};
  p.folded = true;
  p.bottleneck = Bottleneck{"memory cpu0", "both", 0.75};
  p.limit_busbw = BytesPerSecond(20e9);
  p.busbw_factor = 4.0 / 3.0;
  p.warnings = {{"LC-LINK-01", "link `gpu0` runs slow"}, {"LC-PROFILE-01", "priors"}};

  PredictionReport report;
  report.run = {"1.2.3", "abc", "lanecast predict 'my box'", "node1", "00ff"};
  report.machine = "box";
  report.profile = "generic";
  report.implementation = "nccl-2.30";
  report.gpus = {0, 1, 3};
  report.seed = 7;
  report.predictions = {p, p};
  report.predictions[1].call.size = Bytes(2 << 20);
  report.predictions[1].time = Seconds(190e-6);
  return report;
}

}  // namespace lanecast
