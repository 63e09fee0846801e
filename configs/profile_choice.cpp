#include "configs/profile_choice.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "configs/shipped.hpp"
#include "configs/shipped_profiles.hpp"
#include "model/error.hpp"
#include "model/profile/transfer.hpp"

namespace lanecast {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "nvidia", "80gb", "hbm3": what does not tell one model from another.
bool says_nothing(const std::string& word) {
  static const std::set<std::string> vendors{"nvidia", "amd", "geforce", "tesla"};
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), is_digit) - word.begin());
  const std::string rest = word.substr(digits);
  return vendors.count(word) != 0 || (digits > 0 && (rest == "gb" || rest == "gib")) ||
         word.rfind("hbm", 0) == 0;
}

/// Where a value is from, with the profile's name in front of what its file says.
Profile with_origins(const Profile& part, const std::string& name) {
  Profile profile = part;
  profile.name = name;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    if (part.from_prior(parameter)) continue;
    const std::string own = origin_of_profile(name);
    const std::string& said = part.origin(parameter);
    profile.set(parameter, part.value(parameter), said.empty() || said == own ? own : own + ": " + said);
  }
  return profile;
}

Warning nothing_for(const ProfileFile& file, const Implementation& implementation) {
  std::vector<std::string> others;
  for (const auto& [name, part] : file.implementations) others.push_back(name);
  return {"LC-PROFILE-02", "profile `" + file.name + "` holds nothing for " +
                               profile_part_of(implementation) + ", only for " + listed(others) +
                               "; priors are used"};
}

/// The part of a file with values of its own; the priors, with a warning, where there is none.
Profile own_part(const ProfileFile& file, const Implementation& implementation,
                 std::vector<Warning>& warnings) {
  const auto part = file.implementations.find(profile_part_of(implementation));
  if (part != file.implementations.end()) return with_origins(part->second, file.name);
  warnings.push_back(nothing_for(file, implementation));
  return Profile();
}

struct Lenders {
  ProfileTransfer names;
  std::string where;   // that names them, for messages
  std::string folder;  // that relative paths start from; empty: the current one
};

Profile lent_part(const std::string& lender, const Lenders& lenders, const Implementation& implementation,
                  std::vector<Warning>& warnings) {
  if (lender.empty()) return Profile();
  std::string path = profile_path(lender, lenders.where);
  if (path == lender && !lenders.folder.empty() && path != "-") {
    path = (std::filesystem::path(lenders.folder) / path).string();  // an absolute path stays as it is
  }
  const ProfileFile file = load_profile_file(path.empty() ? lender : path, lenders.where);
  if (!file.transfer) return own_part(file, implementation, warnings);
  throw Error(ErrorKind::usage, "profile `" + file.name + "` takes its own values from others", lenders.where,
              "name the profiles that hold the values");
}

ChosenProfile transfer_of(const std::string& name, const Lenders& lenders,
                          const Implementation& implementation) {
  ChosenProfile chosen;
  const Profile gpu = lent_part(lenders.names.gpu, lenders, implementation, chosen.warnings);
  const Profile link = lent_part(lenders.names.link, lenders, implementation, chosen.warnings);
  chosen.profile = transferred(name, gpu, link);
  return chosen;
}

[[noreturn]] void refuse_transfer(const std::string& asked, const std::string& what) {
  throw Error(ErrorKind::usage, what, "--profile " + printable(asked),
              "write `gpu=NAME,link=NAME`: profiles that lend the GPU's and the links' parameters");
}

/// "gpu=NAME,link=NAME"; nothing where the text is the name of a profile, or a file.
std::optional<ProfileTransfer> transfer_from(const std::string& asked) {
  const std::size_t equals = asked.find('=');
  const std::string first = asked.substr(0, equals);
  const bool is_group = first == "gpu" || first == "link";
  if (equals == std::string::npos || (!is_group && is_yaml_path(asked))) return std::nullopt;
  ProfileTransfer transfer;
  for (std::size_t at = 0; at <= asked.size();) {
    const std::size_t end = std::min(asked.find(',', at), asked.size());
    const std::string piece = asked.substr(at, end - at);
    const std::string group = piece.substr(0, piece.find('='));
    const std::string name = piece.size() > group.size() ? piece.substr(group.size() + 1) : "";
    if (group != "gpu" && group != "link") {
      refuse_transfer(asked, "`" + printable(group) + "` is no group of parameters");
    }
    std::string& to = group == "gpu" ? transfer.gpu : transfer.link;
    if (name.empty()) refuse_transfer(asked, "`" + group + "` names no profile");
    if (!to.empty()) refuse_transfer(asked, "`" + group + "` occurs twice");
    to = name;
    at = end + 1;
  }
  return transfer;
}

