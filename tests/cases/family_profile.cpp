#include "tests/cases/family_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/profile/coordinate.hpp"
#include "tests/cases/errors.hpp"

namespace lanecast::cases {
namespace {

constexpr double kInterval = 1.96;  // deviations: 95 % of a normal distribution
constexpr double kBand = 1.645;     // the same for 90 %
constexpr double kLeastSpread = 0.01;
constexpr std::size_t kFewestRows = 5;  // from which a spread is told
constexpr const char* kDate = "2026-11-30";
constexpr const char* kHow = "one case at a time";

bool is_in(const std::vector<Param>& list, Param parameter) {
  return std::find(list.begin(), list.end(), parameter) != list.end();
}

std::string note_of(const FitResult& fit, Param parameter) {
  std::string note;
  for (const auto& [a, b] : fit.confounded) {
    if (a != parameter && b != parameter) continue;
    note += (note.empty() ? "goes with " : ", ") + info(a == parameter ? b : a).name;
  }
  if (is_in(fit.at_edge, parameter))
    note += note.empty() ? "at the end of its range" : "; at the end of its range";
  return note;
}

std::vector<FittedParameter> parameters_of(const FitResult& fit) {
  std::vector<FittedParameter> list;
  for (std::size_t k = 0; k < fit.coordinates.size(); ++k) {
    const Coordinate& coordinate = fit.coordinates[k];
    const auto at = static_cast<Eigen::Index>(k);
    const double deviation = std::sqrt(fit.covariance(at, at));
    list.push_back({coordinate.parameter(), fit.profile.value(coordinate.parameter()),
                    coordinate.value(fit.x[at] - kInterval * deviation),
                    coordinate.value(fit.x[at] + kInterval * deviation), true,
                    note_of(fit, coordinate.parameter())});
  }
  for (const Param parameter : fit.undetermined)
    list.push_back({parameter, fit.profile.value(parameter), info(parameter).low, info(parameter).high, false,
                    "the data can't tell"});
  return list;
}

std::vector<double> covariance_of(const FitResult& fit, const std::vector<FittedParameter>& parameters) {
  const std::size_t count = parameters.size();
  const std::size_t known = fit.coordinates.size();
  std::vector<double> matrix(count * count, 0.0);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < known && a < known; ++b)
      matrix[a * count + b] = fit.covariance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
    if (a >= known) matrix[a * count + a] = std::pow(Coordinate(parameters[a].parameter).prior_sd(), 2);
  }
  return matrix;
}

/// |log(measured / predicted)|: of cases held out where there are several, else of the fit.
double deviation_of(const CaseFit& fit, std::size_t i) {
  if (!fit.held.empty() && fit.held[i]) return std::abs(std::log1p(fit.held[i]->error));
  return std::abs(fit.fit.residuals[i]);
}

/// Of a protocol and a transport, over all sizes.
std::vector<ResidualSpread> spreads_of(const CaseProblem& problem, const CaseFit& fit) {
  struct Calls {
    ResidualSpread spread;
    std::vector<double> deviations;
  };
  std::map<std::pair<Protocol, bool>, Calls> groups;
  for (std::size_t i = 0; i < problem.about().size(); ++i) {
    const CaseObservation& about = problem.about()[i];
    if (about.is_copy) continue;
    Calls& calls = groups[{about.protocol, about.transport == "p2p"}];
    ResidualSpread& spread = calls.spread;
    const bool first = calls.deviations.empty();
    spread.protocol = about.protocol;
    spread.transport = about.transport == "p2p" ? Transport::p2p : Transport::shm;
    spread.from = first ? about.size : std::min(spread.from, about.size);
    spread.to = std::max(spread.to, about.size);
    spread.launch = Launch::stream;
    spread.held_out = !fit.held.empty();
    calls.deviations.push_back(deviation_of(fit, i));
  }
  std::vector<ResidualSpread> list;
  for (auto& [key, calls] : groups) {
    if (calls.deviations.size() < kFewestRows) continue;
    calls.spread.spread = std::max(kLeastSpread, quantile(calls.deviations, 0.9) / kBand);
    calls.spread.rows = static_cast<int>(calls.deviations.size());
    list.push_back(calls.spread);
  }
  return list;
}

