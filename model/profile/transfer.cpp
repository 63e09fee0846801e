#include "model/profile/transfer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace lanecast {
namespace {

using Texts = std::vector<std::string>;

Texts common(const Texts& a, const Texts& b) {
  Texts both;
  for (const std::string& text : a) {
    if (std::find(b.begin(), b.end(), text) != b.end()) both.push_back(text);
  }
  return both;
}

/// What two spans share; nothing where they don't meet.
template <class T>
std::pair<T, T> common(T a_from, T a_to, T b_from, T b_to) {
  const T from = std::max(a_from, b_from);
  const T to = std::min(a_to, b_to);
  return from <= to ? std::pair(from, to) : std::pair(T{}, T{});
}

CalibratedRange common(const CalibratedRange& a, const CalibratedRange& b) {
  CalibratedRange both;
  std::tie(both.ranks_from, both.ranks_to) = common(a.ranks_from, a.ranks_to, b.ranks_from, b.ranks_to);
  std::tie(both.size_from, both.size_to) = common(a.size_from, a.size_to, b.size_from, b.size_to);
  std::tie(both.channels_from, both.channels_to) =
      common(a.channels_from, a.channels_to, b.channels_from, b.channels_to);
  both.kinds = common(a.kinds, b.kinds);
  both.links = common(a.links, b.links);
  both.launches = common(a.launches, b.launches);
  both.collectives = common(a.collectives, b.collectives);
  return both;
}

void add_spread(std::vector<ResidualSpread>& spreads, const ResidualSpread& added) {
  for (ResidualSpread& spread : spreads) {
    const bool same = spread.protocol == added.protocol && spread.transport == added.transport &&
                      spread.launch == added.launch && spread.from == added.from && spread.to == added.to;
    if (!same) continue;
    if (added.spread > spread.spread) spread = added;
    return;
  }
  spreads.push_back(added);
}

/// Both covariances on the diagonal; none where one of them is missing.
std::vector<double> side_by_side(const FitRecord& a, const FitRecord& b) {
  const std::size_t first = a.parameters.size();
  const std::size_t second = b.parameters.size();
  const std::size_t count = first + second;
  if (a.covariance.size() != first * first || b.covariance.size() != second * second) return {};
  std::vector<double> joined(count * count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i < first && j < first) joined[i * count + j] = a.covariance[i * first + j];
      if (i >= first && j >= first) {
        joined[i * count + j] = b.covariance[(i - first) * second + (j - first)];
      }
    }
  }
  return joined;
}

FitRecord joined_fit(FitRecord gpu, FitRecord link) {
  keep_fitted(gpu, [](Param parameter) { return group_of(parameter) == ParameterGroup::gpu; });
  keep_fitted(link, [](Param parameter) { return group_of(parameter) == ParameterGroup::link; });
  FitRecord both;
  both.covariance = side_by_side(gpu, link);
  both.parameters = gpu.parameters;
  both.parameters.insert(both.parameters.end(), link.parameters.begin(), link.parameters.end());
  for (const FitRecord* record : {&gpu, &link}) {
    for (const ResidualSpread& spread : record->spread) add_spread(both.spread, spread);
    both.sources.insert(both.sources.end(), record->sources.begin(), record->sources.end());
  }
  both.range = common(gpu.range, link.range);
  return both;
}

}  // namespace

void keep_fitted(FitRecord& fit, const std::function<bool(Param)>& keep) {
  const std::size_t count = fit.parameters.size();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < count; ++i) {
    if (keep(fit.parameters[i].parameter)) kept.push_back(i);
  }
  std::vector<FittedParameter> parameters;
  std::vector<double> covariance;
  for (const std::size_t i : kept) {
    parameters.push_back(fit.parameters[i]);
    if (fit.covariance.size() != count * count) continue;
    for (const std::size_t j : kept) covariance.push_back(fit.covariance[i * count + j]);
  }
  fit.parameters = std::move(parameters);
  fit.covariance = std::move(covariance);
}

Profile transferred(const std::string& name, const Profile& gpu, const Profile& link) {
  Profile both;
  both.name = name;
  for (std::size_t i = 0; i < parameter_count; ++i) {
    const auto parameter = static_cast<Param>(i);
    const ParameterGroup group = group_of(parameter);
    const bool link_is_wider = link.value(parameter) > gpu.value(parameter);
    const Profile& lender =
        group == ParameterGroup::gpu || (group == ParameterGroup::band && !link_is_wider) ? gpu : link;
    if (lender.from_prior(parameter)) continue;
    both.set(parameter, lender.value(parameter), lender.origin(parameter));
  }
  if (gpu.fit || link.fit)
    both.fit = joined_fit(gpu.fit.value_or(FitRecord()), link.fit.value_or(FitRecord()));
  return both;
}

}  // namespace lanecast
