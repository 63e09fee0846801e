#include "configs/profile_fields.hpp"

namespace lanecast {

const FormatMark& profile_mark() {
  static const FormatMark mark{"lanecast_profile", profile_format, "a profile", "docs/profile-file.md"};
  return mark;
}

const char* describe(ProfileType type) {
  switch (type) {
    case ProfileType::text:
      return "text";
    case ProfileType::texts:
      return "a list of texts";
    case ProfileType::name:
      return "a name";
    case ProfileType::date:
      return "a date such as `2026-11-30`";
    case ProfileType::number:
      return "a number without a unit";
    case ProfileType::integer:
      return "a whole number";
    case ProfileType::bytes:
      return "a size such as `256 KiB`";
    case ProfileType::flag:
      return "`true` or `false`";
    case ProfileType::protocol:
      return "`simple`, `ll` or `ll128`";
    case ProfileType::transport:
      return "`p2p` or `shm`";
    case ProfileType::launch:
      return "`graph` or `stream`";
    case ProfileType::triangle:
      return "rows of 1, 2, 3 ... numbers";
    case ProfileType::section:
      return "a mapping";
    case ProfileType::sections:
      return "a list of mappings";
    case ProfileType::parts:
      return "a mapping of `nccl`, `lanecast`";
    case ProfileType::values:
      break;
  }
  return "a mapping of parameters";
}

const std::vector<ProfileKey>& profile_keys() {
  using enum ProfileType;
  static const std::vector<ProfileKey> keys{
      {"", "profile", name, true, "the profile's name"},
      {"", "description", text, false, "what it is, in a sentence"},
      {"", "gpus", texts, false, "GPU models that it is for; a machine of such GPUs takes it by itself"},
      {"", "implementations", parts, false, "values by implementation; `nccl` serves all releases and rccl"},
      {"", "transfer", section, false, "profiles whose values are taken, instead of `implementations`"},
      {"transfer", "gpu", text, false, "profile (name or file) that lends the GPU's parameters"},
      {"transfer", "link", text, false, "profile (name or file) that lends the links' parameters"},
      {"implementation", "date", date, false, "day of the fit"},
      {"implementation", "command", text, false, "the command that repeats it"},
      {"implementation", "sources", sections, false, "the data of the fit"},
      {"implementation", "holdout", sections, false, "errors on calls that the fit did not see"},
      {"implementation", "range", section, false, "what the data covered"},
      {"implementation", "parameters", values, false, "values; a parameter that is not here is the prior"},
      {"implementation", "covariance", section, false, "of the logarithms of fitted values"},
      {"implementation", "spread", sections, false, "how far measured times lie from fitted ones"},
      {"source", "file", text, true, "name of the data's file, without folder"},
      {"source", "digest", text, false, "digest of its bytes (64-bit FNV-1a)"},
      {"source", "machine", text, false, "machine that its calls were predicted on"},
      {"source", "rows", integer, false, "rows that were used"},
      {"holdout", "kind", text, true, "the calls: `simple p2p`, `all`"},
      {"holdout", "how", text, true, "what was held out: `5 folds of configurations`"},
      {"holdout", "rows", integer, true, "calls"},
      {"holdout", "median_abs_error", number, true, "median of |predicted / measured - 1|"},
      {"holdout", "p95_abs_error", number, true, "its 95th percentile"},
      {"holdout", "coverage", number, true, "share of measured times inside the 90 % band"},
      {"range", "ranks_from", integer, true, "fewest GPUs of a call"},
      {"range", "ranks_to", integer, true, "most"},
      {"range", "size_from", bytes, true, "smallest size"},
      {"range", "size_to", bytes, true, "largest"},
      {"range", "channels_from", integer, true, "fewest channels"},
      {"range", "channels_to", integer, true, "most"},
      {"range", "kinds", texts, false, "algorithm, protocol and class of path: `ring/simple/p2p-nvlink`"},
      {"range", "links", texts, false, "slowest link of a path: `gen5 x16`, `nvlink`"},
      {"range", "launches", texts, false, "`graph`, `stream`"},
      {"range", "collectives", texts, false, "`all_reduce` ..."},
      {"parameter", "value", number, true, "in the parameter's unit"},
      {"parameter", "unit", text, false, "the parameter's unit; required unless it is 1"},
      {"parameter", "low", number, false, "lower end of the 95 % interval; a fitted value has one"},
      {"parameter", "high", number, false, "upper end"},
      {"parameter", "determined", flag, false, "false: the data can't tell the value [true]"},
      {"parameter", "note", text, false, "what the fit says: `cannot be told apart from simple.overhead`"},
      {"parameter", "source", text, false, "where the value is from, where not from the fit"},
      {"covariance", "names", texts, true, "fitted parameters; those that are not here have none"},
      {"covariance", "rows", triangle, true, "lower triangle, a row a name, in their order"},
      {"spread", "protocol", protocol, true, "of the calls"},
      {"spread", "transport", transport, true, "of the calls"},
      {"spread", "launch", launch, false, "of the calls [graph]"},
      {"spread", "from", bytes, true, "smallest size"},
      {"spread", "to", bytes, true, "largest"},
      {"spread", "spread", number, true, "robust standard deviation of log(measured / predicted)"},
      {"spread", "rows", integer, true, "calls that it rests on"},
      {"spread", "held_out", flag, false, "true: on calls that the fit did not see [false]"},
  };
  return keys;
}

std::string section_below(const std::string& key) {
  if (key == "implementations") return "implementation";
  if (key == "parameters") return "parameter";
  if (key == "sources") return "source";
  return key;
}

const std::vector<std::string>& profile_implementations() {
  static const std::vector<std::string> names{"nccl", "lanecast"};
  return names;
}

}  // namespace lanecast
