#pragma once
#include <string>
#include <vector>

#include "reports/grid.hpp"

namespace lanecast::cases {

/// One thing that NCCL printed or a measurement shows, beside what the model decides for the same machine.
struct LoggedFact {
  std::string where;   // which log, of which machine
  std::string what;    // "channels", "ring of channel 0"
  std::string logged;  // as the log says it
  std::string ours;    // in the same words
  std::string why;     // where they differ, or cannot be compared

  bool agrees() const { return logged == ours; }
};

/// What the logs of 2 x H200 say, over NVLink and through host memory: channels, ring orders, transports,
/// NVLS, thread thresholds and whether the search fell back.
/// @param folder  shared/measurements/h200x2-nvlink
std::vector<LoggedFact> h200_log_facts(const std::string& folder);

/// The same of 2 x RTX 5090 in different NUMA nodes, where the search fell back; and the paths of a partial
/// log of two GPUs on an NVSwitch.
/// @param folder  shared/cases/raw
std::vector<LoggedFact> published_log_facts(const std::string& folder);

/// The graph file of a single A100. @param folder  shared/cases/raw
std::vector<LoggedFact> graph_file_facts(const std::string& folder);

Grid fact_grid(const std::vector<LoggedFact>& facts);

}  // namespace lanecast::cases
