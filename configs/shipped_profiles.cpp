#include "configs/shipped_profiles.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "configs/problem_list.hpp"
#include "configs/profile_reader.hpp"
#include "configs/reading.hpp"
#include "configs/shipped.hpp"
#include "configs/yaml_document.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

constexpr const char* built_in = "generic";

ProfileFile generic_profile() {
  ProfileFile file;
  file.name = built_in;
  file.description = "Priors only: nothing was fitted";
  for (const char* implementation : {"nccl", "lanecast"})
    file.implementations.emplace(implementation, Profile());
  return file;
}

}  // namespace

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> names{built_in};
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(data_directory() / "profiles", failed)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".yaml" && name != built_in) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string profile_path(const std::string& name_or_path, const std::string& where) {
  if (name_or_path == built_in) return "";
  if (is_yaml_path(name_or_path) || name_or_path.find('/') != std::string::npos) return name_or_path;
  const std::vector<std::string> names = shipped_profiles();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return (data_directory() / "profiles" / (name_or_path + ".yaml")).string();
  }
  const std::string near = nearest(name_or_path, names);
  throw Error(ErrorKind::usage, "there is no profile `" + printable(name_or_path) + "`", where,
              (near.empty() ? "" : "did you mean `" + near + "`? ") +
                  ("the shipped ones are " + listed(names)) +
                  "; a file works, too, where its name ends in .yaml");
}

ProfileFile load_profile_file(const std::string& name_or_path, const std::string& where) {
  const std::string path = profile_path(name_or_path, where);
  if (path.empty()) return generic_profile();
  return read_profile_file(read_text_file(path), path == "-" ? "standard input" : path);
}

}  // namespace lanecast
