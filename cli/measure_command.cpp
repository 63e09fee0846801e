#include <memory>

#include "cli/commands.hpp"
#include "cli/measure_options.hpp"
#include "cli/measure_request.hpp"
#include "cli/measure_run.hpp"
#include "cli/output.hpp"
#include "hw/rendezvous/launcher.hpp"
#include "reports/measure_report.hpp"

namespace lanecast {
namespace {

std::string count_text(std::uint64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Only rank 0 of a launcher writes.
bool writes() {
  const std::optional<LaunchedRank> launched = launched_rank();
  return !launched || launched->rank == 0;
}

void print_plan(const MeasureRequest& request, const MeasureOptions& options, const Session& session) {
  if (!writes()) return;
  const Format format = checked_output(options.output);
  const MeasurePlan& plan = request.plan;
  const std::vector<PlannedRun> runs = planned_runs(plan);
  std::vector<std::string> head{"plan of `" + session.command_line() + "`, nothing was measured",
                                count_text(static_cast<std::uint64_t>(plan.ranks), "rank") + " as " +
                                    options.ranks_as + ", " + count_text(runs.size(), "row") +
                                    " in each of " +
                                    count_text(static_cast<std::uint64_t>(plan.sessions), "session")};
  if (request.suite) {
    for (const std::string& line : planned_micro(*request.suite, plan.ranks)) head.push_back(line);
  }
  write_output(options.output, planned_text(session.run_info(""), head, runs, plan.ranks, format));
}

void run_measure(const MeasureOptions& options, const Session& session) {
  const std::optional<int> asked = asked_ranks(options);
  // Before any GPU is asked for, so that a slip is told as such everywhere.
  const MeasureRequest likely = read_measure_request(options, asked);
  if (writes()) checked_outputs(options);
  check_launcher(asked, likely.ranks_as);
  if (options.dry_run && asked) {
    print_plan(likely, options, session);
    return;
  }
  const int ranks = number_of_ranks(asked);
  const MeasureRequest request = asked ? likely : read_measure_request(options, ranks);
  if (options.dry_run) {
    print_plan(request, options, session);
  } else {
    run_measurement(request, options, session);
  }
}

}  // namespace

void add_measure_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("measure", "measure collectives of the engine on this machine's GPUs");
  const auto options = std::make_shared<MeasureOptions>();
  add_measure_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  lanecast measure -g 2 -b 1K -e 256M -f 4\n"
      "  lanecast measure -g 2 --protocol all --transport p2p,shm -J box.json\n"
      "  lanecast measure -g 4 --ranks-as threads --devices 0,0,0,0 --datatype all --op all -e 1M\n"
      "  lanecast measure --suite full --sessions 3 -J calibration.json\n"
      "  mpirun -np 8 lanecast measure -b 1M -e 1G\n"
      "docs/measure.md explains columns, keys, checks and launchers.");
  command->callback([options, &session] { run_measure(*options, session); });
}

}  // namespace lanecast
