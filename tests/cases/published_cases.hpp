#pragma once
#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <vector>

namespace lanecast::cases {

/// A square table of copies between GPUs, row source, column destination. Absent cells were not measured.
struct PublishedMatrix {
  std::string name;
  std::vector<std::vector<std::optional<double>>> rows;
};

/// One entry of shared/cases/cases.yaml.
struct PublishedCase {
  std::string id;
  std::string kind;        // "p2p_bandwidth", "h2d_d2h", "all_reduce"
  std::string confidence;  // "high", "medium", "low"
  std::vector<PublishedMatrix> matrices;
  YAML::Node measurements;
};

/// @throws Error  kind usage: a file that is no list of cases
std::vector<PublishedCase> read_published_cases(const std::string& path);

/// @throws Error  kind usage, where no case has this id: the tables of tests/cases and the file differ
const PublishedCase& find_case(const std::vector<PublishedCase>& cases, const std::string& id);

/// A list of measurements by name; "" is the measurements themselves.
YAML::Node measurement_list(const PublishedCase& published, const std::string& list);

/// The entries of a list that have all values of `wanted` ("host=A;env=default"); all where it is empty.
std::vector<YAML::Node> matching_entries(const PublishedCase& published, const std::string& list,
                                         const std::string& wanted);

/// Where a single number stands among a case's measurements.
struct FigurePlace {
  std::string list;  // "multiflow"; "" is the measurements themselves
  std::string
      entry;  // "flows=2;config=PIX": the one entry with these values; "#1": by position; "": the list itself
  std::string field;  // "total_GBps"; "": the entry is the number. A sequence counts by its mean
};

/// @throws Error  kind usage, where there is no such number
double figure(const PublishedCase& published, const FigurePlace& place);

}  // namespace lanecast::cases
