#include "cli/commands.hpp"
#include "cli/refused_command.hpp"

namespace lanecast {

void add_calibrate_command(CLI::App& app, Session&) {
  add_refused_command(app, "calibrate", "needs the simulator, which this build was made without",
                      "install libsimgrid-dev and build again");
}

}  // namespace lanecast
