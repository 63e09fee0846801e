#include "tests/bench/timed_child.hpp"

#include <chrono>
#include <cstring>
#include <ctime>
#include <string>

#include "sim/run_isolated.hpp"

namespace lanecast::bench {

Timed time_in_child(const std::function<ScheduleSimulation()>& work) {
  const auto answers = run_isolated(1, 1, [&](std::size_t) {
    const std::clock_t cpu_begin = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    const ScheduleSimulation simulation = work();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
    const Timed timed{Seconds(wall.count()), Seconds(cpu_seconds), simulation.time, simulation.folded};
    return std::string(reinterpret_cast<const char*>(&timed), sizeof timed);
  });
  Timed timed;
  std::memcpy(&timed, answers.front().data(), sizeof timed);
  return timed;
}

}  // namespace lanecast::bench
