#include "cli/calibrate_options.hpp"

namespace lanecast {

void add_calibrate_options(CLI::App& command, CalibrateOptions& options) {
  command.add_option("DATA", options.files, "files of measurements (docs/measured-data.md)")->required();
  command.add_option("--machine", options.machine, "the machine that they were measured on")->required();
  command.add_option("--set", options.sets, "change one value of the machine (repeatable)")
      ->allow_extra_args(false);
  const auto fit = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("The fit");
  };
  fit("--implementation", options.implementation, "whose calls count: nccl-2.28, lanecast [the data's own]");
  fit("--start", options.start, "profile whose values stay where the data say nothing")
      ->capture_default_str();
  fit("--starts", options.starts, "places to begin at; the best fit counts")->capture_default_str();
  command
      .add_option("--hold", options.hold,
                  "keep a parameter at the start's value, or at NAME=VALUE (repeatable)")
      ->allow_extra_args(false)
      ->group("The fit");
  fit("--min-size", options.min_size, "leave out smaller calls")->capture_default_str();
  fit("--seed", options.seed, "of starts, folds and draws")->envname("LANECAST_SEED")->capture_default_str();
  fit("--jobs", options.jobs, "threads; 0 is one a core")->envname("LANECAST_JOBS")->capture_default_str();
  const auto check = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("How far to trust it");
  };
  check("--holdout", options.holdout,
        "a share of the configurations (20%), or some by key (channels=2,8): fitted without, predicted");
  check("--folds", options.folds, "cross-validation over so many groups of configurations; `all`: one each")
      ->capture_default_str();
  check("--bootstrap", options.bootstrap, "draws of configurations for intervals")->capture_default_str();
  check("--learning-curve", options.learning, "error against configurations measured, over so many draws")
      ->capture_default_str();
  add_data_options(command, options.data);
  const auto out = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("Output");
  };
  out("-o,--output", options.profile_file,
      "write the profile to this file; one that is there gains this part");
  out("--name", options.name, "of the profile [the file's]");
  out("--description", options.description, "of the profile, a line");
  out("--format", options.format, "of the report on stdout: table, json, csv or markdown")
      ->envname("LANECAST_FORMAT")
      ->capture_default_str();
  command.add_flag("--force", options.force, "replace what the file has of this implementation")
      ->group("Output");
  command.footer(
      "Examples:\n"
      "  lanecast calibrate run.json --machine box.yaml -o box-profile.yaml --folds 5\n"
      "  lanecast calibrate nccl-tests.log --machine box.yaml --protocol simple --channels 8 -o "
      "box-profile.yaml\n"
      "  lanecast calibrate sweep.csv --machine h200x2-nvlink-vm --ranks 2 --implementation nccl-2.28 "
      "--holdout channels=2,8\n"
      "  lanecast calibrate p2p-test.txt --machine box.yaml -o links.yaml\n"
      "docs/calibration.md explains the fit, its intervals and what the report says.");
}

}  // namespace lanecast