ChosenProfile named(const std::string& name, const std::string& where, const Implementation& implementation) {
  const ProfileFile file = load_profile_file(name, where);
  return profile_for(file, profile_path(name, where), implementation);
}

/// The plain model of all GPUs that are there; empty where they differ or don't say.
std::string common_model(const Machine& machine) {
  std::set<std::string> models;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.present) models.insert(plain_gpu_model(gpu.model));
  }
  return models.size() == 1 ? *models.begin() : "";
}

std::string model_as_written(const Machine& machine) {
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.present) return "`" + printable(gpu.model) + "`";
  }
  return "none";
}

ChosenProfile chosen_by_gpus(const Machine& machine, const Implementation& implementation) {
  const std::vector<std::string> names = profiles_for_gpus(machine);
  if (names.size() == 1) {
    ChosenProfile chosen = named(names.front(), "--profile auto", implementation);
    chosen.reason = "profile `" + names.front() + "` is for the machine's GPUs, " + model_as_written(machine);
    return chosen;
  }
  ChosenProfile generic{Profile(), "", {}};
  if (!names.empty()) {
    generic.reason = listed(names) + " are all for the machine's GPUs, " + model_as_written(machine) +
                     "; `--profile` takes one of them";
  } else if (common_model(machine).empty()) {
    generic.reason = "the machine's GPUs are not of one known model";
  } else {
    generic.reason = "no shipped profile is for the machine's GPUs, " + model_as_written(machine);
  }
  return generic;
}

}  // namespace

std::string profile_part_of(const Implementation& implementation) {
  return implementation.library == Library::lanecast ? "lanecast" : "nccl";
}

std::string plain_gpu_model(const std::string& model) {
  std::string plain, word;
  for (const char c : model + " ") {
    const bool ends_word = c == ' ' || c == '-' || c == '_' || c == '[' || c == ']' || c == '(' || c == ')';
    if (!ends_word) {
      word += lower(c);
    } else if (!word.empty()) {
      if (!says_nothing(word)) plain += (plain.empty() ? "" : " ") + word;
      word.clear();
    }
  }
  return plain;
}

std::vector<std::string> profiles_for_gpus(const Machine& machine) {
  const std::string model = common_model(machine);
  std::vector<std::string> names;
  if (model.empty()) return names;
  for (const std::string& name : shipped_profiles()) {
    const std::vector<std::string> models = load_profile_file(name, "--profile auto").gpus;
    const bool is_for = std::any_of(models.begin(), models.end(), [&](const std::string& other) {
      return plain_gpu_model(other) == model;
    });
    if (is_for) names.push_back(name);
  }
  return names;
}

ChosenProfile profile_for(const ProfileFile& file, const std::string& path,
                          const Implementation& implementation) {
  if (file.transfer) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return transfer_of(file.name, {*file.transfer, path + " (transfer)", folder}, implementation);
  }
  ChosenProfile chosen;
  chosen.profile = own_part(file, implementation, chosen.warnings);
  return chosen;
}

ChosenProfile choose_profile(const std::string& asked, const Machine& machine,
                             const Implementation& implementation) {
  if (asked == "auto" && machine.profile.empty()) return chosen_by_gpus(machine, implementation);
  if (const auto transfer = transfer_from(asked)) {
    ChosenProfile chosen =
        transfer_of(asked, {*transfer, "--profile " + printable(asked), ""}, implementation);
    chosen.reason = "`--profile` asks for it";
    return chosen;
  }
  const bool is_asked = asked != "auto";
  const std::string where =
      is_asked ? "--profile " + printable(asked) : "machine `" + printable(machine.name) + "` (profile)";
  ChosenProfile chosen = named(is_asked ? asked : machine.profile, where, implementation);
  chosen.reason = is_asked ? "`--profile` asks for it" : "the machine's file asks for it";
  return chosen;
}

}  // namespace lanecast
