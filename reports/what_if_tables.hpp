#pragma once
#include <string>
#include <vector>

#include "reports/grid.hpp"
#include "reports/what_if_report.hpp"

namespace lanecast {

/// Before and after, one row a size: times, rates, the most loaded link, and how each share of the time
/// moved.
Grid case_grid(const WhatIfCase& baseline, const WhatIfCase& changed);

/// "8 to 32768 B: protocol ll -> simple", one line for each stretch of sizes with the same changed choices.
std::vector<std::string> choice_lines(const WhatIfCase& baseline, const WhatIfCase& changed);

/// Link steps, one row each, for the last call.
Grid link_grid(const std::vector<LinkStep>& steps, const Prediction& baseline);

/// Which link hurts most, and which upgrade gains most: a sentence each.
std::vector<std::string> link_lines(const LinkRanking& links, const Prediction& baseline);

/// "links.gpu0.width=x8, call.protocol=ll"
std::string sets_text(const WhatIfCase& changed);

}  // namespace lanecast
