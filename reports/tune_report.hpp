#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/advice/tune.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What `tune` found out, ready to be written.
struct TuneReport {
  RunInfo run;
  std::string machine;
  std::string profile;
  std::string implementation;
  std::uint64_t seed = 1;
  int ranks = 0;
  std::string order_reason;  // by `explain`
  Tuning tuning;
  std::vector<std::string> written;  // files, as `--nccl-dir` made them
};

/// The document in a format. JSON holds every key; CSV one row a size (docs/tune.md).
std::string tune_text(const TuneReport& report, Format format);

}  // namespace lanecast
