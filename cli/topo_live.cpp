#include "cli/topo_live.hpp"

#include <memory>

#include "cli/live_machine.hpp"
#include "cli/machine_output.hpp"
#include "configs/dumps/collect_script.hpp"

namespace lanecast {
namespace {

struct DiscoverOptions {
  std::string name;
  OutputOptions output;
};

void run_discover(const DiscoverOptions& options, const Session& session) {
  check_machine_output(options.output);
  write_imported(live_machine(options.name, session), options.output, session);
}

}  // namespace

void add_topo_discover(CLI::App& topo, Session& session) {
  CLI::App* command = topo.add_subcommand("discover", "read the machine that this runs on");
  const auto options = std::make_shared<DiscoverOptions>();
  command->add_option("--name", options->name, "name of the machine; else the computer's");
  add_machine_output(*command, options->output);
  command->callback([options, &session] { run_discover(*options, session); });
}

void add_topo_collect(CLI::App& topo) {
  CLI::App* command = topo.add_subcommand(
      "collect", "print a script that writes all that matters about a machine to one file");
  const auto output = std::make_shared<OutputOptions>();
  command->add_option("-o,--output", output->path, "write the script to this file (- is stdout)");
  command->add_flag("--force", output->force, "let -o overwrite a file");
  command->footer(
      "On a machine without lanecast (it needs no more than a shell and coreutils; root sees more):\n"
      "  lanecast topo collect -o collect.sh\n"
      "  sudo sh collect.sh > box.txt\n"
      "and back here:\n"
      "  lanecast topo import box.txt -o box.yaml");
  command->callback([output] {
    checked_output(*output);
    write_output(*output, collect_script());
  });
}

}  // namespace lanecast
