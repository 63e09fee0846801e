#include "cli/commands.hpp"
#include "cli/refused_command.hpp"

namespace lanecast {

const std::vector<std::string>& later_commands() {
  static const std::vector<std::string> kNames{"sweep", "plan", "report"};
  return kNames;
}

void add_later_commands(CLI::App& app) {
  for (const std::string& name : later_commands()) {
    add_refused_command(app, name, "comes with a later version",
                        "`lanecast --help` lists the commands of this one");
  }
}

}  // namespace lanecast
