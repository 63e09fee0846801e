#include <algorithm>
#include <cctype>
#include <memory>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/imported.hpp"
#include "cli/live_machine.hpp"
#include "cli/machine_input.hpp"
#include "cli/machine_options.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "configs/machine_paths.hpp"
#include "configs/problem_list.hpp"
#include "configs/profile_sets.hpp"
#include "configs/reading.hpp"
#include "model/advice/doctor.hpp"
#include "model/error.hpp"
#include "model/predict/warnings.hpp"
#include "model/topology/routes.hpp"
#include "reports/doctor_report.hpp"

namespace lanecast {
namespace {

struct DoctorOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> before;
  std::vector<std::string> sets;
  std::vector<std::string> only;
  std::string profile = "auto";
  std::string implementation = "nccl";
  bool no_cost = false;
  OutputOptions output;
};

/// The machine named by the command line; where none is named, the one that this runs on.
Machine examined_machine(const std::vector<std::string>& inputs, const Session& session) {
  if (!inputs.empty()) return told_machine_input(inputs, session);
  ImportedMachine live = live_machine("", session);
  tell_import(live, session);
  return std::move(live.machine);
}

/// Changes values; what is set by hand is no assumption any more.
void change(Machine& machine, const std::vector<std::string>& sets) {
  apply_sets(machine, machine_sets(sets));
  for (const std::string& set : sets) {
    const auto gone =
        std::remove(machine.assumed.begin(), machine.assumed.end(), set.substr(0, set.find('=')));
    machine.assumed.erase(gone, machine.assumed.end());
  }
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Leaves the findings of these checks. Every check has one at least.
void keep_only(std::vector<Finding>& findings, const std::vector<std::string>& only) {
  if (only.empty()) return;
  std::vector<std::string> codes, wanted;
  for (const Finding& finding : findings) codes.push_back(finding.code);
  for (const std::string& code : only) {
    wanted.push_back(upper(code));
    if (std::find(codes.begin(), codes.end(), wanted.back()) != codes.end()) continue;
    const std::string near = nearest(wanted.back(), codes);
    throw Error(
        ErrorKind::usage, "`" + printable(code) + "` is no check of `doctor`", "--only",
        near.empty() ? "`lanecast doctor` without --only names the checks" : "did you mean `" + near + "`?");
  }
  const auto unwanted = [&](const Finding& finding) {
    return std::find(wanted.begin(), wanted.end(), finding.code) == wanted.end();
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), unwanted), findings.end());
}

Implementation read_implementation(const std::string& name) {
  Implementation implementation = implementation_from_string(name);
  if (!implementation.own_cost_model) return implementation;
  throw Error(ErrorKind::usage, "costs are simulated, not NCCL's own estimates",
              "--implementation " + printable(name), "take `nccl`, a release of it, `rccl` or `lanecast`");
}

/// Findings stay without a cost where nothing can be simulated.
void price(std::vector<Finding>& findings, const Machine& machine, const Profile& profile,
           const Implementation& implementation, const Session& session) {
  if (!simulator_is_built_in()) {
    session.note("costs are left out: this lanecast was built without SimGrid");
    return;
  }
  const Predictor predictor = [&](const Machine& asked, const std::vector<Call>& calls) {
    return simulate_calls(asked, profile, implementation, calls, SimulationOptions());
  };
  try {
    add_costs(findings, machine, predictor);
    session.warn(prior_warnings(profile));
  } catch (const Error& error) {
    session.note("costs are left out, since a call cannot be predicted: " + std::string(error.what()));
  }
}

void throw_if_failed(const std::vector<Finding>& findings, const Machine& machine) {
  std::string failed;
  int count = 0;
  for (const Finding& finding : findings) {
    if (finding.status != FindingStatus::fail) continue;
    failed += (++count == 1 ? "" : ", ") + finding.code + " (" + printable(finding.where) + ")";
  }
  if (count == 0) return;
  throw Error(ErrorKind::check_failed,
              std::to_string(count) + (count == 1 ? " check" : " checks") + " failed: " + failed,
              "machine `" + printable(machine.name) + "`",
              "as the report says; `lanecast help CODE` explains each");
}

void run_doctor(const DoctorOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  DoctorInput input;
  input.implementation = read_implementation(options.implementation);
  input.machine = examined_machine(options.inputs, session);
  change(input.machine, options.sets);
  const ChosenProfile chosen =
      read_profile(options.profile, options.sets, input.machine, input.implementation, session);
  const Profile& profile = chosen.profile;
  if (!options.before.empty()) input.earlier = examined_machine(options.before, session);

  DoctorReport report;
  report.findings = examine(input);
  keep_only(report.findings, options.only);
  if (!options.no_cost) {
    session.warn(chosen.warnings);
    price(report.findings, input.machine, profile, input.implementation, session);
  }
  report.run = session.run_info(config_digest(input.machine));
  report.machine = input.machine.name;
  if (input.earlier) report.earlier = input.earlier->name;
  report.profile = profile.name;
  report.implementation = input.implementation.name();
  report.ranks = present_gpus(input.machine).size();
  write_output(options.output, doctor_text(report, format));
  throw_if_failed(report.findings, input.machine);
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doctor", "what is wrong with a machine, what it costs, how to mend it");
  const auto options = std::make_shared<DoctorOptions>();
  command->add_option(
      "MACHINE", options->inputs,
      "a machine file, a shipped machine, a one-line machine, or what a machine prints (several "
      "files merge); nothing: the machine that this runs on");
  command
      ->add_option("--before", options->before,
                   "an older dump of the same box: what has changed since (repeatable: files merge)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Checks");
  command->add_option("--only", options->only, "this check alone: LC-LINK-01 (repeatable)")
      ->type_name("CODE")
      ->allow_extra_args(false)
      ->group("Checks");
  command->add_flag("--no-cost", options->no_cost, "no simulation: findings without what they cost")
      ->group("Checks");
  command->add_option("--set", options->sets, "change one value first: links.gpu0.width=x8 (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--implementation", options->implementation,
                   "whose rules: nccl, nccl-2.28, rccl, lanecast")
      ->capture_default_str();
  add_profile_option(*command, options->profile);
  add_output_options(*command, options->output);
  command->footer(
      "Exit code 3 where a check fails.\n"
      "Examples:\n"
      "  lanecast doctor\n"
      "  lanecast doctor lspci.txt topo.txt\n"
      "  lanecast doctor rtxpro6000x8-2switch --set links.uplink0.rate=gen2\n"
      "  lanecast doctor now.yaml --before then.yaml --only LC-AER-01 --no-cost");
  command->callback([options, &session] { run_doctor(*options, session); });
}

}  // namespace lanecast
