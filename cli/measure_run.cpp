#include "cli/measure_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "cli/measure_collectives.hpp"
#include "cli/measure_facts.hpp"
#include "cli/measure_record.hpp"
#include "cli/stop_signal.hpp"
#include "hw/measure/micro.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::chrono::minutes kLongestSuite{10};  // of one session

/// Before CUDA starts. Ranks may share a GPU, as threads even a context: a kernel that is loaded at its first
/// launch, or a stream that shares a hardware queue, would wait for another rank's kernel, which waits for
/// it.
void prepare_cuda() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

CudaDevices found_gpus() {
  prepare_cuda();
  CudaDevices cuda = discover_cuda_devices();
  if (!cuda.devices.empty()) return cuda;
  throw Error(ErrorKind::no_hardware, "there is no GPU to measure with",
              cuda.problem.empty() ? "CUDA" : cuda.problem,
              "run it where NVIDIA's driver and a GPU are; `--dry-run -g 2` shows a plan anywhere");
}

/// GPU of each rank: as asked, or one after the other and round again.
std::vector<int> devices_of(const MeasureRequest& request, const CudaDevices& cuda) {
  const int gpus = static_cast<int>(cuda.devices.size());
  std::vector<int> devices = request.devices;
  for (const int device : devices) {
    if (device < gpus) continue;
    throw Error(ErrorKind::usage, "there is no GPU " + std::to_string(device), "--devices",
                "CUDA shows " + std::to_string(gpus) + " here, counted from 0");
  }
  for (int rank = 0; devices.size() < static_cast<std::size_t>(request.plan.ranks); ++rank)
    devices.push_back(rank % gpus);
  return devices;
}

/// Where a launcher started a single process (a shell within a job), it does not start the ranks.
std::optional<LaunchedRank> launched_ranks() {
  std::optional<LaunchedRank> launched = launched_rank();
  if (launched && launched->ranks == 1 && launched->launcher != "lanecast") launched.reset();
  return launched;
}

void note_shared_gpus(const Communicator& communicator, RanksAs ranks_as, const Session& session) {
  std::set<std::string> distinct;
  for (const RankDevice& device : communicator.devices()) distinct.insert(device.bus_id);
  if (distinct.size() == communicator.devices().size()) return;
  session.note(ranks_as == RanksAs::threads
                   ? "ranks share a GPU: what they measure is its memory, no link between GPUs"
                   : "ranks share a GPU, which takes turns between processes: results can be checked, times "
                     "mean nothing (--ranks-as threads lets them run side by side)");
}

MicroRow row_of(const MicroResult& result) {
  return {result.name, result.source, result.destination, result.threads,    result.blocks,  result.size,
          result.GBps, result.us,     result.session,     result.iterations, result.repeats, result.spread};
}

void run_suite(const MeasuringJob& job, MeasureRecord& record) {
  const std::set<int> distinct(job.devices.begin(), job.devices.end());
  std::vector<MicroResult> results;
  for (int session = 1; session <= job.request.plan.sessions && !StopSignal::came(); ++session) {
    MicroPlan plan;
    plan.devices.assign(distinct.begin(), distinct.end());
    plan.suite = *suite_from_string(*job.request.suite);
    plan.session = session;
    plan.stop = &StopSignal::came;
    plan.progress = [&](const MicroProgress& progress) {
      record.progress("micro-benchmarks " + std::to_string(progress.done) + "/" +
                      std::to_string(progress.points) + ": " + progress.name);
    };
    const auto each = [&](const MicroResult& result) {
      results.push_back(result);
      record.add(row_of(result));
    };
    run_micro(plan, each);
  }
  for (const MicroResult& result : derived_results(results)) record.add(row_of(result));
}

std::string progress_text(const Call& call, int session) {
  return std::string(to_string(call.collective)) + " " + std::to_string(call.size.value()) + " B " +
         to_string(call.datatype) + (call.in_place ? ", in place" : ", out of place") + ", session " +
         std::to_string(session);
}

