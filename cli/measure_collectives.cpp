#include "cli/measure_collectives.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>

#include "cli/measure_ranks.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::chrono::milliseconds kBeyondEngine{60'000};  // which waits 3 time-outs and 30 s for a stream
constexpr std::chrono::milliseconds kToClose{5'000};        // beyond the engine's time-out

/// Runs a rank from its device on. Others learn at once that it gives up.
SweepEnd run_rank(const MeasurePlan& plan, Exchange& control, int cuda_device,
                  const std::function<std::unique_ptr<Exchange>(int)>& open_exchange,
                  const SweepEvents& events) {
  try {
    const std::unique_ptr<EngineDevice> device = open_cuda_device(cuda_device);
    MeasuringRank rank{control, *device, cuda_device, open_exchange};
    const SweepEnd end = run_sweep(plan, rank, events);
    control.leave();
    return end;
  } catch (const std::exception& error) {
    control.give_up(error.what());
    throw;
  }
}

SweepEvents only_stop(const SweepEvents& events) {
  SweepEvents fewer;
  fewer.stop = events.stop;
  return fewer;
}

/// The threads' exchanges: made before the threads, since all ranks of one share a state.
using ExchangesByRank = std::vector<std::unique_ptr<Exchange>>;

/// Rethrows the first rank's error.
void rethrow(const std::vector<std::exception_ptr>& problems, const Session& session) {
  std::exception_ptr first;
  std::string first_text;
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (!problems[rank]) continue;
    std::string text;
    try {
      std::rethrow_exception(problems[rank]);
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (!first) {
      first = problems[rank];
      first_text = text;
    } else if (text != first_text) {
      session.note("rank " + std::to_string(rank) + ": " + text);
    }
  }
  if (first) std::rethrow_exception(first);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

}  // namespace

std::chrono::milliseconds patience(const MeasureRequest& request) {
  return 3 * request.timeout + kBeyondEngine;
}

SweepEnd sweep_by_threads(const MeasuringJob& job, const SweepEvents& events, const Session& session) {
  const MeasurePlan& plan = job.request.plan;
  const std::size_t ranks = job.devices.size();
  ExchangesByRank control = thread_exchanges(plan.ranks, patience(job.request));
  std::vector<ExchangesByRank> exchanges;
  for (std::size_t i = 0; i < plan.groups.size() * static_cast<std::size_t>(plan.sessions); ++i)
    exchanges.push_back(thread_exchanges(plan.ranks, patience(job.request)));
  std::vector<std::exception_ptr> problems(ranks);
  std::vector<SweepEnd> ends(ranks, SweepEnd::stopped);
  const SweepEvents others = only_stop(events);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto open = [&](int n) { return std::move(exchanges[static_cast<std::size_t>(n)][rank]); };
        ends[rank] = run_rank(plan, *control[rank], job.devices[rank], open, rank == 0 ? events : others);
      } catch (...) {
        problems[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  rethrow(problems, session);
  return ends.front();
}

SweepEnd sweep_as_rank(const MeasuringJob& job, const LaunchedRank& rank, const SweepEvents& events) {
  MeetingPoint point;
  point.rank = rank.rank;
  point.ranks = rank.ranks;
  point.timeout = patience(job.request);
  const auto open = [&](const std::string& name) {
    point.name = rank.job + "-" + name;
    return meet(point);
  };
  const std::unique_ptr<Exchange> control = open("ranks");
  const int device = job.devices.at(static_cast<std::size_t>(rank.rank));
  return run_rank(
      job.request.plan, *control, device, [&](int n) { return open(std::to_string(n)); }, events);
}

SweepEnd sweep_by_processes(const MeasuringJob& job, const SweepEvents& events, const Session& session) {
  LaunchedRank own;
  own.ranks = job.request.plan.ranks;
  own.launcher = "lanecast";
  own.job = new_job_name();
  StartedRanks started({"/proc/self/exe", session.words, own.job, own.ranks});
  const auto finish = [&] { return joined(started.finish(job.request.timeout + kToClose)); };
  SweepEnd end = SweepEnd::stopped;
  try {
    end = sweep_as_rank(job, own, events);
  } catch (const Error& error) {
    const std::string problems = finish();
    throw Error(error.kind(), error.what() + (problems.empty() ? "" : "\n  ranks: " + problems));
  }
  const std::string problems = finish();
  if (problems.empty()) return end;
  throw Error(ErrorKind::runtime, problems, "the ranks' processes", "their own messages say what happened");
}

}  // namespace lanecast
