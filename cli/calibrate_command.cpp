#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "calibrate/validation.hpp"
#include "cli/calibrate_options.hpp"
#include "cli/calibration_problem.hpp"
#include "cli/calibration_result.hpp"
#include "cli/commands.hpp"
#include "cli/compare_options.hpp"
#include "cli/config_digest.hpp"
#include "cli/machine_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"
#include "configs/measured/read_measured.hpp"
#include "configs/profile_reader.hpp"
#include "configs/profile_writer.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "reports/calibration_report.hpp"

namespace lanecast {
namespace {

constexpr int kMostDraws = 100'000;
constexpr std::size_t kVerified = 24;  // calls that SimGrid checks

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int read_draws(const std::string& text, const std::string& flag) {
  return static_cast<int>(read_integer(text, flag, 0, kMostDraws));
}

FitOptions read_fit_options(const CalibrateOptions& options) {
  FitOptions fit;
  fit.threads = static_cast<int>(read_integer(options.jobs, "--jobs", 0, 4096));
  fit.starts = static_cast<int>(read_integer(options.starts, "--starts", 1, 1000));
  fit.seed = read_seed(options.seed, "--seed");
  return fit;
}

/// `--hold NAME` and `--hold NAME=VALUE`: parameters that keep the start's value, or this one.
void hold_parameters(const CalibrateOptions& options, Profile& start, FitOptions& fit) {
  for (const std::string& text : options.hold) {
    const std::size_t equals = text.find('=');
    const auto parameter = parameter_from_name(text.substr(0, equals));
    if (!parameter) {
      throw Error(ErrorKind::usage, "there is no parameter `" + printable(text.substr(0, equals)) + "`",
                  "--hold " + printable(text), "docs/model.md lists them all");
    }
    fit.held.push_back(*parameter);
    if (equals == std::string::npos) continue;
    const Reading<double> value = parse_number(text.substr(equals + 1));
    if (!value) {
      throw Error(ErrorKind::usage, "`" + printable(text.substr(equals + 1)) + "` is no number",
                  "--hold " + printable(text), "write a value in the parameter's own unit");
    }
    start.set(*parameter, *value.value, "held");
  }
}

/// Groups of configurations that are held out, and what to call that; nothing where nothing was asked for.
struct HoldoutPlan {
  std::string title;
  std::vector<std::vector<std::size_t>> groups;
};

HoldoutPlan folds_plan(const CalibrateOptions& options, const FitData& data, std::uint64_t seed) {
  const std::size_t all = data.configurations.size();
  const bool each = options.folds == "all";
  const int folds = each ? static_cast<int>(all) : read_draws(options.folds, "--folds");
  if (folds == 0) return {};
  if (folds < 2 || all < 2) {
    throw Error(ErrorKind::usage,
                "cross-validation needs two folds and two configurations; there are " + std::to_string(all),
                "--folds " + printable(options.folds), "measure more, or leave it out");
  }
  const std::string title = each || static_cast<std::size_t>(folds) >= all
                                ? "one configuration at a time"
                                : std::to_string(folds) + " folds of configurations";
  return {title, folds_of(all, folds, seed)};
}

/// Configurations of which any call has one of the values.
std::vector<std::size_t> configurations_with(const CalibrationProblem& problem, const CallFilter& filter) {
  std::vector<bool> held(problem.data().configurations.size(), false);
  for (std::size_t i = 0; i < problem.about().size(); ++i) {
    const auto& about = problem.about()[i];
    if (about.call && filter.passes(about.keys, false))
      held[problem.data().observations[i].configuration] = true;
  }
  std::vector<std::size_t> numbers;
  for (std::size_t c = 0; c < held.size(); ++c) {
    if (held[c]) numbers.push_back(c);
  }
  return numbers;
}

HoldoutPlan holdout_plan(const CalibrateOptions& options, const CalibrationProblem& problem,
                         std::uint64_t seed) {
  if (options.holdout.empty()) return {};
  std::vector<std::size_t> group;
  if (options.holdout.find('=') != std::string::npos) {
    group = configurations_with(problem, read_call_filter({options.holdout}, "--holdout"));
  } else {
    const double share = read_share(options.holdout, "--holdout");
    const std::size_t all = problem.data().configurations.size();
    const auto folds = static_cast<int>(all);
    const auto order = folds_of(all, folds, seed);
    const auto count = static_cast<std::size_t>(share * static_cast<double>(all) + 0.5);
    for (std::size_t i = 0; i < count && i < order.size(); ++i) group.push_back(order[i].front());
  }
  if (group.empty() || group.size() == problem.data().configurations.size()) {
    throw Error(ErrorKind::usage,
                "`--holdout " + printable(options.holdout) + "` leaves out " +
                    (group.empty() ? "no configuration" : "every configuration"),
                "--holdout", "name values that some, and not all, configurations have");
  }
  return {options.holdout, {group}};
}

/// Data that name other GPUs than the machine has were most likely measured on another one.
void warn_of_other_gpus(const std::vector<std::string>& in_data, const Machine& machine,
                        std::vector<Warning>& warnings) {
  const std::vector<std::string> here = gpu_models_of(machine);
  for (const std::string& model : in_data) {
    for (const std::string& own : here) {
      if (plain_gpu_model(model) == plain_gpu_model(own)) continue;
      warnings.push_back({"LC-DATA-02", "the data name the GPU `" + model + "`, the machine has `" + own +
                                            "`: they are taken as measured on it"});
      return;
    }
  }
}

CalibrationProblem read_problem(const CalibrateOptions& options, const Session& session, Machine machine,
                                std::vector<FitSource>& sources) {
  std::vector<MeasuredData> data;
  for (const std::string& file : options.files) {
    data.push_back(read_measured_file(file));
    sources.push_back(
        {std::filesystem::path(file).filename().string(), bytes_digest(text_of_file(file)), machine.name, 0});
  }
  MeasuredData all = merge_measured(std::move(data));
  apply(read_data_options(options.data, session), all);
  const Bytes smallest = read_size(options.min_size, "--min-size");
  CalibrationProblem problem(std::move(machine), options.implementation, read_seed(options.seed, "--seed"));
  problem.add(all, smallest);
  warn_of_other_gpus(all.gpu_models, problem.machine(), problem.warnings);
  for (FitSource& source : sources) source.rows = problem.rows_of(source.file);
  if (problem.data().observations.empty()) {
    std::string why;
    for (const LeftOutRows& rows : problem.left_out)
      why += "\n  " + std::to_string(rows.rows) + " left out: " + rows.reason + " (" + rows.where + ")";
    throw Error(ErrorKind::usage, "nothing of the data can be fitted to" + why, "DATA",
                "docs/calibration.md says what a fit takes");
  }
  return problem;
}

/// The profile file with this part in it: a new one, or the one that is there.
ProfileFile file_with(const CalibrateOptions& options, const std::string& part, const Profile& profile,
                      const Machine& machine) {
  ProfileFile file;
  const bool there = std::filesystem::exists(options.profile_file);
  if (there && !std::filesystem::is_regular_file(options.profile_file)) {
    throw Error(ErrorKind::usage, "`" + printable(options.profile_file) + "` is no file", "-o",
                "name a file; the report goes to stdout");
  }
  if (there) file = read_profile_file(text_of_file(options.profile_file), options.profile_file);
  if (file.transfer) {
    throw Error(ErrorKind::usage,
                "`" + printable(options.profile_file) + "` takes its values from other profiles", "-o",
                "take another file");
  }
  if (there && file.implementations.count(part) > 0 && !options.force) {
    throw Error(ErrorKind::usage,
                "`" + printable(options.profile_file) + "` has a part for `" + part + "` already", "-o",
                "take another file, or `--force` to replace that part");
  }
  if (file.name.empty()) file.name = std::filesystem::path(options.profile_file).stem().string();
  if (!options.name.empty()) file.name = options.name;
  if (!options.description.empty()) file.description = options.description;
  if (file.gpus.empty()) file.gpus = gpu_models_of(machine);
  file.implementations[part] = profile;
  return file;
}

void run_calibrate(const CalibrateOptions& options, const Session& session) {
  require_simulator();
  const auto format = format_from_string(options.format);
  if (!format) throw unknown_choice(options.format, "--format", {"table", "json", "csv", "markdown"});
  FitOptions fit_options = read_fit_options(options);
  const MachineOptions machine_options{options.machine, options.sets, "generic"};
  const Machine machine = read_machine(machine_options, session);
  std::vector<FitSource> sources;
  CalibrationProblem problem = read_problem(options, session, machine, sources);
  const Implementation implementation = implementation_from_string(problem.part());
  Profile start = read_profile(options.start, {}, machine, implementation, session).profile;
  hold_parameters(options, start, fit_options);
  if (!options.profile_file.empty()) {  // before the work
    const ProfileFile planned = file_with(options, problem.part(), start, machine);
    read_profile_file(write_profile(planned), options.profile_file);  // a name that no reader takes
    checked_output({"table", options.profile_file, true});
    const std::filesystem::path folder = std::filesystem::path(options.profile_file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder)) {
      throw Error(ErrorKind::usage, "there is no folder `" + printable(folder.string()) + "`", "-o",
                  "make it, or take another");
    }
  }
  const HoldoutPlan folds = folds_plan(options, problem.data(), fit_options.seed);
  const HoldoutPlan holdout = holdout_plan(options, problem, fit_options.seed);

