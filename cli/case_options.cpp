#include "cli/case_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/option_values.hpp"
#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr const char* kCall = "call.";
constexpr const char* kEnvironment = "env.";

bool begins_with(const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; }

/// Long names of the call's flags, without dashes.
std::vector<std::string> call_keys(const CLI::App& flags) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : flags.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help") keys.push_back(name);
    }
  }
  return keys;
}

/// Lets the call's own flags read the value.
void set_call(CallOptions& call, const std::string& set) {
  const auto [path, value] = path_and_value(set);
  std::string key = path.substr(std::string(kCall).size());
  for (char& c : key) {
    if (c == '_') c = '-';
  }
  if (value.empty()) {
    throw Error(ErrorKind::usage, "`" + printable(path) + "` is empty", "--set " + printable(set),
                "take a value that `--" + key + "` takes");
  }
  CLI::App flags;
  add_call_options(flags, call);
  const std::vector<std::string> keys = call_keys(flags);
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    const std::string near = nearest(key, keys);
    throw Error(ErrorKind::usage, "a call has no `" + printable(key) + "`", "--set " + printable(set),
                (near.empty() ? "" : "did you mean `call." + near + "`? ") + "it has " + listed(keys));
  }
  try {
    std::vector<std::string> words{"--" + key + "=" + value};
    flags.parse(words);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, error.what(), "--set " + printable(set),
                "take a value that `--" + key + "` takes");
  }
}

}  // namespace

std::pair<std::string, std::string> path_and_value(const std::string& set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos) return {set, ""};
  return {set.substr(0, equals), set.substr(equals + 1)};
}

TypedCase read_case(const std::string& text) {
  const std::string form = "write it like `--case narrow:links.gpu0.width=x8,links.gpu1.width=x8`";
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find('=') < colon) {
    throw Error(ErrorKind::usage, "`" + printable(text) + "` is not NAME:PATH=VALUE", "--case", form);
  }
  TypedCase made{text.substr(0, colon), {}};
  for (const std::string& piece : split(text.substr(colon + 1), ',')) {
    if (piece.find('=') != std::string::npos) {
      made.sets.push_back(piece);
    } else if (!made.sets.empty()) {
      made.sets.back() += "," + piece;
    } else {
      throw Error(
          ErrorKind::usage,
          "case `" + printable(made.name) + "` sets nothing: `" + printable(piece) + "` is not PATH=VALUE",
          "--case", form);
    }
  }
  return made;
}

SituationOptions with_sets(SituationOptions options, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    if (begins_with(set, kCall)) {
      set_call(options.call, set);
    } else if (begins_with(set, kEnvironment)) {
      options.nccl.settings.push_back(set.substr(std::string(kEnvironment).size()));
    } else {
      options.machine.sets.push_back(set);
    }
  }
  return options;
}

}  // namespace lanecast
