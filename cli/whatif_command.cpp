#include <memory>
#include <set>
#include <utility>

#include "cli/case_options.hpp"
#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "reports/prediction_report.hpp"
#include "reports/what_if_report.hpp"

namespace lanecast {
namespace {

struct WhatIfOptions {
  SituationOptions situation;  // without `--set`
  std::vector<std::string> sets;
  std::vector<std::string> cases;
  bool rank_links = false;
  OutputOptions output;
};

constexpr const char* kBaseline = "baseline";
constexpr const char* kOfSets = "changed";  // the case that all `--set` make together

/// The cases as typed, those of `--set` first. Each name once.
std::vector<TypedCase> typed_cases(const WhatIfOptions& options) {
  std::vector<TypedCase> cases;
  if (!options.sets.empty()) cases.push_back({kOfSets, options.sets});
  for (const std::string& text : options.cases) cases.push_back(read_case(text));
  std::set<std::string> names{kBaseline};
  for (const TypedCase& one : cases) {
    if (names.insert(one.name).second) continue;
    throw Error(
        ErrorKind::usage, "there is a case `" + printable(one.name) + "` already", "--case",
        "give each case a name of its own; `baseline` is the machine as it is, `changed` what all --set "
        "make together");
  }
  if (cases.empty() && !options.rank_links) {
    throw Error(ErrorKind::usage, "nothing is asked", "whatif",
                "say what changes, with --set PATH=VALUE or --case NAME:PATH=VALUE, or take --rank-links");
  }
  return cases;
}

/// What has been said for the baseline need not be said for each case.
Session silent(const Session& session) {
  Session quiet = session;
  quiet.quiet = true;
  return quiet;
}

/// All situations, or all that is wrong with any of them.
std::vector<Situation> situations(const std::vector<TypedCase>& cases, const WhatIfOptions& options,
                                  const Machine& machine, const Session& session) {
  std::vector<Situation> made;
  std::string problems;
  const Session quiet = silent(session);
  for (const TypedCase& one : cases) {
    try {
      made.push_back(situation_on(machine, with_sets(options.situation, one.sets), quiet));
      if (made.back().implementation.own_cost_model) {
        throw Error(ErrorKind::usage, "NCCL's own estimates have no causes", "--implementation",
                    "take `nccl`, a release of it, `rccl` or `lanecast`");
      }
      open_communicator(made.back().machine, made.back().implementation, made.back().calls.front());
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\nerror: ") + std::string(error.what()) + "\n  for case `" +
                  printable(one.name) + "`";
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
  return made;
}

WhatIfCase predicted(const TypedCase& typed, const Situation& situation) {
  WhatIfCase made;
  made.name = typed.name;
  for (const std::string& set : typed.sets) made.sets.push_back(path_and_value(set));
  made.ranks = situation.ranks;
  made.predictions = predict_situation(situation);
  return made;
}

void check_baseline(const Situation& baseline) {
  if (baseline.implementation.own_cost_model) {
    throw Error(ErrorKind::usage, "causes are simulated, not NCCL's own estimates", "--implementation",
                "take `nccl`, a release of it, `rccl` or `lanecast`");
  }
}

void run_whatif(const WhatIfOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const std::vector<TypedCase> typed = typed_cases(options);
  Situation baseline = read_situation(options.situation, session);
  check_baseline(baseline);
  std::vector<Situation> changed = situations(typed, options, baseline.machine, session);
  require_simulator();
  std::vector<Situation*> all{&baseline};
  for (Situation& situation : changed) all.push_back(&situation);
  share_sizes(all, options.situation.sweep);
  baseline.simulation.shares = true;
  WhatIfReport report;
  report.cases.push_back(predicted({kBaseline, {}}, baseline));
  for (std::size_t i = 0; i < typed.size(); ++i) {
    changed[i].simulation.shares = true;
    report.cases.push_back(predicted(typed[i], changed[i]));
  }
  if (options.rank_links) {
    report.links = rank_links(baseline.machine, baseline.calls, report.cases.front().predictions,
                              predictor_of(baseline));
  }
  report.run = session.run_info(config_digest(baseline.machine));
  report.machine = baseline.machine.name;
  report.profile = baseline.profile().name;
  report.implementation = baseline.implementation.name();
  report.seed = baseline.simulation.seed;
  session.warn(all_warnings(report));
  write_output(options.output, what_if_text(report, format));
}

}  // namespace

void add_whatif_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("whatif", "before and after a change, and why");
  const auto options = std::make_shared<WhatIfOptions>();
  add_situation_options(*command, options->situation);
  command
      ->add_option("--set", options->sets,
                   "a change, all of them together one case: links.gpu0.width=x8, call.protocol=ll, "
                   "env.NCCL_P2P_LEVEL=SYS, profile.duplex.host=0.1 (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group("Changes");
  command->add_option("--case", options->cases, "a case of its own beside the others (repeatable)")
      ->type_name("NAME:PATH=VALUE[,PATH=VALUE]")
      ->allow_extra_args(false)
      ->group("Changes");
  command
      ->add_flag("--rank-links", options->rank_links,
                 "one step worse and better for each link: which hurts most, which upgrade gains most")
      ->group("Changes");
  add_output_options(*command, options->output);
  command->footer(
      "Examples:\n"
      "  lanecast whatif v100x2-pcie3-switch --set links.gpu1.width=x8 -b 1M -e 256M -f 16\n"
      "  lanecast whatif rtxpro6000x8-2switch --case gen4:links.uplink0.rate=gen4 "
      "--case acs:switches.sw0.acs=on -b 256M -e 256M\n"
      "  lanecast whatif l40sx4 --case ll:call.protocol=ll --case simple:call.protocol=simple -b 1K -e 1M -f "
      "4\n"
      "  lanecast whatif box.yaml --case level:env.NCCL_P2P_LEVEL=SYS --case 8:call.channels=8\n"
      "  lanecast whatif a100x8-pcie4-shared-port --rank-links -b 256M -e 256M");
  command->callback([options, &session] { run_whatif(*options, session); });
}

}  // namespace lanecast
