#include "tests/cases/family_tables.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "tests/cases/errors.hpp"
#include "tests/cases/family_profile.hpp"

namespace lanecast::cases {
namespace {

constexpr std::uint64_t kLarge = 1u << 20;

using Lines = std::vector<FamilyLine>;

std::string yes(bool is) { return is ? "yes" : "no"; }

double median_abs(const std::vector<double>& errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return median(sizes);
}

bool counts(const CaseObservation& about, const std::string& id) {
  return about.case_id == id && !about.is_copy && about.size.value() >= kLarge;
}

bool names(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

const FittedFamily* family_of(const std::vector<FittedFamily>& families, const std::string& id) {
  for (const FittedFamily& one : families) {
    const std::vector<OnlyPredicted>& more = one.family->only_predicted;
    const bool predicted =
        std::any_of(more.begin(), more.end(), [&](const OnlyPredicted& each) { return each.case_id == id; });
    if (predicted || names(one.family->cases, id)) return &one;
  }
  return nullptr;
}

std::string unexplained(const std::string& id) {
  for (const UnexplainedCase& one : unexplained_cases()) {
    if (one.case_id == id) return one.reason;
  }
  return "";
}

/// Errors of a case that its family's fit, if it has one, did not see.
void add_unseen(const CaseProblem& problem, const FittedFamily* family, FamilyLine& line) {
  const std::vector<double> generic = problem.errors(Profile());
  const std::vector<double> held =
      family == nullptr ? std::vector<double>() : problem.errors(family->fit.fit.profile);
  for (std::size_t i = 0; i < generic.size(); ++i) {
    if (!counts(problem.about()[i], line.case_id)) continue;
    line.generic.push_back(generic[i]);
    if (family != nullptr) line.held.push_back(held[i]);
  }
}

void add_seen(const FittedFamily& family, FamilyLine& line) {
  const CaseProblem& problem = *family.problem;
  const std::vector<double> generic = problem.errors(Profile());
  const std::vector<double> fitted = problem.errors(family.fit.fit.profile);
  for (std::size_t i = 0; i < generic.size(); ++i) {
    if (!counts(problem.about()[i], line.case_id)) continue;
    line.generic.push_back(generic[i]);
    line.fitted.push_back(fitted[i]);
    if (!family.fit.held.empty() && family.fit.held[i]) line.held.push_back(family.fit.held[i]->error);
  }
}

void add_nccl(const std::vector<AllReduceComparison>& choices, FamilyLine& line) {
  for (const AllReduceComparison& sweep : choices) {
    if (sweep.entry.case_id != line.case_id || !sweep.entry.not_simulated.empty()) continue;
    for (const AllReducePoint& point : sweep.points) {
      if (point.size.value() < kLarge) continue;
      line.stated = stated_facts(sweep.entry);
      if (point.nccl) line.nccl.push_back(point.error_of(*point.nccl));
    }
  }
}

std::vector<std::string> ids_in_order(const std::vector<AllReduceSweep>& sweeps) {
  std::vector<std::string> ids;
  for (const AllReduceSweep& sweep : sweeps) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), sweep.entry.case_id) == ids.end())
      ids.push_back(sweep.entry.case_id);
  }
  return ids;
}

using Errors = std::vector<double> FamilyLine::*;

/// Median over the medians of those lines that have such errors, with their number.
std::string median_of_medians(const Lines& lines, Errors errors,
                              const std::function<bool(const FamilyLine&)>& counts) {
  std::vector<double> medians;
  for (const FamilyLine& line : lines) {
    if (!(line.*errors).empty() && counts(line)) medians.push_back(median_abs(line.*errors));
  }
  return percent(median(medians)) + " of " + std::to_string(medians.size());
}

std::string title_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

}  // namespace

Lines family_lines(const std::vector<PublishedCase>& cases, const std::vector<AllReduceSweep>& sweeps,
                   const std::vector<FittedFamily>& families) {
  const std::vector<AllReduceComparison> choices = choose_all_reduce(sweeps, Profile());
  Lines lines;
  for (const std::string& id : ids_in_order(sweeps)) {
    FamilyLine line;
    line.case_id = id;
    line.unexplained = unexplained(id);
    const FittedFamily* family = family_of(families, id);
    if (family != nullptr) line.family = family->family->title;
    if (family != nullptr && names(family->family->cases, id)) {
      add_seen(*family, line);
    } else {
      add_unseen(CaseProblem(cases, sweeps, {id}), family, line);
    }
    add_nccl(choices, line);
    if (!line.generic.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

Grid family_grid(const Lines& lines) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},
                  {"family", "", 0, false},
                  {"rows", "", 0, true},
                  {"transport stated", "", 0, false},
                  {"widths stated", "", 0, false},
                  {"channels stated", "", 0, false},
                  {"generic: median |error|", "", 0, true},
                  {"generic: median error", "", 0, true},
                  {"family, case held out", "", 0, true},
                  {"family, case fitted", "", 0, true},
                  {"NCCL's own model", "", 0, true}};
  for (const FamilyLine& line : lines) {
    if (!line.unexplained.empty()) continue;
    grid.rows.push_back({line.case_id, title_or_dash(line.family), std::to_string(line.generic.size()),
                         yes(line.stated.transport), yes(line.stated.widths), yes(line.stated.channels),
                         percent(median_abs(line.generic)), signed_percent(median(line.generic)),
                         percent(median_abs(line.held)), percent(median_abs(line.fitted)),
                         percent(median_abs(line.nccl))});
  }
  return grid;
}

