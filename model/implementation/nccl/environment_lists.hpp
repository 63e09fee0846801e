#pragma once
#include <string>

#include "model/implementation/nccl/environment.hpp"
#include "model/implementation/nccl/environment_values.hpp"

namespace lanecast {

/// NCCL_ALGO and NCCL_PROTO. From 2.24 on they take `allreduce:ring;allgather:^tree`, and NCCL refuses words
/// that it does not know; before, it passes over them. Here they are a problem for every release.
NcclChoices<NcclAlgorithm> read_algorithm_list(const std::string& text, const NcclRules& rules,
                                               const NearestWord& nearest, NcclValueReport& report);
NcclChoices<Protocol> read_protocol_list(const std::string& text, const NcclRules& rules,
                                         const NearestWord& nearest, NcclValueReport& report);

}  // namespace lanecast
