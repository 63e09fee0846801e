#include "cli/commands.hpp"
#include "cli/topo_import.hpp"
#include "cli/topo_live.hpp"
#include "cli/topo_show.hpp"

namespace lanecast {

void add_topo_command(CLI::App& app, Session& session) {
  CLI::App* topo =
      app.add_subcommand("topo", "read machines, show them, compare them, write them for others");
  topo->require_subcommand(1);
  add_topo_import(*topo, session);
  add_topo_discover(*topo, session);
  add_topo_collect(*topo);
  add_topo_show(*topo, session);
  add_topo_diff(*topo, session);
  add_topo_export(*topo, session);
}

}  // namespace lanecast
