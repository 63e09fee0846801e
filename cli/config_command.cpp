#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/config_digest.hpp"
#include "cli/machine_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "configs/explain.hpp"
#include "configs/quantity.hpp"
#include "configs/schema.hpp"
#include "configs/shipped.hpp"
#include "model/error.hpp"
#include "reports/config_report.hpp"

namespace lanecast {
namespace {

/// Checks every file, so that one run tells all problems of all of them.
void run_check(const std::vector<std::string>& files) {
  std::string problems;
  for (const std::string& file : files) {
    try {
      const Machine machine = load_machine(file);
      std::cout << "ok " << file << ": machine " << machine.name << ", " << machine.gpus.size() << " GPUs, "
                << machine.links.size() << " links\n";
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\nerror: ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
}

struct ExplainOptions {
  std::string machine;
  std::string profile = "auto";
  OutputOptions output;
};

/// Places name the file without its folders, which would fill the lines; the report names it in full once.
std::vector<ExplainedValue> machine_values(MachineDocument document) {
  document.file = std::filesystem::path(document.file).filename().string();
  std::vector<ExplainedValue> values;
  for (const Explanation& row : explain(document)) {
    values.push_back({row.path, row.value, "", row.origin, "", std::nullopt, std::nullopt, row.doc});
  }
  return values;
}

std::vector<ExplainedValue> profile_values(const Profile& profile) {
  std::vector<ExplainedValue> values;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const ParameterInfo& about = info(parameter);
    values.push_back({about.name, format_number(profile.value(parameter)), about.unit,
                      profile.from_prior(parameter) ? "prior" : "profile", about.source, about.low,
                      about.high, about.doc});
  }
  return values;
}

void run_explain(const ExplainOptions& options, const Session& session) {
  const Format format = checked_output(options.output);
  const Profile profile = read_profile(options.profile);
  const MachineDocument document = load_machine_document(options.machine);
  ConfigReport report;
  report.run = session.run_info(config_digest(document.machine));
  report.file = document.file;
  report.machine = document.machine.name;
  report.profile = profile.name;
  report.values = machine_values(document);
  report.parameters = profile_values(profile);
  write_output(options.output, config_text(report, format));
}

void run_schema(const std::string& kind, const OutputOptions& output) {
  checked_output(output);
  if (kind != "machine") throw unknown_choice(kind, "KIND", {"machine"});
  write_output(output, machine_schema());
}

}  // namespace

void add_config_command(CLI::App& app, Session& session) {
  CLI::App* config = app.add_subcommand("config", "check and explain machine files, print their JSON schema");
  config->require_subcommand(1);

  CLI::App* check = config->add_subcommand("check", "report every problem of machine files");
  const auto files = std::make_shared<std::vector<std::string>>();
  check->add_option("FILE", *files, "machine files, or names of shipped machines")->required();
  check->callback([files] { run_check(*files); });

  CLI::App* explained =
      config->add_subcommand("explain", "print every value in force and where it came from");
  const auto options = std::make_shared<ExplainOptions>();
  explained
      ->add_option("MACHINE", options->machine, "a machine file, a shipped machine, or a one-line machine")
      ->required();
  add_profile_option(*explained, options->profile);
  add_output_options(*explained, options->output);
  explained->callback([options, &session] { run_explain(*options, session); });

  CLI::App* schema = config->add_subcommand("schema", "print the JSON schema of a kind of file");
  const auto kind = std::make_shared<std::string>();
  const auto output = std::make_shared<OutputOptions>();
  schema->add_option("KIND", *kind, "machine")->required();
  schema->add_option("-o,--output", output->path, "write to this file (- is stdout)");
  schema->add_flag("--force", output->force, "let -o overwrite a file");
  schema->callback([kind, output] { run_schema(*kind, *output); });
}

}  // namespace lanecast
