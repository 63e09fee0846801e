#pragma once
#include <string>
#include <vector>

#include "cli/situation.hpp"
#include "model/advice/tune.hpp"
#include "reports/nccl_tuning.hpp"

namespace lanecast {

/// Where the files for NCCL go. Empty: nowhere.
struct NcclFolder {
  std::string path;
  bool force = false;  // files that are there are overwritten
};

/// A look at the folder before the work: it is made where it is missing.
/// @throws Error  kind usage: no folder, or one that holds such files without `force`
void check_folder(const NcclFolder& folder);

/// Rows for one collective: a row for each stretch of sizes that run alike, the first from 0, the last
/// without end. Where the algorithm or protocol changes, the row ends at the crossover; where only channels
/// do, half way.
/// @param best  one a call, sizes ascending
std::vector<NcclTunerRow> tuner_rows(const std::vector<Prediction>& best,
                                     const std::vector<Crossover>& crossovers,
                                     const CommunicatorSetup& communicator);

/// Writes `nccl.env`, `nccl_tuner.csv`, `nccl_graph.xml` and `nccl_topo.xml`. The tuner gets rows for every
/// collective, since the plugin gives one channel to what no row fits (facts.md A11): those that were not
/// asked are tuned for it.
/// @return  paths of the files, and what NCCL will not take as it is meant
/// @throws Error  kind runtime: a file cannot be written
std::vector<std::string> write_nccl_files(const NcclFolder& folder, const Situation& situation,
                                          const Tuning& tuning, const PredictorOf& predictor_of,
                                          const Session& session);

}  // namespace lanecast