/// How each two ranks reach each other, once a line.
void add_paths(const Communicator& communicator, MeasuredMachine& machine) {
  for (int from = 0; from < communicator.ranks(); ++from) {
    for (int to = 0; to < communicator.ranks(); ++to) {
      if (from == to) continue;
      const std::string reason = communicator.path_reason(from, to);
      const std::string line = "rank " + std::to_string(from) + " to rank " + std::to_string(to) + ": " +
                               communicator.path(from, to) + (reason.empty() ? "" : " (" + reason + ")");
      if (std::find(machine.paths.begin(), machine.paths.end(), line) == machine.paths.end())
        machine.paths.push_back(line);
    }
  }
}

SweepEvents recording(const MeasuringJob& job, MeasureRecord& record, GpuWatch& watch,
                      const Session& session) {
  SweepEvents events;
  events.opened = [&, first = true](const Communicator& communicator) mutable {
    add_paths(communicator, record.report().machine);
    if (first) note_shared_gpus(communicator, job.request.ranks_as, session);
    first = false;
  };
  events.begins = [&](const Call& call, int number) { record.progress(progress_text(call, number)); };
  events.measured = [&](const MeasuredRun& run) { record.add(run); };
  events.left_out = [&](const std::string& reason) {
    record.left_out(reason);
    session.detail("left out: " + reason);
  };
  events.under_load = [&] { watch.look(); };
  events.stop = &StopSignal::came;
  return events;
}

/// All ranks of a launcher wait here until rank 0 has run its micro-benchmarks.
void wait_for_suite(const MeasuringJob& job) {
  const bool others =
      job.launched && job.launched->launcher != "lanecast";  // own ranks are started behind it
  if (!others || !job.request.suite || job.request.plan.groups.empty()) return;
  MeetingPoint point;
  point.name = job.launched->job + "-suite";
  point.rank = job.launched->rank;
  point.ranks = job.launched->ranks;
  point.timeout = kLongestSuite * job.request.plan.sessions;
  meet(point)->leave();
}

SweepEnd run_collectives(const MeasuringJob& job, const SweepEvents& events, const Session& session) {
  if (job.request.ranks_as == RanksAs::threads) return sweep_by_threads(job, events, session);
  if (job.launched) return sweep_as_rank(job, *job.launched, events);
  return sweep_by_processes(job, events, session);
}

void run_all(const MeasuringJob& job, MeasureRecord& record, GpuWatch& watch, const Session& session) {
  if (job.request.suite) run_suite(job, record);
  wait_for_suite(job);
  if (job.request.plan.groups.empty() || (StopSignal::came() && !job.launched)) return;
  run_collectives(job, recording(job, record, watch, session), session);
}

/// The result's head.
void describe(const MeasuringJob& job, const MeasureOptions& options, const CudaDevices& cuda,
              const Session& session, MeasureRecord& record) {
  MeasureReport& report = record.report();
  report.run = session.run_info("");
  report.machine = measured_machine(cuda, record.wants_all_facts(), session);
  report.ranks = job.request.plan.ranks;
  report.ranks_as = options.ranks_as;
  report.devices = job.devices;
  report.launch = job.request.plan.timing.graph ? Launch::graph : Launch::stream;
}

std::vector<std::string> bus_ids_of(const MeasuringJob& job, const CudaDevices& cuda) {
  std::vector<std::string> bus_ids;
  for (const int device : std::set<int>(job.devices.begin(), job.devices.end()))
    bus_ids.push_back(cuda.devices[static_cast<std::size_t>(device)].bus_id);
  return bus_ids;
}

/// The error that ended the measurement is the one to tell.
void write_what_there_is(MeasureRecord& record, const std::string& ended, const Session& session) {
  try {
    record.finish(ended);
  } catch (const std::exception& error) {
    session.error(error.what());
  }
}

/// @throws Error  kind check_failed: wrong elements; kind usage: no call at all could be run
void judge(const MeasureReport& report) {
  if (report.runs.empty() && !report.left_out.empty()) throw Error(ErrorKind::usage, report.left_out.front());
  const std::uint64_t wrong = wrong_elements(report);
  if (wrong == 0) return;
  throw Error(ErrorKind::check_failed, std::to_string(wrong) + " elements are wrong",
              "the column `#wrong`, and the notes above",
              "please report it with the command line and the notes");
}