Grid family_summary_grid(const Lines& lines) {
  Grid grid;
  grid.columns = {{"cases", "", 0, false},
                  {"generic", "", 0, true},
                  {"generic, where a family can be held out", "", 0, true},
                  {"family, held out", "", 0, true},
                  {"NCCL's own model", "", 0, true}};
  const auto add = [&](const std::string& name, const std::function<bool(const FamilyLine&)>& counts) {
    grid.rows.push_back(
        {name, median_of_medians(lines, &FamilyLine::generic, counts),
         median_of_medians(lines, &FamilyLine::generic,
                           [&](const FamilyLine& line) { return counts(line) && !line.held.empty(); }),
         median_of_medians(lines, &FamilyLine::held, counts),
         median_of_medians(lines, &FamilyLine::nccl, counts)});
  };
  add("transport, widths and channels stated",
      [](const FamilyLine& line) { return line.unexplained.empty() && line.stated.all(); });
  add("transport and widths stated",
      [](const FamilyLine& line) { return line.unexplained.empty() && line.stated.path(); });
  add("others", [](const FamilyLine& line) { return line.unexplained.empty() && !line.stated.path(); });
  add("all of these", [](const FamilyLine& line) { return line.unexplained.empty(); });
  add("not explained", [](const FamilyLine& line) { return !line.unexplained.empty(); });
  return grid;
}

Grid unexplained_grid(const Lines& lines) {
  Grid grid;
  grid.columns = {{"not explained", "", 0, false},
                  {"rows", "", 0, true},
                  {"generic: median error", "", 0, true},
                  {"NCCL's own model", "", 0, true},
                  {"why it is listed and not fitted to", "", 0, false}};
  for (const FamilyLine& line : lines) {
    if (line.unexplained.empty()) continue;
    grid.rows.push_back({line.case_id, std::to_string(line.generic.size()),
                         signed_percent(median(line.generic)), signed_percent(median(line.nccl)),
                         line.unexplained});
  }
  return grid;
}

Grid only_predicted_grid() {
  Grid grid;
  grid.columns = {{"predicted by its family's profile, not fitted to", "", 0, false},
                  {"reason", "", 0, false}};
  for (const GpuFamily& family : gpu_families()) {
    for (const OnlyPredicted& one : family.only_predicted) grid.rows.push_back({one.case_id, one.reason});
  }
  return grid;
}

Grid family_fit_grid(const std::vector<FittedFamily>& families) {
  Grid grid;
  grid.columns = {{"profile", "", 0, false},        {"cases", "", 0, true},
                  {"all-reduce rows", "", 0, true}, {"kinds of copies", "", 0, true},
                  {"generic", "", 0, true},         {"fitted", "", 0, true},
                  {"case held out", "", 0, true},   {"in the 90 % band", "", 0, true},
                  {"moved (prior)", "", 0, false}};
  for (const FittedFamily& one : families) {
    const std::size_t copies =
        static_cast<std::size_t>(std::count_if(one.problem->about().begin(), one.problem->about().end(),
                                               [](const CaseObservation& about) { return about.is_copy; }));
    const std::vector<double> fitted = one.problem->errors(one.fit.fit.profile);
    const auto held = held_out_errors(one.fit.held, [](std::size_t) { return true; });
    grid.rows.push_back({one.family->profile, std::to_string(one.family->cases.size()),
                         std::to_string(one.problem->about().size() - copies), std::to_string(copies),
                         percent(median_abs(one.problem->errors(Profile()))), percent(median_abs(fitted)),
                         one.fit.held.empty() ? "one case" : percent(held.median_abs_error),
                         one.fit.held.empty() ? "-" : percent(held.coverage.value_or(0)),
                         moved_parameters(one.fit.fit)});
  }
  return grid;
}

}  // namespace lanecast::cases
