#include "tests/cases/copy_sets.hpp"

#include <algorithm>

#include "tests/cases/case_machines.hpp"
#include "tests/cases/errors.hpp"

namespace lanecast::cases {

double published_total(const std::vector<PublishedCase>& cases, const CopySet& set) {
  return set.carried ? *set.carried : figure(find_case(cases, set.case_id), set.place) * set.scale;
}

double predicted_total(const CopySet& set, const Profile& profile, Engine engine) {
  const Machine machine = machine_of(set.machine, set.sets);
  double sum = 0;
  double slowest = 1e300;
  for (const CopyRate& copy : concurrent_copies(machine, profile, engine, set.flows)) {
    sum += copy.rate.value() / 1e9;
    slowest = std::min(slowest, copy.rate.value() / 1e9);
  }
  return set.total == Total::sum ? sum : slowest * static_cast<double>(set.flows.size());
}

Grid copy_set_grid(const std::vector<PublishedCase>& cases, const Profile& profile) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},  {"copies at once", "", 0, false}, {"published", "(GB/s)"},
                  {"predicted", "(GB/s)"}, {"error", "", 0, true},           {"note", "", 0, false}};
  for (const CopySet& set : copy_sets()) {
    const double published = published_total(cases, set);
    const double predicted = predicted_total(set, profile);
    grid.rows.push_back({set.case_id, set.label, two_decimals(published), two_decimals(predicted),
                         signed_percent(predicted / published - 1), set.note});
  }
  return grid;
}

Grid latency_grid(const std::vector<PublishedCase>& cases, const Profile& profile) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},
                  {"pair", "", 0, false},
                  {"published", "(ns)"},
                  {"predicted", "(ns)"},
                  {"error", "", 0, true}};
  for (const LatencyPair& pair : latency_pairs()) {
    const double published =
        figure(find_case(cases, pair.case_id), {"one_way_latency_ns", "pair=" + pair.pair, "ns"});
    const CopyMatrix matrix =
        copy_matrix(machine_of(pair.machine, {}), profile, Engine::sm, MatrixKind::latency);
    const double predicted =
        *matrix.rows[static_cast<std::size_t>(pair.from)][static_cast<std::size_t>(pair.to)] * 1e3;
    grid.rows.push_back({pair.case_id, pair.pair, two_decimals(published), two_decimals(predicted),
                         signed_percent(predicted / published - 1)});
  }
  return grid;
}

}  // namespace lanecast::cases
