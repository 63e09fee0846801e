#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/advice/link_ranking.hpp"
#include "model/advice/what_if.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What `whatif` found out.
struct WhatIfReport {
  RunInfo run;
  std::string machine;
  std::string profile;
  std::string implementation;
  std::uint64_t seed = 1;
  std::vector<WhatIfCase> cases;     // the first is the baseline; all have the same sizes
  std::optional<LinkRanking> links;  // with `--rank-links`
};

/// Warnings of the baseline, and those of each case that the baseline does not have, with its name.
std::vector<Warning> all_warnings(const WhatIfReport& report);

/// The document in a format. Table and markdown show a table a case, with a sentence that says why; JSON and
/// CSV hold every key (docs/what-if.md).
std::string what_if_text(const WhatIfReport& report, Format format);

}  // namespace lanecast
