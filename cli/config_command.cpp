#include <filesystem>
#include <iostream>
#include <memory>
#include <variant>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/machine_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "configs/config_document.hpp"
#include "configs/explain.hpp"
#include "configs/profile_fields.hpp"
#include "configs/profile_sets.hpp"
#include "configs/reading.hpp"
#include "configs/schema.hpp"
#include "model/error.hpp"
#include "reports/config_report.hpp"
#include "reports/profile_report.hpp"

namespace lanecast {
namespace {

/// The values for each implementation that the file, or a lender of its transfer, has any for.
std::vector<ProfilePart> parts_of(const ProfileDocument& document) {
  std::vector<ProfilePart> parts;
  for (const std::string& name : profile_implementations()) {
    const Implementation implementation = implementation_from_string(name);
    const ChosenProfile chosen = profile_for(document.profile, document.file, implementation);
    const bool has_any = document.profile.transfer || document.profile.implementations.count(name) != 0;
    if (has_any) parts.push_back({name, chosen.profile});
  }
  return parts;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "machine box, 2 GPUs, 3 links"
std::string summary(const MachineDocument& document) {
  const Machine& machine = document.machine;
  return "machine " + machine.name + ", " + std::to_string(machine.gpus.size()) + " GPUs, " +
         std::to_string(machine.links.size()) + " links";
}

/// "profile box, nccl with 12 values of its own". The profiles that a transfer names are read, too.
std::string summary(const ProfileDocument& document) {
  std::string text = "profile " + document.profile.name;
  for (const ProfilePart& part : parts_of(document)) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < parameter_count; ++i) {
      count += part.profile.from_prior(static_cast<Param>(i)) ? 0 : 1;
    }
    text += ", " + part.implementation + " with " + counted(count, "value") + " of its own";
  }
  return text;
}

/// Checks every file, so that one run tells all problems of all of them.
void run_check(const std::vector<std::string>& files) {
  std::string problems;
  for (const std::string& file : files) {
    try {
      const ConfigDocument document = load_config(file);
      const std::string text = std::visit([](const auto& read) { return summary(read); }, document);
      std::cout << "ok " << file << ": " << text << "\n";
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\nerror: ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
}

struct ExplainOptions {
  std::string config;
  std::string profile = "auto";
  std::string implementation = "nccl";
  std::vector<std::string> sets;
  OutputOptions output;
};

/// Places name the file without its folders, which would fill the lines; the report names it in full once.
std::vector<ExplainedValue> machine_values(MachineDocument document) {
  document.file = std::filesystem::path(document.file).filename().string();
  std::vector<ExplainedValue> values;
  for (const Explanation& row : explain(document)) {
    values.push_back({row.path, row.value, row.origin, row.doc});
  }
  return values;
}

std::string explained(const MachineDocument& document, const ExplainOptions& options, const Session& session,
                      Format format) {
  for (const std::string& set : options.sets) {
    if (is_profile_set(set)) continue;
    throw Error(
        ErrorKind::usage, "`config explain` shows a machine as its file has it", "--set " + printable(set),
        "set parameters here, `profile.NAME=VALUE`; `topo show MACHINE --set` shows a changed machine");
  }
  const ChosenProfile chosen = read_profile(options.profile, options.sets, document.machine,
                                            implementation_from_string(options.implementation), session);
  session.warn(chosen.warnings);
  ConfigReport report;
  report.run = session.run_info(config_digest(document.machine));
  report.file = document.file;
  report.machine = document.machine.name;
  report.reason = chosen.reason;
  report.values = machine_values(document);
  report.profile = chosen.profile;
  return config_text(report, format);
}

std::string explained(const ProfileDocument& document, const ExplainOptions& options, const Session& session,
                      Format format) {
  if (options.profile != "auto" || !options.sets.empty()) {
    throw Error(ErrorKind::usage, "`config explain` of a profile shows the file alone",
                options.sets.empty() ? "--profile" : "--set", "leave it out, or name a machine");
  }
  const ProfileFile& file = document.profile;
  ProfileReport report{session.run_info(""), document.file, file.name, file.description, file.gpus, "", {}};
  if (file.transfer) {
    const auto lender = [](const std::string& name) { return name.empty() ? "priors" : "`" + name + "`"; };
    report.transfer =
        "GPU parameters from " + lender(file.transfer->gpu) + ", links' from " + lender(file.transfer->link);
  }
  report.parts = parts_of(document);
  return profile_text(report, format);
}

void run_explain(const ExplainOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const ConfigDocument document = load_config(options.config);
  const std::string text =
      std::visit([&](const auto& read) { return explained(read, options, session, format); }, document);
  write_output(options.output, text);
}

void run_schema(const std::string& kind, const OutputOptions& output) {
  checked_output(output);
  const bool is_machine = read_choice<bool>(kind, "KIND", {{"machine", true}, {"profile", false}});
  write_output(output, is_machine ? machine_schema() : profile_schema());
}

}  // namespace

void add_config_command(CLI::App& app, Session& session) {
  CLI::App* config =
      app.add_subcommand("config", "check and explain machine and profile files, print their JSON schema");
  config->require_subcommand(1);

  CLI::App* check = config->add_subcommand("check", "report every problem of machine and profile files");
  const auto files = std::make_shared<std::vector<std::string>>();
  check->add_option("FILE", *files, "machine or profile files, or names of shipped ones")->required();
  check->callback([files] { run_check(*files); });

  CLI::App* explained =
      config->add_subcommand("explain", "print every value in force and where it came from");
  const auto options = std::make_shared<ExplainOptions>();
  explained
      ->add_option("MACHINE|PROFILE", options->config,
                   "a machine or profile file, a shipped one, or a one-line machine")
      ->required();
  explained
      ->add_option("--implementation", options->implementation,
                   "whose values: nccl, nccl-2.28, rccl, lanecast")
      ->capture_default_str();
  explained->add_option("--set", options->sets, "set one parameter: profile.duplex.host=0.1 (repeatable)")
      ->allow_extra_args(false);
  add_profile_option(*explained, options->profile);
  add_output_options(*explained, options->output);
  explained->callback([options, &session] { run_explain(*options, session); });

  CLI::App* schema = config->add_subcommand("schema", "print the JSON schema of a kind of file");
  const auto kind = std::make_shared<std::string>();
  const auto output = std::make_shared<OutputOptions>();
  schema->add_option("KIND", *kind, "machine or profile")->required();
  schema->add_option("-o,--output", output->path, "write to this file (- is stdout)");
  schema->add_flag("--force", output->force, "let -o overwrite a file");
  schema->callback([kind, output] { run_schema(*kind, *output); });
}

}  // namespace lanecast