  CalibrationReport report;
  const Stopwatch fitting;
  const FitResult fit = fit_profile(problem.data(), problem.evaluate(), start, fit_options);
  report.fit_seconds = fitting.seconds();
  const Stopwatch validating;
  CalibrationResult result(problem, fit);
  for (const HoldoutPlan& plan : {holdout, folds}) {
    if (plan.groups.empty()) continue;
    session.note("validating: " + plan.title);
    result.add_held_out(plan.title,
                        hold_out(problem.data(), problem.evaluate(), start, fit, fit_options, plan.groups));
  }
  if (const int draws = read_draws(options.bootstrap, "--bootstrap"); draws > 0) {
    for (const BootstrapInterval& one :
         bootstrap(problem.data(), problem.evaluate(), start, fit, fit_options, draws, fit_options.seed))
      report.bootstrap.push_back({one.parameter, one.low, one.high});
  }
  if (const int draws = read_draws(options.learning, "--learning-curve"); draws > 0) {
    for (const LearningPoint& one :
         learning_curve(problem.data(), problem.evaluate(), start, fit_options, draws, fit_options.seed))
      report.learning.push_back({one.configurations, one.median, one.p95});
  }
  report.validation_seconds = validating.seconds();
  report.run = session.run_info(config_digest(machine));
  report.machine = machine.name;
  report.verified_error = problem.difference_to_simgrid(fit.profile, kVerified);
  result.describe(report);
  report.profile = result.profile(sources, report.run.command);
  report.profile.name = options.name;
  report.profile_file = options.profile_file;
  if (!options.profile_file.empty()) {
    OutputOptions output{"table", options.profile_file, true};
    write_output(output, write_profile(file_with(options, problem.part(), report.profile, machine)));
  }
  session.warn(report.warnings);
  write_output({options.format, "", false}, calibration_text(report, *format));
}

}  // namespace

void add_calibrate_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("calibrate", "fit the model's numbers to measurements");
  const auto options = std::make_shared<CalibrateOptions>();
  add_calibrate_options(*command, *options);
  command->callback([options, &session] { run_calibrate(*options, session); });
}

}  // namespace lanecast
