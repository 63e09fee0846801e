#include "configs/profile_writer.hpp"

#include <algorithm>

#include "configs/profile_fields.hpp"
#include "configs/quantity.hpp"
#include "configs/yaml_scalar.hpp"

namespace lanecast {
namespace {

/// The shortest digits that read back to the same value. YAML 1.1 takes `1e-9` for text, but not `1.0e-9`.
std::string number(double value) {
  std::string text = format_number(value);
  const std::size_t e = text.find('e');
  if (e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
  return text;
}

/// Builds `{key: value, ...}`.
class FlowMap {
 public:
  FlowMap& add(const std::string& key, const std::string& yaml) {
    text_ += (text_.empty() ? "{" : ", ") + key + ": " + yaml;
    return *this;
  }
  FlowMap& add_text(const std::string& key, const std::string& text) {
    return text.empty() ? *this : add(key, yaml_text(text));
  }
  std::string take() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

/// Collects the lines of a file: `line(2, "gpus: []")` is indented by two levels.
class Lines {
 public:
  void line(int level, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(level) * 2, ' ') + text + "\n";
  }
  void text_line(int level, const std::string& key, const std::string& text) {
    if (!text.empty()) line(level, key + ": " + yaml_text(text));
  }
  void add(const Lines& others) { text_ += others.text_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string flow_list(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& item : texts) text += (text.empty() ? "" : ", ") + yaml_text(item);
  return "[" + text + "]";
}

void write_sources(const std::vector<FitSource>& sources, Lines& lines) {
  if (!sources.empty()) lines.line(2, "sources:");
  for (const FitSource& source : sources) {
    FlowMap map;
    map.add("file", yaml_text(source.file)).add_text("machine", source.machine);
    map.add("rows", std::to_string(source.rows)).add_text("digest", source.digest);
    lines.line(3, "- " + map.take());
  }
}

void write_holdout(const std::vector<HoldoutError>& errors, Lines& lines) {
  if (!errors.empty()) lines.line(2, "holdout:  # errors are shares: 0.03 is 3 %");
  for (const HoldoutError& error : errors) {
    FlowMap map;
    map.add("kind", yaml_text(error.kind)).add("how", yaml_text(error.how));
    map.add("rows", std::to_string(error.rows)).add("median_abs_error", number(error.median_abs_error));
    map.add("p95_abs_error", number(error.p95_abs_error)).add("coverage", number(error.coverage));
    lines.line(3, "- " + map.take());
  }
}

void write_range(const CalibratedRange& range, Lines& lines) {
  lines.line(2, "range:  # what the data covered");
  const auto ends = [&](const std::string& key, const std::string& from, const std::string& to) {
    lines.line(3, key + "_from: " + from);
    lines.line(3, key + "_to: " + to);
  };
  ends("ranks", std::to_string(range.ranks_from), std::to_string(range.ranks_to));
  ends("size", format_bytes(range.size_from), format_bytes(range.size_to));
  ends("channels", std::to_string(range.channels_from), std::to_string(range.channels_to));
  const auto list = [&](const std::string& key, const std::vector<std::string>& texts) {
    if (!texts.empty()) lines.line(3, key + ": " + flow_list(texts));
  };
  list("kinds", range.kinds);
  list("links", range.links);
  list("launches", range.launches);
  list("collectives", range.collectives);
}

std::string value_map(const Profile& profile, Param parameter, const FittedParameter* fitted) {
  const ParameterInfo& about = info(parameter);
  const bool is_set = !profile.from_prior(parameter);
  FlowMap map;
  map.add("value", number(is_set || fitted == nullptr ? profile.value(parameter) : fitted->value));
  if (about.unit != "1") map.add("unit", yaml_text(about.unit));
  if (fitted != nullptr) {
    map.add("low", number(fitted->low)).add("high", number(fitted->high));
    if (!fitted->determined) map.add("determined", "false");
    map.add_text("note", fitted->note);
  }
  const std::string origin = is_set ? profile.origin(parameter) : "";
  if (origin != origin_of_profile(profile.name)) map.add_text("source", origin);
  return map.take();
}

/// Fitted values first, in the order of the fit, which is the covariance's.
void write_parameters(const Profile& profile, Lines& lines) {
  std::vector<std::string> texts;
  std::vector<Param> written;
  for (const FittedParameter& fitted :
       profile.fit ? profile.fit->parameters : std::vector<FittedParameter>()) {
    texts.push_back(info(fitted.parameter).name + ": " + value_map(profile, fitted.parameter, &fitted));
    written.push_back(fitted.parameter);
  }
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const bool is_written = std::find(written.begin(), written.end(), parameter) != written.end();
    if (is_written || profile.from_prior(parameter)) continue;
    texts.push_back(info(parameter).name + ": " + value_map(profile, parameter, nullptr));
  }
  if (!texts.empty())
    lines.line(2, "parameters:  # low and high: the 95 % interval; without a unit: a pure number");
  for (const std::string& text : texts) lines.line(3, text);
}

void write_covariance(const FitRecord& fit, Lines& lines) {
  const std::size_t count = fit.parameters.size();
  if (fit.covariance.size() != count * count) return;
  std::vector<std::size_t> places;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (fit.covariance[i * count + i] == 0) continue;
    places.push_back(i);
    names.push_back(info(fit.parameters[i].parameter).name);
  }
  if (places.empty()) return;
  lines.line(2, "covariance:  # of the natural logarithms of the values, lower triangle");
  lines.line(3, "names: " + flow_list(names));
  lines.line(3, "rows:");
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::string row;
    for (std::size_t j = 0; j <= i; ++j) {
      row += (j == 0 ? "" : ", ") + number(fit.covariance[places[i] * count + places[j]]);
    }
    lines.line(4, "- [" + row + "]");
  }
}

void write_spread(const std::vector<ResidualSpread>& spreads, Lines& lines) {
  if (!spreads.empty()) lines.line(2, "spread:  # standard deviation of log(measured / predicted)");
  for (const ResidualSpread& spread : spreads) {
    FlowMap map;
    map.add("protocol", to_string(spread.protocol)).add("transport", to_string(spread.transport));
    if (spread.launch == Launch::stream) map.add("launch", to_string(spread.launch));
    map.add("from", format_bytes(spread.from)).add("to", format_bytes(spread.to));
    map.add("spread", number(spread.spread)).add("rows", std::to_string(spread.rows));
    if (spread.held_out) map.add("held_out", "true");
    lines.line(3, "- " + map.take());
  }
}

bool is_stated(const CalibratedRange& range) {
  return range.ranks_to != 0 || range.size_to.value() != 0 || range.channels_to != 0 ||
         !range.kinds.empty() || !range.links.empty() || !range.launches.empty() ||
         !range.collectives.empty();
}

void write_part(const std::string& name, const Profile& profile, Lines& lines) {
  Lines part;
  const FitRecord fit = profile.fit.value_or(FitRecord());
  part.text_line(2, "date", fit.date);
  part.text_line(2, "command", fit.command);
  write_sources(fit.sources, part);
  write_holdout(fit.holdout, part);
  if (is_stated(fit.range)) write_range(fit.range, part);
  write_parameters(profile, part);
  write_covariance(fit, part);
  write_spread(fit.spread, part);
  lines.line(1, name + (part.text().empty() ? ": {}" : ":"));
  lines.add(part);
}

}  // namespace

std::string write_profile(const ProfileFile& file) {
  Lines lines;
  lines.line(0, profile_mark().key + ": " + std::to_string(profile_format));
  lines.line(0, "profile: " + yaml_text(file.name));
  lines.text_line(0, "description", file.description);
  if (!file.gpus.empty()) lines.line(0, "gpus: " + flow_list(file.gpus));
  if (file.transfer) {
    FlowMap map;
    map.add_text("gpu", file.transfer->gpu).add_text("link", file.transfer->link);
    lines.line(0, "transfer: " + map.take());
    return lines.text();
  }
  lines.line(0, "implementations:");
  for (const auto& [name, part] : file.implementations) write_part(name, part, lines);
  return lines.text();
}

}  // namespace lanecast
