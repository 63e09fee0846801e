#include "hw/measure/micro.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <set>

#include "hw/measure/micro_benchmarks.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

MicroEffort effort_of(Suite suite) {
  return suite == Suite::quick ? MicroEffort{3, Seconds(1e-3)} : MicroEffort{9, Seconds(2e-3)};
}

std::vector<MicroFinding> measure(const MicroPoint& point, const MicroMachine& machine,
                                  const MicroEffort& effort) {
  switch (point.kind) {
    case MicroKind::sm_rate:
      return measure_sm_rates(point, machine, effort);
    case MicroKind::engine_rate:
      return measure_engine_rates(point, machine, effort);
    case MicroKind::ll_flight:
    case MicroKind::ll128_flight:
    case MicroKind::flag_flight:
      return measure_flights(point, machine, effort);
    case MicroKind::fence:
      return measure_fences(point, machine, effort);
    case MicroKind::sm_pipeline:
      return measure_sm_pipelines(point, machine, effort);
    case MicroKind::engine_graph:
    case MicroKind::engine_pipeline:
      return measure_engine_pipelines(point, machine, effort);
    default:
      return measure_launches(point, machine, effort);
  }
}

struct Middle {
  double median = 0;
  double spread = 0;
};

/// @param values  one at least
Middle middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, median > 0 ? (values.back() - values.front()) / median : 0};
}

MicroResult result_of(const MicroPoint& point, const MicroFlow& flow, const MicroFinding& finding,
                      int session) {
  MicroResult result;
  result.name = point.name;
  result.source = memory_name(flow.source);
  result.destination = memory_name(flow.destination);
  result.threads = point.threads;
  result.blocks = point.blocks;
  result.size = point.size;
  result.session = session;
  if (point.kernels > 0) result.iterations = point.kernels;
  if (point.slots > 0) result.iterations = point.slots;
  result.repeats = static_cast<int>(std::max(finding.rates.size(), finding.times.size()));
  std::vector<double> values;
  for (const Seconds time : finding.times) values.push_back(1e6 * time.value());
  if (!values.empty()) {
    const Middle middle = middle_of(values);
    result.us = middle.median;
    result.spread = middle.spread;
  }
  values.clear();
  for (const BytesPerSecond rate : finding.rates) values.push_back(1e-9 * rate.value());
  if (!values.empty()) {
    const Middle middle = middle_of(values);
    result.GBps = middle.median;
    result.spread = middle.spread;
  }
  return result;
}

std::string described(const MicroPoint& point) {
  std::string text = "micro-benchmark `" + point.name + "`";
  for (const MicroFlow& flow : point.flows) {
    text += ", " + memory_name(flow.source) + " to " + memory_name(flow.destination);
  }
  if (point.threads > 0) {
    text += ", " + std::to_string(point.blocks) + " x " + std::to_string(point.threads) + " threads";
  }
  return text + ", " + std::to_string(point.size.value()) + " B";
}

std::vector<MicroFinding> measure_named(const MicroPoint& point, const MicroMachine& machine,
                                        const MicroEffort& effort) {
  try {
    return measure(point, machine, effort);
  } catch (const Error& error) {
    throw Error(error.kind(), described(point) + ": " + error.what());
  }
}

/// An idle GPU runs at a low clock, and its link at a low rate.
void warm_up(const MicroMachine& machine, const std::vector<int>& devices) {
  MicroPoint point;
  point.name = "warm-up";
  point.threads = 512;
  point.blocks = 16;
  point.size = Bytes(std::uint64_t{32} << 20);
  for (const int device : devices) point.flows.push_back({device, kHostMemory, device, SmWork::copy});
  measure_named(point, machine, {2, Seconds(100e-3)});
}

}  // namespace

MicroGpus micro_gpus(const std::vector<int>& devices) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // the runtime keeps it for the next caller, else
    count = 0;
  }
  MicroGpus gpus;
  for (const int device : devices) {
    if (device < 0 || device >= count) {
      throw Error(ErrorKind::no_hardware, "there is no GPU " + std::to_string(device),
                  "this machine, where CUDA shows " + std::to_string(count) + " GPUs",
                  "name GPUs that `nvidia-smi -L` lists and CUDA_VISIBLE_DEVICES doesn't hide");
    }
    std::vector<bool> row;
    for (const int other : devices) {
      int access = 0;
      const bool asked = cudaDeviceCanAccessPeer(&access, device, other) == cudaSuccess;
      row.push_back(asked && access != 0 && other != device);
    }
    gpus.access.push_back(row);
  }
  if (std::set<int>(devices.begin(), devices.end()).size() != devices.size()) {
    throw Error(ErrorKind::usage, "a GPU is named twice for the micro-benchmarks", "", "name each GPU once");
  }
  if (devices.empty()) {
    throw Error(ErrorKind::usage, "no GPU is named for the micro-benchmarks", "", "name one at least");
  }
  gpus.devices = devices;
  return gpus;
}

std::vector<MicroResult> run_micro(const MicroPlan& plan,
                                   const std::function<void(const MicroResult&)>& each) {
  const MicroGpus gpus = micro_gpus(plan.devices);
  const std::vector<MicroPoint> points = micro_points(plan.suite, gpus);
  std::vector<MicroResult> results;
  const auto keep = [&](const MicroResult& result) {
    results.push_back(result);
    if (each) each(result);
  };
  const MicroMachine machine(gpus);
  warm_up(machine, gpus.devices);
  const MicroEffort effort = effort_of(plan.suite);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (plan.stop && plan.stop()) break;
    if (plan.progress) plan.progress({i, points.size(), points[i].name});
    const auto findings = measure_named(points[i], machine, effort);
    for (std::size_t f = 0; f < findings.size(); ++f) {
      keep(result_of(points[i], points[i].flows[f], findings[f], plan.session));
    }
  }
  for (const MicroResult& result : derived_results(results)) keep(result);
  return results;
}

}  // namespace lanecast