/// Rank 0, or all of them as threads: measures, writes, and then says what went wrong.
void measure_and_write(const MeasuringJob& job, const MeasureOptions& options, const CudaDevices& cuda,
                       const Session& session) {
  const auto rows = job.request.plan.rows() * static_cast<std::uint64_t>(job.request.plan.sessions);
  MeasureRecord record(options, session, rows);
  if (job.request.plan.timing.checks == 0) session.note("-c 0: results are not checked");
  GpuWatch watch(bus_ids_of(job, cuda));
  describe(job, options, cuda, session, record);
  const StopSignal stop;
  record.begin();
  try {
    run_all(job, record, watch, session);
  } catch (const std::exception& error) {
    add_states(watch.states(), record.report().machine);
    write_what_there_is(record, error.what(), session);
    throw;
  }
  add_states(watch.states(), record.report().machine);
  const std::string stopped = StopSignal::came() ? "stopped by " + StopSignal::name() : "";
  record.finish(stopped);
  if (!stopped.empty()) {
    throw Error(ErrorKind::runtime,
                stopped + " after " + std::to_string(record.report().runs.size()) + " rows",
                "lanecast measure", "what was measured is written; start it again for the rest");
  }
  judge(record.report());
}

}  // namespace

void check_launcher(std::optional<int> asked, RanksAs ranks_as) {
  const std::optional<LaunchedRank> launched = launched_ranks();
  if (!launched) return;
  const std::string started =
      launched->launcher + " has started " + std::to_string(launched->ranks) + " ranks";
  if (asked && *asked != launched->ranks) {
    throw Error(ErrorKind::usage, started + ", -g or --devices asks for " + std::to_string(*asked),
                "-g, --devices", "leave both out where a launcher starts the ranks, or name as many");
  }
  if (launched->ranks > kMostEngineRanks) {
    throw Error(ErrorKind::usage, started, launched->launcher,
                "the engine takes at most " + std::to_string(kMostEngineRanks));
  }
  if (ranks_as == RanksAs::threads) {
    throw Error(ErrorKind::usage, started + " as processes", "--ranks-as threads",
                "start `lanecast measure` without a launcher, or leave the flag out");
  }
}

int number_of_ranks(std::optional<int> asked) {
  const std::optional<LaunchedRank> launched = launched_ranks();
  if (launched) return launched->ranks;
  return asked ? *asked
               : static_cast<int>(std::min<std::size_t>(found_gpus().devices.size(), kMostEngineRanks));
}

void run_measurement(const MeasureRequest& request, const MeasureOptions& options, const Session& session) {
  const CudaDevices cuda = found_gpus();
  MeasuringJob job{request, devices_of(request, cuda), launched_ranks()};
  if (!job.launched || job.launched->rank == 0) return measure_and_write(job, options, cuda, session);
  const StopSignal stop;
  wait_for_suite(job);
  if (request.plan.groups.empty()) return;
  SweepEvents events;
  events.stop = &StopSignal::came;
  try {
    sweep_as_rank(job, *job.launched, events);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) return;  // all ranks have the same, and rank 0 says so
    throw Error(error.kind(), "rank " + std::to_string(job.launched->rank) + ": " + error.what());
  }
}

std::vector<std::string> planned_micro(const std::string& suite, int gpus) {
  MicroGpus all;
  for (int i = 0; i < gpus; ++i) all.devices.push_back(i);
  all.access.assign(all.devices.size(), std::vector<bool>(all.devices.size(), true));
  std::map<std::string, int> points;
  for (const MicroPoint& point : micro_points(*suite_from_string(suite), all)) ++points[point.name];
  std::vector<std::string> lines;
  for (const auto& [name, count] : points)
    lines.push_back("micro-benchmark " + name + ": " + std::to_string(count) +
                    (count == 1 ? " point" : " points"));
  return lines;
}

}  // namespace lanecast
