#include <fmt/format.h>

#include <map>

#include "sim/predict.hpp"
#include "tests/cases/case_machines.hpp"
#include "tests/cases/errors.hpp"
#include "tests/cases/family_profile.hpp"
#include "tests/cases/family_tables.hpp"

namespace lanecast::cases {
namespace {

constexpr std::uint64_t kSizes[] = {64u << 10, 1u << 20, 16u << 20, 128u << 20, 1u << 30};

std::string size_text(Bytes size) {
  const std::uint64_t kib = size.value() >> 10;
  if (kib >= 1u << 20) return fmt::format("{} GiB", kib >> 20);
  return kib >= 1024 ? fmt::format("{} MiB", kib >> 10) : fmt::format("{} KiB", kib);
}

std::vector<Prediction> predictions_of(const TransferTarget& target, const Profile& profile) {
  Implementation implementation = implementation_from_string(target.implementation);
  std::vector<Warning> warnings;
  implementation.environment = read_nccl_environment(target.environment, implementation.version(), warnings);
  std::vector<Call> calls;
  for (const std::uint64_t size : kSizes) {
    calls.push_back(stream_call());
    calls.back().size = Bytes(size);
  }
  return predict(machine_of(target.machine, target.sets), profile, implementation, calls, {});
}

std::string median_abs(const std::vector<double>& errors) { return percent(summarise(errors).median_abs); }

Grid empty_fits() {
  Grid grid;
  grid.columns = {{"fitted on", "", 0, false},
                  {"observations", "", 0, true},
                  {"generic: median |error|", "", 0, true},
                  {"fitted: median |error|", "", 0, true},
                  {"moved (prior)", "", 0, false}};
  return grid;
}

Grid empty_predictions() {
  Grid grid;
  grid.columns = {{"fitted on", "", 0, false},
                  {"predicted", "", 0, false},
                  {"size", "", 0, true},
                  {"way", "", 0, false},
                  {"time", "(us)"},
                  {"90 % from", "(us)"},
                  {"90 % to", "(us)"},
                  {"busbw", "(GB/s)"}};
  return grid;
}

Profile fit_to(const TransferTarget& target, const CaseProblem& problem, Grid& fits) {
  const CaseFit fit = fit_cases(problem, false);
  fits.rows.push_back({target.fitted_on, std::to_string(problem.about().size()),
                       median_abs(problem.errors(Profile())), median_abs(problem.errors(fit.fit.profile)),
                       moved_parameters(fit.fit)});
  return fitted_profile(target.fitted_on, problem, fit);
}

}  // namespace

TransferTables transfer_tables(const std::vector<PublishedCase>& cases,
                               const std::vector<AllReduceSweep>& sweeps) {
  TransferTables tables{empty_fits(), empty_predictions()};
  std::map<std::string, Profile> profiles;
  for (const TransferTarget& target : transfer_targets()) {
    if (profiles.count(target.fitted_on) == 0)
      profiles.emplace(target.fitted_on,
                       fit_to(target, CaseProblem(cases, sweeps, target.cases), tables.fits));
    for (const Prediction& one : predictions_of(target, profiles.at(target.fitted_on))) {
      tables.predictions.rows.push_back(
          {target.fitted_on, target.target, size_text(one.call.size),
           fmt::format("{} {} {}, {} channels", to_string(one.algorithm), to_string(one.protocol),
                       one.transport, one.channels),
           two_decimals(one.time.value() * 1e6), two_decimals(one.time_low.value() * 1e6),
           two_decimals(one.time_high.value() * 1e6), two_decimals(one.busbw().value() / 1e9)});
    }
  }
  return tables;
}

}  // namespace lanecast::cases
