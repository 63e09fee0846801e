#include "cli/calibration_result.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "model/predict/band.hpp"
#include "model/profile/coordinate.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr double kInterval = 1.96;      // deviations: 95 % of a normal distribution
constexpr std::size_t kFewestRows = 5;  // from which a spread is told

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string note_of(const FitResult& fit, Param parameter) {
  std::string note;
  for (const auto& [a, b] : fit.confounded) {
    if (a != parameter && b != parameter) continue;
    note += (note.empty() ? "goes with " : ", ") + info(a == parameter ? b : a).name;
  }
  if (std::find(fit.at_edge.begin(), fit.at_edge.end(), parameter) != fit.at_edge.end())
    note += note.empty() ? "at the end of its range" : "; at the end of its range";
  return note;
}

}  // namespace

std::vector<std::string> gpu_models_of(const Machine& machine) {
  std::vector<std::string> models;
  for (const int gpu : present_gpus(machine)) {
    const std::string& model = machine.gpus[static_cast<std::size_t>(gpu)].model;
    if (!model.empty() && std::find(models.begin(), models.end(), model) == models.end())
      models.push_back(model);
  }
  return models;
}

void CalibrationResult::add_held_out(const std::string& title, HeldOuts held) {
  held_.push_back({title, std::move(held)});
}

std::vector<std::optional<HeldOut>> CalibrationResult::own_errors() const {
  std::vector<std::optional<HeldOut>> errors;
  for (std::size_t i = 0; i < fit_.residuals.size(); ++i) {
    HeldOut one;
    one.error = std::exp(-fit_.residuals[i]) - 1.0;
    one.deviation = fit_.spread[problem_.data().observations[i].kind];
    one.covered = std::abs(fit_.residuals[i]) <= kBandDeviations * one.deviation;
    errors.push_back(one);
  }
  return errors;
}

ErrorTable CalibrationResult::table(const std::string& title,
                                    const std::vector<std::optional<HeldOut>>& errors) const {
  std::map<std::pair<std::string, std::string>, std::vector<ErrorSample>> of;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Observation& seen = problem_.data().observations[i];
    if (!errors[i] || seen.first_of_sweep) continue;
    ErrorSample sample = problem_.about()[i].call.value_or(ErrorSample{});
    sample.error = errors[i]->error;
    sample.within = errors[i]->covered;
    const std::string& kind = problem_.data().kinds[seen.kind];
    of[{kind, "both"}].push_back(sample);
    if (!problem_.about()[i].call) continue;
    const auto& place = problem_.about()[i].keys[CallKey::in_place];
    of[{kind, place == "true" ? "in place" : "out of place"}].push_back(sample);
  }
  ErrorTable result;
  result.title = title;
  for (const auto& [key, samples] : of) result.rows.push_back({key.first, key.second, summarize(samples)});
  return result;
}

void CalibrationResult::describe(CalibrationReport& report) const {
  report.implementation = problem_.part();
  report.observations = static_cast<int>(problem_.data().observations.size());
  report.configurations = static_cast<int>(problem_.data().configurations.size());
  report.evaluations = fit_.evaluations;
  report.errors.push_back(table("of the fit itself", own_errors()));
  for (const Held& held : held_) report.errors.push_back(table("held out: " + held.title, held.held));
  for (const std::size_t c : outlier_configurations(problem_.data(), fit_))
    report.outliers.push_back(problem_.data().configurations[c]);
  for (const auto& [a, b] : fit_.confounded)
    report.confounded.push_back(info(a).name + " and " + info(b).name);
  for (const Param parameter : fit_.at_edge) report.at_edge.push_back(info(parameter).name);
  report.left_out = problem_.left_out;
  report.warnings = problem_.warnings;
}

