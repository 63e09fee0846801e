#include "model/implementation/nccl/choice.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "model/implementation/work_split.hpp"

namespace lanecast {
namespace {

/// The switches reduce sums of all types but bytes, and minima and maxima of integers and of 16-bit floats.
/// Source: NVIDIA/nccl src/include/nvls.h (ncclNvlsSupported).
bool switches_reduce(const Call& call) {
  const bool reduces =
      call.collective == Collective::all_reduce || call.collective == Collective::reduce_scatter;
  if (!reduces) return call.collective == Collective::all_gather;
  const Datatype type = call.datatype;
  if (type == Datatype::uint8) return false;
  if (call.op == ReduceOp::sum) return true;
  const bool wide_float = type == Datatype::float32 || type == Datatype::float64;
  return !wide_float && (call.op == ReduceOp::min || call.op == ReduceOp::max);
}

template <class Choice>
std::optional<std::vector<Choice>> stated(const NcclChoices<Choice>& choices, Collective collective) {
  const auto found = choices.stated.find(collective);
  if (found == choices.stated.end()) return std::nullopt;
  return found->second;
}

CostModelInput input_of(const CommunicatorSetup& communicator, const Implementation& implementation,
                        const Call& call) {
  const NcclSetup& setup = *communicator.nccl;
  CostModelInput input;
  input.version = implementation.version();
  input.collective = call.collective;
  input.ranks = static_cast<int>(communicator.ranks.size());
  input.min_sm = setup.min_sm;
  input.max_sm = setup.max_sm;
  input.cpu_vendor = setup.cpu_vendor;
  input.ring = setup.ring;
  input.tree = setup.tree;
  if (setup.nvls.channels > 0 && switches_reduce(call)) input.nvls = setup.nvls;
  input.algorithms = stated(implementation.environment.algorithms, call.collective);
  input.protocols = stated(implementation.environment.protocols, call.collective);
  if (call.algorithm) {
    if (!is_of_nccl(*call.algorithm)) {
      const std::string name = to_string(*call.algorithm);
      throw Error(ErrorKind::usage, implementation.name() + " has no algorithm " + name,
                  "--algorithm " + name, "take ring or tree, or `--implementation lanecast`");
    }
    input.algorithms_from = "--algorithm";
    input.algorithms = {*call.algorithm == Algorithm::tree   ? NcclAlgorithm::tree
                        : *call.algorithm == Algorithm::nvls ? NcclAlgorithm::nvls
                                                             : NcclAlgorithm::ring};
  }
  if (call.protocol) {
    input.protocols = {*call.protocol};
    input.protocols_from = "--protocol";
  }
  return input;
}

/// Leaves only protocols that take what the call forces.
void pass_over_what_does_not_fit(const Call& call, CostModelInput& input) {
  const std::vector<Protocol> asked =
      input.protocols.value_or(std::vector<Protocol>{Protocol::ll, Protocol::ll128, Protocol::simple});
  std::vector<Protocol> left;
  for (const Protocol protocol : asked) {
    if (fits(protocol, call)) left.push_back(protocol);
  }
  if (left.empty() || left.size() == asked.size()) return;  // `resolve_call` says what is wrong
  if (!input.protocols) {                                   // a list forces LL128, which nobody has asked for
    left.erase(std::remove(left.begin(), left.end(), Protocol::ll128), left.end());
  }
  if (!left.empty()) input.protocols = left;
}

}  // namespace

bool is_simulated(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::tree;
}

Algorithm algorithm_of(NcclAlgorithm algorithm) {
  if (algorithm == NcclAlgorithm::tree) return Algorithm::tree;
  return algorithm == NcclAlgorithm::nvls ? Algorithm::nvls : Algorithm::ring;
}

bool fits(Protocol protocol, const Call& call) {
  if (call.threads && *call.threads > protocol_traits(protocol).max_threads) return false;
  try {
    chunk_geometry(protocol, call.collective, schedule_of(call.algorithm.value_or(Algorithm::ring)),
                   call.buffsize, call.chunk);
    return true;
  } catch (const Error&) {
    return false;
  }
}

NcclChoice choose(const CommunicatorSetup& communicator, const Implementation& implementation,
                  const Call& call) {
  CostModelInput input = input_of(communicator, implementation, call);
  pass_over_what_does_not_fit(call, input);
  NcclChoice choice;
  choice.bill = nccl_costs(input, call.size);
  choice.taken = nccl_choice(input, call.size);
  for (CostEstimate& line : choice.bill) {  // Ring may come back where the lists leave nothing
    if (line.algorithm == choice.taken.algorithm && line.protocol == choice.taken.protocol)
      line = choice.taken;
  }
  for (const CostEstimate& line : choice.bill) {
    if (!line.possible || !is_simulated(line.algorithm)) continue;
    if (!choice.simulated || line.time < choice.simulated->time) choice.simulated = line;
  }
  if (is_simulated(choice.taken.algorithm)) choice.simulated = choice.taken;
  return choice;
}

}  // namespace lanecast
