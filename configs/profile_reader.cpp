#include "configs/profile_reader.hpp"

#include <algorithm>
#include <utility>

#include "configs/profile_covariance.hpp"
#include "configs/profile_section.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// Reads one document into a profile file; problems gather until the end.
class ProfileReader {
 public:
  ProfileReader(const YamlNode& root, const std::string& file) : root_(root), problems_(file) {}

  ProfileFile read() {
    check_format(root_, profile_mark(), problems_);
    ProfileSection top(root_, "", "", problems_);
    top.read("profile", file_.name);
    top.read("description", file_.description);
    top.read("gpus", file_.gpus);
    if (top.has("implementations") == top.has("transfer")) {
      top.complain("implementations",
                   top.has("transfer") ? "the file has both `implementations` and `transfer`"
                                       : "the file has neither `implementations` nor `transfer`",
                   "write one of them: values of its own, or where they are taken from");
    }
    read_implementations(top);
    read_transfer(top);
    problems_.throw_if_any();
    return std::move(file_);
  }

 private:
  void read_implementations(ProfileSection& top);
  void read_transfer(ProfileSection& top);
  Profile read_part(const YamlNode& map, const std::string& path);
  bool read_parameters(const YamlNode& map, const std::string& path, Profile& profile, FitRecord& fit);
  void read_parameter(ProfileSection& section, Param parameter, Profile& profile, FitRecord& fit);
  void check_value(ProfileSection& section, Param parameter, const FittedParameter& fitted);
  void check_order(ProfileSection& section, const std::string& from, const std::string& to, bool good);
  void read_range(const YamlNode& map, const std::string& path, CalibratedRange& range);
  void read_lists(ProfileSection& part, FitRecord& fit);

  /// Calls read(ProfileSection&, T&) for each mapping of a list.
  template <class T, class Read>
  void read_list(ProfileSection& part, const std::string& key, std::vector<T>& to, Read&& read) {
    const YamlNode* list = part.value(key, YamlNode::Kind::list);
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const std::string path = part.path_of(key) + "[" + std::to_string(i) + "]";
      if (!expect_kind(list->items[i], YamlNode::Kind::map, path, problems_)) continue;
      ProfileSection section(list->items[i], section_below(key), path, problems_);
      T element;
      read(section, element);
      to.push_back(std::move(element));
    }
  }

  const YamlNode& root_;
  ProfileFile file_;
  ProblemList problems_;
};

void ProfileReader::read_implementations(ProfileSection& top) {
  const YamlNode* parts = top.value("implementations", YamlNode::Kind::map);
  if (parts == nullptr) return;
  const std::string path = top.path_of("implementations");
  check_keys(*parts, profile_implementations(), path, problems_);
  if (parts->keys.empty()) {
    problems_.add(
        {parts->at, path, "`implementations` is empty", "write `nccl: {...}` or `lanecast: {...}`"});
  }
  for (std::size_t i = 0; i < parts->keys.size(); ++i) {
    const std::string& name = parts->keys[i].text;
    const std::string part_path = joined_path(path, name);
    if (!expect_kind(parts->items[i], YamlNode::Kind::map, part_path, problems_)) continue;
    Profile part = read_part(parts->items[i], part_path);
    file_.implementations.emplace(name, std::move(part));
  }
}

void ProfileReader::read_transfer(ProfileSection& top) {
  const YamlNode* map = top.value("transfer", YamlNode::Kind::map);
  if (map == nullptr) return;
  ProfileSection section(*map, "transfer", "transfer", problems_);
  file_.transfer.emplace();
  section.read("gpu", file_.transfer->gpu);
  section.read("link", file_.transfer->link);
  if (map->keys.empty()) {
    problems_.add({map->at, "transfer", "`transfer` is empty", "write `{gpu: NAME, link: NAME}`"});
  }
}

Profile ProfileReader::read_part(const YamlNode& map, const std::string& path) {
  ProfileSection part(map, "implementation", path, problems_);
  Profile profile;
  profile.name = file_.name;
  FitRecord fit;
  part.read("date", fit.date);
  part.read("command", fit.command);
  read_lists(part, fit);
  if (const YamlNode* range = part.value("range", YamlNode::Kind::map)) {
    read_range(*range, part.path_of("range"), fit.range);
  }
  bool names_are_read = true;
  if (const YamlNode* parameters = part.value("parameters", YamlNode::Kind::map)) {
    names_are_read = read_parameters(*parameters, part.path_of("parameters"), profile, fit);
  }
  const YamlNode* covariance = part.value("covariance", YamlNode::Kind::map);
  if (covariance != nullptr && names_are_read) {
    read_covariance(*covariance, part.path_of("covariance"), fit, problems_);
  }
  bool is_fitted = !fit.parameters.empty();
  for (const char* key : {"date", "command", "sources", "holdout", "range", "spread"}) {
    is_fitted = is_fitted || part.has(key);
  }
  if (is_fitted) profile.fit = std::move(fit);
  return profile;
}

