#pragma once
#include <vector>

#include "model/advice/doctor_evidence.hpp"

namespace lanecast {

/// Each applies the rules of one subject and adds their findings.
void examine_links(const Evidence& evidence, std::vector<Finding>& findings);
void examine_settings(const Evidence& evidence, std::vector<Finding>& findings);
void examine_access(const Evidence& evidence, std::vector<Finding>& findings);
void examine_redirects(const Evidence& evidence, std::vector<Finding>& findings);
void examine_errors(const Evidence& evidence, std::vector<Finding>& findings);
void examine_layout(const Evidence& evidence, std::vector<Finding>& findings);
void examine_cards(const Evidence& evidence, std::vector<Finding>& findings);
void examine_nvlinks(const Evidence& evidence, std::vector<Finding>& findings);
void examine_changes(const Evidence& evidence, std::vector<Finding>& findings);

}  // namespace lanecast
