#include "cli/commands.hpp"
#include "model/error.hpp"

namespace lanecast {

const std::vector<std::string>& later_commands() {
  static const std::vector<std::string> kNames{"whatif",  "tune",      "sweep",   "plan",
                                               "measure", "calibrate", "compare", "report"};
  return kNames;
}

void add_later_commands(CLI::App& app) {
  for (const std::string& name : later_commands()) {
    CLI::App* command = app.add_subcommand(name, "comes with a later version");
    command->group("");  // not listed by --help
    command->prefix_command();
    command->set_help_flag();  // `lanecast NAME --help` is refused like the rest
    command->fallthrough(false);
    command->callback([name] {
      throw Error(ErrorKind::usage, "`lanecast " + name + "` comes with a later version", "the command line",
                  "this version has `predict`, `matrix`, `doctor`, `config` and `help`");
    });
  }
}

}  // namespace lanecast