void ProfileReader::read_lists(ProfileSection& part, FitRecord& fit) {
  read_list(part, "sources", fit.sources, [](ProfileSection& section, FitSource& source) {
    section.read("file", source.file);
    section.read("digest", source.digest);
    section.read("machine", source.machine);
    section.read("rows", source.rows);
  });
  read_list(part, "holdout", fit.holdout, [](ProfileSection& section, HoldoutError& error) {
    section.read("kind", error.kind);
    section.read("how", error.how);
    section.read("rows", error.rows);
    section.read("median_abs_error", error.median_abs_error);
    section.read("p95_abs_error", error.p95_abs_error);
    section.read("coverage", error.coverage);
    if (error.coverage > 1) section.complain("coverage", "`coverage` is above 1", "write a share, 0 to 1");
  });
  read_list(part, "spread", fit.spread, [this](ProfileSection& section, ResidualSpread& spread) {
    section.read("protocol", spread.protocol);
    section.read("transport", spread.transport);
    section.read("launch", spread.launch);
    section.read("from", spread.from);
    section.read("to", spread.to);
    section.read("spread", spread.spread);
    section.read("rows", spread.rows);
    section.read("held_out", spread.held_out);
    check_order(section, "from", "to", spread.from <= spread.to);
  });
}

void ProfileReader::check_order(ProfileSection& section, const std::string& from, const std::string& to,
                                bool good) {
  if (good || !section.has(from) || !section.has(to) || problems_.has(section.path_of(to))) return;
  section.complain(from, "`" + from + "` is above `" + to + "`", "exchange them");
}

void ProfileReader::read_range(const YamlNode& map, const std::string& path, CalibratedRange& range) {
  ProfileSection section(map, "range", path, problems_);
  section.read("ranks_from", range.ranks_from);
  section.read("ranks_to", range.ranks_to);
  section.read("size_from", range.size_from);
  section.read("size_to", range.size_to);
  section.read("channels_from", range.channels_from);
  section.read("channels_to", range.channels_to);
  section.read("kinds", range.kinds);
  section.read("links", range.links);
  section.read("launches", range.launches);
  section.read("collectives", range.collectives);
  check_order(section, "ranks_from", "ranks_to", range.ranks_from <= range.ranks_to);
  check_order(section, "size_from", "size_to", range.size_from <= range.size_to);
  check_order(section, "channels_from", "channels_to", range.channels_from <= range.channels_to);
}

/// @return false where a name is unknown, or a value unreadable: then other places that name it are not to
/// blame
bool ProfileReader::read_parameters(const YamlNode& map, const std::string& path, Profile& profile,
                                    FitRecord& fit) {
  std::vector<std::string> names;
  for (const ParameterInfo& known : parameter_table()) names.push_back(known.name);
  bool good = check_keys(map, names, path, problems_);
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& name = map.keys[i].text;
    const auto parameter = parameter_from_name(name);
    const std::string value_path = joined_path(path, name);
    if (!parameter || find_value(map, name) != &map.items[i]) continue;
    if (!expect_kind(map.items[i], YamlNode::Kind::map, value_path, problems_)) {
      good = false;
      continue;
    }
    ProfileSection section(map.items[i], "parameter", value_path, problems_);
    read_parameter(section, *parameter, profile, fit);
  }
  return good;
}

void ProfileReader::read_parameter(ProfileSection& section, Param parameter, Profile& profile,
                                   FitRecord& fit) {
  const ParameterInfo& about = info(parameter);
  FittedParameter fitted{parameter, about.prior, 0, 0, true, ""};
  std::string unit = "1", source;
  section.read("value", fitted.value);
  section.read("low", fitted.low);
  section.read("high", fitted.high);
  section.read("determined", fitted.determined);
  section.read("note", fitted.note);
  section.read("source", source);
  section.read("unit", unit);
  if (unit != about.unit) {
    section.complain("unit",
                     section.has("unit") ? "the unit of `" + about.name + "` is " + about.unit
                                         : "`" + about.name + "` is a quantity, and its unit is missing",
                     "write `unit: " + about.unit + "`, and the numbers in it");
  }
  check_value(section, parameter, fitted);
  if (section.has("low")) fit.parameters.push_back(fitted);
  if (!fitted.determined && fitted.value == about.prior) return;
  if (fitted.value < about.low || fitted.value > about.high) return;  // complained about
  profile.set(parameter, fitted.value, source.empty() ? origin_of_profile(file_.name) : source);
}

void ProfileReader::check_value(ProfileSection& section, Param parameter, const FittedParameter& fitted) {
  const ParameterInfo& about = info(parameter);
  const std::string unit = about.unit == "1" ? "" : " " + about.unit;
  const bool numbers_are_read = !problems_.has(section.path_of("value")) &&
                                !problems_.has(section.path_of("low")) &&
                                !problems_.has(section.path_of("high"));
  if (!problems_.has(section.path_of("value")) && (fitted.value < about.low || fitted.value > about.high)) {
    section.complain(
        "value", "`" + about.name + "` is " + format_number(fitted.value) + unit,
        "take a value from " + format_number(about.low) + " to " + format_number(about.high) + unit);
  }
  if (section.has("low") != section.has("high")) {
    section.complain(section.has("low") ? "low" : "high", "an interval has two ends",
                     "write both `low` and `high`, or neither");
  } else if (section.has("low") && numbers_are_read &&
             !(fitted.low <= fitted.value && fitted.value <= fitted.high)) {
    section.complain("low", "the value " + format_number(fitted.value) + " is not from `low` to `high`",
                     "take the interval around the value");
  }
  for (const char* key : {"determined", "note"}) {
    if (section.has(key) && !section.has("low") && !section.has("high")) {
      section.complain(key, std::string("`") + key + "` is for fitted values, which have an interval",
                       "leave it out, or write `low` and `high`");
    }
  }
}

}  // namespace

ProfileFile read_profile_file(const std::string& text, const std::string& name) {
  const YamlNode root = parse_yaml(text, name);
  return ProfileReader(root, name).read();
}

}  // namespace lanecast
