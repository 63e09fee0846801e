#include "configs/profile_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "configs/profile_section.hpp"
#include "configs/reading.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {
namespace {

using Triangle = std::vector<std::vector<double>>;  // row i has i + 1 numbers

std::string name_at(const FitRecord& fit, std::size_t place) {
  return info(fit.parameters[place].parameter).name;
}

/// The place in `fit.parameters` of each name; nothing where one has none.
std::optional<std::vector<std::size_t>> places_of(const std::vector<std::string>& names, const FitRecord& fit,
                                                  ProfileSection& section) {
  std::vector<std::string> fitted;
  for (std::size_t i = 0; i < fit.parameters.size(); ++i) fitted.push_back(name_at(fit, i));
  std::vector<std::size_t> places;
  bool good = true;
  for (const std::string& name : names) {
    const auto found = std::find(fitted.begin(), fitted.end(), name);
    const auto place = static_cast<std::size_t>(found - fitted.begin());
    if (found == fitted.end()) {
      const std::string near = nearest(name, fitted);
      section.complain(
          "names", "`parameters` has no interval for `" + printable(name) + "`",
          near.empty() ? "name parameters that have `low` and `high`" : "did you mean `" + near + "`?");
      good = false;
    } else if (std::find(places.begin(), places.end(), place) != places.end()) {
      section.complain("names", "`" + name + "` occurs twice", "keep one of them");
      good = false;
    }
    places.push_back(place);
  }
  return good ? std::optional(places) : std::nullopt;
}

std::optional<Triangle> rows_of(const YamlNode& list, const std::string& path, std::size_t count,
                                ProblemList& problems) {
  if (list.items.size() != count) {
    problems.add(
        {list.at, path,
         "`rows` has " + std::to_string(list.items.size()) + " rows for " + std::to_string(count) + " names",
         "write one row for each name"});
    return std::nullopt;
  }
  Triangle rows(count);
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    const YamlNode& row = list.items[i];
    const std::string row_path = path + "[" + std::to_string(i) + "]";
    if (!expect_kind(row, YamlNode::Kind::list, row_path, problems)) return std::nullopt;
    if (row.items.size() != i + 1) {
      problems.add({row.at, row_path,
                    "row " + std::to_string(i + 1) + " has " + std::to_string(row.items.size()) + " numbers",
                    "write " + std::to_string(i + 1) + ": the lower triangle up to the diagonal"});
      good = false;
    }
    for (const YamlNode& item : row.items) {
      const Reading<double> number = parse_signed(item);
      if (!number)
        problems.add({item.at, row_path, "`" + printable(item.text) + "` is " + number.complaint.text,
                      number.complaint.mend});
      good = good && number;
      rows[i].push_back(number ? *number.value : 0);
    }
  }
  return good ? std::optional(rows) : std::nullopt;
}

/// The first row at which Cholesky's factorisation ends; nothing where the matrix is positive definite.
/// A billionth of each variance is granted to rounding.
std::optional<std::size_t> first_bad_row(Triangle c) {
  constexpr double grant = 1e-9;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double variance = c[i][i];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = c[i][j] + (i == j ? grant * variance : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= c[i][k] * c[j][k];
      if (i != j) {
        c[i][j] = sum / c[j][j];
      } else if (!(sum > 0) || !std::isfinite(sum)) {
        return i;
      } else {
        c[i][i] = std::sqrt(sum);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void read_covariance(const YamlNode& map, const std::string& path, FitRecord& fit, ProblemList& problems) {
  ProfileSection section(map, "covariance", path, problems);
  std::vector<std::string> names;
  section.read("names", names);
  const YamlNode* list = section.value("rows", YamlNode::Kind::list);
  if (list == nullptr) return;
  const auto places = places_of(names, fit, section);
  const auto rows = rows_of(*list, section.path_of("rows"), names.size(), problems);
  if (!places || !rows) return;
  if (const auto bad = first_bad_row(*rows)) {
    problems.add({list->items[*bad].at, section.path_of("rows"),
                  "the covariance is not positive definite: row " + std::to_string(*bad + 1) + ", `" +
                      printable(names[*bad]) + "`, contradicts the rows above",
                  "take it as `calibrate` wrote it, or leave `covariance` out"});
    return;
  }
  const std::size_t count = fit.parameters.size();
  fit.covariance.assign(count * count, 0);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      fit.covariance[(*places)[i] * count + (*places)[j]] = (*rows)[i][j];
      fit.covariance[(*places)[j] * count + (*places)[i]] = (*rows)[i][j];
    }
  }
}

}  // namespace lanecast
