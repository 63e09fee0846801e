#include "cli/machine_input.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/imported.hpp"
#include "configs/dumps/recognition.hpp"
#include "configs/plain_text.hpp"
#include "configs/shipped.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

/// A file that is there and is not told to be YAML by its name. Shipped names go before files.
bool may_be_dump(const std::string& input) {
  if (input == "-") return true;
  const fs::path path(input);
  if (path.extension() == ".yaml" || path.extension() == ".yml") return false;
  const std::vector<std::string> shipped = shipped_machines();
  if (std::find(shipped.begin(), shipped.end(), input) != shipped.end()) return false;
  std::error_code unknown;
  return fs::is_regular_file(path, unknown) || fs::is_fifo(path, unknown);
}

}  // namespace

ImportedMachine machine_input(const std::vector<std::string>& inputs) {
  if (inputs.size() > 1 || may_be_dump(inputs.at(0))) return import_files(inputs, std::nullopt, "");
  ImportedMachine loaded;
  loaded.machine = load_machine(inputs.front());
  return loaded;
}

Machine told_machine_input(const std::vector<std::string>& inputs, const Session& session) {
  ImportedMachine imported = machine_input(inputs);
  const bool from_dumps =
      std::any_of(imported.found.begin(), imported.found.end(),
                  [](const FoundDump& found) { return found.kind != DumpKind::machine_file; });
  if (from_dumps) tell_import_in_short(imported, session);
  return std::move(imported.machine);
}

}  // namespace lanecast
