#include "configs/shipped.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "configs/machine_writer.hpp"
#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "configs/synthetic.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

bool holds_machines(const fs::path& folder) {
  std::error_code ignored;
  return !folder.empty() && fs::is_directory(folder / "machines", ignored);
}

fs::path installed_data() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program.parent_path().parent_path() / "share" / "lanecast";
}

fs::path source_data() {
#if defined(LANECAST_SOURCE_DATA_DIR)
  return LANECAST_SOURCE_DATA_DIR;
#else
  return {};
#endif
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_shipped(const std::string& text) {
  const std::vector<std::string> names = shipped_machines();
  return std::find(names.begin(), names.end(), text) != names.end();
}

/// "2x(sw:4xgpu)@gen4x16": neither a file nor the name of a shipped machine.
bool is_line(const std::string& text) {
  if (is_yaml_path(text) || !looks_like_machine_line(text)) return false;
  std::error_code ignored;
  if (fs::is_regular_file(text, ignored)) return false;
  const bool could_be_name = text.find_first_of(" ([@:,~/") == std::string::npos;
  return !could_be_name || !is_shipped(text);
}

}  // namespace

bool is_yaml_path(const std::string& text) {
  return text == "-" || ends_with(text, ".yaml") || ends_with(text, ".yml");
}

fs::path data_directory() {
  const char* chosen = std::getenv("LANECAST_DATA");
  if (chosen != nullptr && *chosen != '\0') {
    if (holds_machines(chosen)) return chosen;
    throw Error(ErrorKind::usage, "LANECAST_DATA has no folder `machines`", printable(chosen),
                "let it name the folder that holds `machines`, or unset it");
  }
  for (const fs::path& folder : {installed_data(), source_data()}) {
    if (holds_machines(folder)) return folder;
  }
  throw Error(ErrorKind::runtime, "the data that ships with lanecast is not there",
              printable(installed_data().string()), "install it again, or set LANECAST_DATA to the folder");
}

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(data_directory() / "machines", failed)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string machine_path(const std::string& name_or_path) {
  const std::string shown = "`" + printable(name_or_path) + "`";
  if (is_line(name_or_path)) {
    throw Error(ErrorKind::usage, shown + " is a one-line machine, which has no file", "",
                "write it to one with `topo export`");
  }
  if (is_yaml_path(name_or_path) || name_or_path.find('/') != std::string::npos) return name_or_path;
  if (is_shipped(name_or_path)) return (data_directory() / "machines" / (name_or_path + ".yaml")).string();
  std::error_code ignored;
  if (fs::is_regular_file(name_or_path, ignored)) return name_or_path;
  const std::vector<std::string> names = shipped_machines();
  const std::string near = nearest(name_or_path, names);
  throw Error(ErrorKind::usage, "there is no machine " + shown, "",
              (near.empty() ? "" : "did you mean `" + near + "`? ") +
                  ("the shipped ones are " + listed(names) +
                   "; a YAML file works, too, and so does a line such as `2x(sw:4xgpu)@gen4x16`"));
}

Machine load_machine(const std::string& name_or_path) {
  if (is_line(name_or_path)) return machine_from_line(name_or_path);
  return read_machine_file(machine_path(name_or_path));
}

MachineDocument load_machine_document(const std::string& name_or_path) {
  if (!is_line(name_or_path)) return read_machine_document(machine_path(name_or_path));
  return read_machine_document_text(write_machine(machine_from_line(name_or_path)), "one-line.yaml");
}

}  // namespace lanecast
