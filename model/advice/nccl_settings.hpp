#pragma once
#include <functional>
#include <string>
#include <vector>

#include "model/advice/ring_order.hpp"
#include "model/advice/way_search.hpp"

namespace lanecast {

/// Asks for predictions under another implementation: other variables of NCCL.
using PredictorOf = std::function<Predictor(const Implementation&)>;

/// One thing that NCCL can be told for a whole job: a variable, or a file by its variable.
struct NcclAdvice {
  std::string name;   // "NCCL_P2P_LEVEL"
  std::string value;  // "SYS"; of a file, its name
  std::string reason;
  bool gains = false;             // taken: the calls together are faster by a hundredth or more
  std::vector<Prediction> alone;  // one a call, with this alone; of the calls as NCCL runs them by itself
};

/// What NCCL should be told, and what it then does.
struct NcclTuning {
  std::vector<NcclAdvice> variables;  // what gains, and what was tried first in its place
  std::vector<Call> calls;            // with the order of the ring, where another than NCCL's gains
  Implementation
      implementation;  // with the variables set, but NCCL_MIN_NCHANNELS: each of `best` names its channels
  std::vector<Prediction> best;  // one a call, everything together
};

/// How much longer, on geometric average over the calls, `after` takes than `before`: 0.9 is a tenth faster.
double mean_factor(const std::vector<Prediction>& before, const std::vector<Prediction>& after);

/// The implementation with one more variable of NCCL, or with several.
/// @throws Error  kind usage: a value that NCCL refuses
Implementation with_variable(Implementation implementation, const std::string& name,
                             const std::string& value);
Implementation with_variables(Implementation implementation, const std::vector<NcclAdvice>& variables);

/// The most channels that any of them takes; 1 or more.
int most_channels(const std::vector<Prediction>& predictions);

/// Seeks variables that make the calls faster together (`mean_factor`), one after the other: the level of
/// peer access, the order of the ring (a graph file), channels, the buffer of Simple, threads. Each is kept
/// where it gains a hundredth on top of those before. What the environment sets already is left alone.
/// @param orders  by best_ring_order, for the environment's own level
NcclTuning tune_nccl(const WayQuestion& question, const std::vector<Call>& calls, const RingOrders& orders,
                     const PredictorOf& predictor_of);

}  // namespace lanecast
