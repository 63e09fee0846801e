#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/advice/nccl_settings.hpp"
#include "model/advice/ring_order.hpp"
#include "model/advice/way_search.hpp"

namespace lanecast {

/// What is to be tuned.
struct TuneInput {
  const Machine& machine;
  const Profile& profile;
  const Implementation& implementation;
  const std::vector<Call>& calls;  // one a size, ascending
  std::vector<Bytes> chunks;       // of the chunk curve, ascending; empty: no curve
};

/// What the largest call takes by size of chunk.
struct ChunkCurve {
  Call call;
  Prediction way;  // as which it runs
  std::vector<ChunkPoint> points;
};

/// What `tune` finds out.
struct Tuning {
  std::vector<Prediction> as_is;  // one a call: what the implementation does by itself
  std::vector<Prediction> best;   // one a call: with everything that follows
  RingOrders orders;
  bool order_gains = false;  // `orders.best` is faster than the implementation's own order by a hundredth
  std::vector<Crossover> crossovers;
  std::optional<ChunkCurve> chunk_curve;
  std::optional<NcclTuning> nccl;    // what to tell NCCL; absent for our engine
  std::vector<NcclAdvice> files;     // the files for NCCL, each by itself; empty for our engine
  std::vector<Prediction> exported;  // one a call: with what `nccl.env` exports, no more; empty: our engine
};

/// The best algorithm, protocol, channels, threads, chunk and order of a ring for each call, and what to tell
/// NCCL so that it takes them.
/// @throws Error  what the predictors throw; kind usage: fewer than two ranks
Tuning tune(const TuneInput& input, const PredictorOf& predictor_of);

/// Names of the files for NCCL within their folder.
inline constexpr const char* nccl_environment_file = "nccl.env";
inline constexpr const char* nccl_tuner_file = "nccl_tuner.csv";
inline constexpr const char* nccl_graph_file = "nccl_graph.xml";
inline constexpr const char* nccl_topology_file = "nccl_topo.xml";

}  // namespace lanecast
