#include "cli/commands.hpp"
#include "cli/refused_command.hpp"
#include "cli/topo_import.hpp"
#include "cli/topo_show.hpp"
#include "configs/dumps/live_hwloc.hpp"

namespace lanecast {
namespace {

/// Stands in for a command that a build of the engine alone leaves out, since it needs what GPU nodes rarely
/// have.
void add_absent_command(CLI::App& parent, const std::string& name, const std::string& needs) {
  add_refused_command(
      parent, name, "is not in this build, which holds the engine only; it needs " + needs,
      "run it where the whole lanecast is, without a GPU: it reads the files that `lanecast measure -J` and "
      "`lanecast topo discover -o` write here");
}

constexpr const char* kSimulator = "SimGrid and yaml-cpp";
constexpr const char* kReaders = "yaml-cpp, pugixml and hwloc";

}  // namespace

void add_predict_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "predict", kSimulator);
}
void add_whatif_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "whatif", kSimulator);
}
void add_tune_command(CLI::App& app, Session& /*session*/) { add_absent_command(app, "tune", kSimulator); }
void add_matrix_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "matrix", kSimulator);
}
void add_doctor_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "doctor", kSimulator);
}
void add_calibrate_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "calibrate", "Eigen, SimGrid and yaml-cpp");
}
void add_compare_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "compare", kSimulator);
}
void add_config_command(CLI::App& app, Session& /*session*/) {
  add_absent_command(app, "config", "yaml-cpp");
}

void add_topo_import(CLI::App& topo, Session& /*session*/) { add_absent_command(topo, "import", kReaders); }
void add_topo_show(CLI::App& topo, Session& /*session*/) { add_absent_command(topo, "show", kReaders); }
void add_topo_diff(CLI::App& topo, Session& /*session*/) { add_absent_command(topo, "diff", kReaders); }
void add_topo_export(CLI::App& topo, Session& /*session*/) { add_absent_command(topo, "export", kReaders); }

void add_live_hwloc(MachineFacts& /*facts*/) {}  // sysfs, CUDA and NVML say what there is to know

}  // namespace lanecast