std::vector<FittedParameter> CalibrationResult::parameters() const {
  std::vector<FittedParameter> list;
  for (std::size_t k = 0; k < fit_.coordinates.size(); ++k) {
    const Coordinate& coordinate = fit_.coordinates[k];
    const auto at = static_cast<Eigen::Index>(k);
    const double sd = fit_.deviations[at];
    FittedParameter one;
    one.parameter = coordinate.parameter();
    one.value = fit_.profile.value(coordinate.parameter());
    one.low = coordinate.value(fit_.x[at] - kInterval * sd);
    one.high = coordinate.value(fit_.x[at] + kInterval * sd);
    one.determined = true;
    one.note = note_of(fit_, coordinate.parameter());
    list.push_back(one);
  }
  for (const Param parameter : fit_.undetermined) {
    FittedParameter one;
    one.parameter = parameter;
    one.value = fit_.profile.value(parameter);
    one.low = info(parameter).low;
    one.high = info(parameter).high;
    one.note = "the data can't tell";
    list.push_back(one);
  }
  return list;
}

std::vector<double> CalibrationResult::covariance(const std::vector<FittedParameter>& parameters) const {
  const std::size_t count = parameters.size();
  const std::size_t known = fit_.coordinates.size();
  std::vector<double> matrix(count * count, 0.0);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (a < known && b < known) {
        matrix[a * count + b] = fit_.covariance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
      } else if (a == b) {
        matrix[a * count + b] = std::pow(Coordinate(parameters[a].parameter).prior_sd(), 2);
      }
    }
  }
  return matrix;
}

/// By protocol, transport and size band. What was held out tells more than what was fitted.
std::vector<ResidualSpread> CalibrationResult::spreads() const {
  const bool validated = !held_.empty();
  const std::vector<std::optional<HeldOut>> errors = validated ? held_.back().held : own_errors();
  std::vector<ResidualSpread> list;
  for (const Launch launch : {Launch::graph, Launch::stream}) {
    for (const char* transport : {"p2p", "shm"}) {
      for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
        for (const SizeBand& band : size_bands()) {
          std::vector<double> logs;
          ResidualSpread spread;
          for (std::size_t i = 0; i < errors.size(); ++i) {
            const auto& call = problem_.about()[i].call;
            const bool counts = errors[i] && call && call->protocol == protocol &&
                                call->transport == transport && size_band_of(call->size).name == band.name &&
                                problem_.about()[i].launch == launch &&
                                !problem_.data().observations[i].first_of_sweep;
            if (!counts) continue;
            logs.push_back(std::abs(std::log1p(errors[i]->error)));
            if (spread.to.value() == 0 || call->size < spread.from) spread.from = call->size;
            spread.to = std::max(spread.to, call->size);
          }
          if (logs.size() < kFewestRows) continue;
          spread.protocol = protocol;
          spread.launch = launch;
          spread.transport = std::string(transport) == "shm" ? Transport::shm : Transport::p2p;
          spread.spread = std::max(0.01, quantile_of(logs, 0.9) / kBandDeviations);
          spread.rows = static_cast<int>(logs.size());
          spread.held_out = validated;
          list.push_back(spread);
        }
      }
    }
  }
  return list;
}

std::vector<HoldoutError> CalibrationResult::holdout_errors() const {
  std::vector<HoldoutError> list;
  for (const Held& held : held_) {
    for (const ErrorTable::Row& row : table(held.title, held.held).rows) {
      if (row.place != "both") continue;
      list.push_back({row.kind, held.title, static_cast<int>(row.summary.n), row.summary.median_abs_error,
                      row.summary.p95_abs_error, row.summary.coverage.value_or(0)});
    }
  }
  return list;
}

Profile CalibrationResult::profile(const std::vector<FitSource>& sources, const std::string& command) const {
  Profile profile = fit_.profile;
  FitRecord record;
  record.parameters = parameters();
  record.covariance = covariance(record.parameters);
  record.spread = spreads();
  record.range = problem_.range();
  record.sources = sources;
  record.holdout = holdout_errors();
  record.date = today();
  record.command = command;
  for (const FittedParameter& one : record.parameters) {
    if (one.determined) profile.set(one.parameter, one.value, "fitted to measurements");
  }
  profile.fit = record;
  return profile;
}

}  // namespace lanecast
