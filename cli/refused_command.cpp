#include "cli/refused_command.hpp"

#include "model/error.hpp"

namespace lanecast {
namespace {

/// "lanecast topo show"
std::string whole_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : whole_name(*parent) + " " + command.get_name();
}

}  // namespace

void add_refused_command(CLI::App& parent, const std::string& name, const std::string& why,
                         const std::string& mend) {
  CLI::App* command = parent.add_subcommand(name, why);
  command->group("");  // not listed by --help
  command->prefix_command();
  command->set_help_flag();  // `lanecast NAME --help` is refused like the rest
  command->fallthrough(false);
  command->callback([command, why, mend] {
    throw Error(ErrorKind::usage, "`" + whole_name(*command) + "` " + why, "the command line", mend);
  });
}

}  // namespace lanecast
