#pragma once
#include <string>
#include <vector>

#include "configs/problem_list.hpp"
#include "configs/yaml_document.hpp"
#include "model/profile/fit_record.hpp"

namespace lanecast {

/// Fills `fit.covariance` from the mapping `covariance` of a profile file. `fit.parameters` is filled
/// already. What is wrong goes into the list of problems.
/// @param path  of the mapping, "implementations.nccl.covariance"
void read_covariance(const YamlNode& map, const std::string& path, FitRecord& fit, ProblemList& problems);

}  // namespace lanecast
