#include "tests/cases/case_arguments.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <iostream>

#include "model/error.hpp"

namespace lanecast::cases {

int run_on_cases(int argc, char** argv, const std::function<int(const CaseArguments&)>& program,
                 Extra extra) {
  constexpr int skipped = 77;  // what CTest and automake take for "skipped"
  CaseArguments arguments;
  CLI::App app("Published measurements beside predicted ones");
  app.add_option("CASES", arguments.file, "shared/cases/cases.yaml")->required();
  app.add_flag("--markdown", arguments.markdown,
               "tables of GitHub's markdown, as docs/accuracy.md shows them");
  if (extra == Extra::profiles)
    app.add_option("--write-profiles", arguments.profiles, "folder for the families' profiles");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ErrorKind::usage);
  }
  try {
    if (!std::filesystem::exists(arguments.file)) {
      std::cout << "skipped: `" << arguments.file << "` is absent; it is not part of the repository\n";
      return skipped;
    }
    return program(arguments);
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return static_cast<int>(ErrorKind::runtime);
  }
}

void print_table(const CaseArguments& arguments, const std::string& caption, const Grid& grid, bool fold) {
  if (!arguments.markdown) {
    std::cout << "# " << caption << "\n" << aligned_text(grid) << "\n";
    return;
  }
  if (fold) std::cout << "<details><summary>" << caption << "</summary>\n\n";
  std::cout << markdown_text(caption, grid) << "\n";
  if (fold) std::cout << "</details>\n\n";
}

}  // namespace lanecast::cases
