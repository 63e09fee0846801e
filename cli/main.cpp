#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>

#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "lanecast_version.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr int kGood = 0;

int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

/// `--ranks ""` is a slip (an unset shell variable), not a wish for the default.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end() || option->get_expected_max() == 0)
      continue;
    throw Error(ErrorKind::usage, "`" + option->get_name() + "` is empty", option->get_name(),
                "give it a value, or leave it out");
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
}

/// CLI11 only says that a command is missing; a name that is none deserves its own message.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const auto word =
      std::find_if(words.begin(), words.end(), [](const auto& w) { return w.rfind('-', 0) != 0; });
  if (word == words.end()) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), *word) != names.end()) return;
  const std::string near = nearest(*word, names);
  throw Error(ErrorKind::usage, "there is no command `" + printable(*word) + "`", "the command line",
              near.empty() ? "`lanecast --help` lists the commands" : "did you mean `" + near + "`?");
}

void build(CLI::App& app, Session& session) {
  app.set_version_flag("--version", "lanecast " + std::string(version) + " (" + commit + ")");
  app.add_flag("-q,--quiet", session.quiet, "no notes and warnings on stderr");
  app.add_flag("-v,--verbose", session.verbose, "more on stderr: assumptions, time spent");
  app.add_flag("--no-color", session.no_color, "no colours on stderr (so does NO_COLOR)");
  app.require_subcommand(1);
  app.fallthrough();  // -q, -v and --no-color stand anywhere
  add_predict_command(app, session);
  add_whatif_command(app, session);
  add_tune_command(app, session);
  add_matrix_command(app, session);
  add_doctor_command(app, session);
  add_measure_command(app, session);
  add_calibrate_command(app, session);
  add_compare_command(app, session);
  add_config_command(app, session);
  add_topo_command(app, session);
  add_help_command(app, session);
  add_later_commands(app);
  app.footer(
      "Sizes: K, M and G are powers of 1024. Rates: GB/s is 10^9 bytes a second.\n"
      "Exit codes: 0 good, 1 failed while running, 2 bad usage or input, 3 a check fell short, 4 needed "
      "hardware is "
      "absent.");
  app.parse_complete_callback([&app] { refuse_empty_values(app); });
}

/// Parses and runs; the chosen command's callback does the work.
int parse_and_run(CLI::App& app, const Session& session) {
  refuse_unknown_command(app, session.words);
  std::vector<std::string> reversed(session.words.rbegin(), session.words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return kGood;
  } catch (const CLI::ParseError& problem) {
    std::string command = "lanecast";
    for (const CLI::App* chosen = &app; !chosen->get_subcommands().empty();) {
      chosen = chosen->get_subcommands().front();
      command += " " + chosen->get_name();
    }
    throw Error(ErrorKind::usage, problem.what(), "the command line", "see `" + command + " --help`");
  }
  std::cout.flush();
  if (!std::cout)
    throw Error(ErrorKind::runtime, "cannot write to the standard output", "stdout", "make room");
  return kGood;
}

int run(Session& session) {
  CLI::App app("lanecast predicts collectives over PCIe and NVLink by simulation.", "lanecast");
  build(app, session);
  try {
    return parse_and_run(app, session);
  } catch (const Error& error) {
    session.error(error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    session.error("out of memory\n  mend: fewer or smaller sizes, fewer --jobs");
  } catch (const std::exception& error) {
    session.error(std::string(error.what()) +
                  "\n  at lanecast itself\n  mend: please report it with the command line");
  }
  return exit_code(ErrorKind::runtime);
}

}  // namespace
}  // namespace lanecast

int main(int argc, char** argv) {
  lanecast::Session session;
  session.words.assign(argv + std::min(argc, 1), argv + argc);
  return lanecast::run(session);
}