HoldoutError holdout_of(const std::string& kind, const HeldOuts& held,
                        const std::function<bool(std::size_t)>& counts) {
  const auto summary = held_out_errors(held, counts);
  return {kind,
          kHow,
          static_cast<int>(summary.n),
          summary.median_abs_error,
          summary.p95_abs_error,
          summary.coverage.value_or(0)};
}

std::vector<HoldoutError> holdouts_of(const CaseProblem& problem, const CaseFit& fit) {
  std::vector<HoldoutError> list;
  if (fit.held.empty()) return list;
  for (std::size_t kind = 0; kind < problem.data().kinds.size(); ++kind) {
    list.push_back(holdout_of(problem.data().kinds[kind], fit.held,
                              [&](std::size_t i) { return problem.data().observations[i].kind == kind; }));
  }
  const auto large = [&](std::size_t i) {
    return !problem.about()[i].is_copy && problem.about()[i].size.value() >= (1u << 20);
  };
  list.push_back(holdout_of("all-reduce of 1 MiB and more", fit.held, large));
  list.erase(std::remove_if(list.begin(), list.end(), [](const HoldoutError& one) { return one.rows == 0; }),
             list.end());
  return list;
}

std::vector<FitSource> sources_of(const CaseProblem& problem) {
  std::map<std::pair<std::string, std::string>, int> rows;
  for (const CaseObservation& about : problem.about()) ++rows[{about.case_id, about.machine}];
  std::vector<FitSource> sources;
  for (const auto& [source, count] : rows)
    sources.push_back({"cases.yaml: " + source.first, "", source.second, count});
  return sources;
}

std::string description_of(const GpuFamily& family, const CaseFit& fit) {
  std::string text = family.title + ", fitted to others' published measurements (docs/accuracy.md)";
  if (!family.note.empty()) text += ": " + family.note;
  if (fit.held.empty()) text += "; one case, so that there is no hold-out error";
  return text;
}

}  // namespace

Profile fitted_profile(const std::string& name, const CaseProblem& problem, const CaseFit& fit) {
  Profile profile;
  profile.name = name;
  for (const Coordinate& coordinate : fit.fit.coordinates)
    profile.set(coordinate.parameter(), fit.fit.profile.value(coordinate.parameter()),
                origin_of_profile(name));
  FitRecord record;
  record.parameters = parameters_of(fit.fit);
  record.covariance = covariance_of(fit.fit, record.parameters);
  record.spread = spreads_of(problem, fit);
  record.range = problem.range();
  record.sources = sources_of(problem);
  record.holdout = holdouts_of(problem, fit);
  record.date = kDate;
  record.command = "family_cases cases.yaml --write-profiles configs/profiles";
  profile.fit = record;
  return profile;
}

ProfileFile family_profile(const GpuFamily& family, const CaseProblem& problem, const CaseFit& fit) {
  ProfileFile file;
  file.name = family.profile;
  file.description = description_of(family, fit);
  file.gpus = family.gpus;
  file.implementations.emplace("nccl", fitted_profile(family.profile, problem, fit));
  return file;
}

std::string moved_parameters(const FitResult& fit) {
  std::string text;
  for (const Coordinate& coordinate : fit.coordinates) {
    const ParameterInfo& about = info(coordinate.parameter());
    const double value = fit.profile.value(coordinate.parameter());
    text += fmt::format("{}{} {:.3g} ({:.3g}{}{}){}", text.empty() ? "" : "; ", about.name, value,
                        about.prior, about.unit == "1" ? "" : " ", about.unit == "1" ? "" : about.unit,
                        is_in(fit.at_edge, coordinate.parameter()) ? " at an edge" : "");
  }
  return text.empty() ? "none" : text;
}

}  // namespace lanecast::cases
