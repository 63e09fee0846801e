#include "cli/compare_options.hpp"

#include <cmath>

#include "cli/option_values.hpp"
#include "configs/problem_list.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

void add_predicting_options(CLI::App& command, CompareOptions& options) {
  const auto add = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("Predicting the rows of data");
  };
  CLI::Option* machine =
      add("--machine", options.machine.machine, "predict each row of the data on this machine")
          ->type_name("MACHINE");
  command.add_option("--set", options.machine.sets, "change one value: links.gpu0.width=x8 (repeatable)")
      ->allow_extra_args(false)
      ->needs(machine)
      ->group("Predicting the rows of data");
  add_profile_option(command, options.machine.profile);
  command.get_option("--profile")->group("Predicting the rows of data");
  add("--implementation", options.implementation, "whose decisions [as the data say, else nccl]")
      ->needs(machine);
  command
      .add_flag("--with-nccl-model", options.nccl_model,
                "NCCL's own estimate of each row beside the prediction")
      ->needs(machine)
      ->group("Predicting the rows of data");
  command.add_flag("--exact", options.exact, "simulate every slice; no folding of repeated loops and steps")
      ->needs(machine)
      ->group("Predicting the rows of data");
  add("--seed", options.seed, "seed of the spread between channels")
      ->envname("LANECAST_SEED")
      ->capture_default_str();
  add("--jobs", options.jobs, "simulations at a time; 0 is one a core")
      ->envname("LANECAST_JOBS")
      ->capture_default_str();
}

void add_row_options(CLI::App& command, CompareOptions& options) {
  constexpr const char* kGroup = "Rows";
  command.add_flag("--in-place", options.in_place, "rows in place instead of those out of place")
      ->group(kGroup);
  command.add_flag("--with-first-rows", options.first_rows, "the first row of a sweep counts as others do")
      ->group(kGroup);
  command.add_option("--min-size", options.min_size, "smallest size that counts, such as 1K")->group(kGroup);
  command.add_option("--only", options.only, "rows with these values: protocol=ll,channels=2,8 (repeatable)")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false)
      ->group(kGroup);
}

/// The value of a key in the spelling of `CallKeys`.
std::string key_value(CallKey key, const std::string& text, const std::string& flag) {
  if (key == CallKey::size || key == CallKey::chunk || key == CallKey::buffsize)
    return std::to_string(read_size(text, flag + " " + printable(text)).value());
  return text;
}

Error bad_filter(const std::string& text, const std::string& flag) {
  return {ErrorKind::usage, "`" + printable(text) + "` says nothing of a key", flag,
          "write KEY=VALUE, such as `" + flag + " protocol=ll,channels=2,8`"};
}

CallKey read_key(const std::string& name, const std::string& flag) {
  const std::optional<CallKey> key = call_key_from_string(name);
  if (!key) throw unknown_choice(name, flag, call_key_names());
  return *key;
}

}  // namespace

void add_compare_options(CLI::App& command, CompareOptions& options) {
  command
      .add_option("FILES", options.files,
                  "MEASURED PREDICTED; with --machine: one or more files of measurements")
      ->required();
  add_predicting_options(command, options);
  add_data_options(command, options.data);
  add_row_options(command, options);
  command.add_option("--tolerance", options.tolerance, "exit code 3 where an error is larger: 10% or 0.1")
      ->group("Check");
  command
      .add_option("--tolerance-of", options.tolerance_of,
                  "what it bounds: max (every row), or the median or p95 of each protocol and transport")
      ->capture_default_str()
      ->group("Check");
  command.add_option("--rows", options.rows, "rows in a table: all, worst, or auto (all where they are few)")
      ->capture_default_str()
      ->group("Output");
  command.add_option("--worst", options.worst, "how many of the worst rows")
      ->capture_default_str()
      ->group("Output");
  add_output_options(command, options.output);
}

ComparisonOptions read_comparison_options(const CompareOptions& options) {
  ComparisonOptions comparison;
  comparison.in_place = options.in_place;
  comparison.first_rows = options.first_rows;
  if (!options.min_size.empty())
    comparison.min_size = read_size(options.min_size, "--min-size " + printable(options.min_size));
  comparison.only = read_call_filter(options.only, "--only");
  return comparison;
}

CallFilter read_call_filter(const std::vector<std::string>& texts, const std::string& flag) {
  CallFilter filter;
  for (const std::string& text : texts) {
    std::optional<CallKey> key;
    for (const std::string& piece : split(text, ',')) {
      const std::size_t equals = piece.find('=');
      if (equals != std::string::npos) key = read_key(piece.substr(0, equals), flag);
      const std::string value = equals == std::string::npos ? piece : piece.substr(equals + 1);
      if (!key || value.empty()) throw bad_filter(text, flag);
      filter.allowed[*key].insert(key_value(*key, value, flag));
    }
  }
  return filter;
}

double read_share(const std::string& text, const std::string& flag) {
  const bool is_percent = !text.empty() && text.back() == '%';
  const Reading<double> number = parse_number(is_percent ? text.substr(0, text.size() - 1) : text);
  if (number && (is_percent || *number.value <= 1)) return is_percent ? *number.value / 100 : *number.value;
  throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
              "write a share, such as `10%` or `0.1`");
}

ToleranceOf read_tolerance_of(const CompareOptions& options) {
  return read_choice<ToleranceOf>(
      options.tolerance_of, "--tolerance-of",
      {{"max", ToleranceOf::max}, {"median", ToleranceOf::median}, {"p95", ToleranceOf::p95}});
}

RowsShown read_rows_shown(const CompareOptions& options) {
  return read_choice<RowsShown>(
      options.rows, "--rows",
      {{"auto", RowsShown::automatic}, {"all", RowsShown::all}, {"worst", RowsShown::worst}});
}

}  // namespace lanecast
