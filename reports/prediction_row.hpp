#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/predict/prediction.hpp"

namespace lanecast {

double in_us(Seconds time);
double in_GBps(BytesPerSecond rate);

/// Elements that nccl-tests' column `count` holds: of the whole buffer, for all-gather and reduce-scatter of
/// one block.
std::uint64_t element_count(const Call& call, int ranks);

/// Whether the collective reduces (all-reduce, reduce-scatter, reduce), and whether one rank is its root.
bool has_reduction(Collective collective);
bool has_root(Collective collective);

/// The keys of one result of `predict` (docs/commands.md); with `shares` where the prediction has them.
/// @param ranks  that take part
nlohmann::ordered_json prediction_as_json(const Prediction& prediction, int ranks);

/// Adds the members of an object to a flat row: those of a member that is an object become `bottleneck_link`
/// and so on; a bottleneck's also where it is null.
void add_flat(const nlohmann::ordered_json& object, std::vector<nlohmann::ordered_json>& names,
              std::vector<nlohmann::ordered_json>& fields);

/// Two decimals, fewer for long times, as nccl-tests prints them: "12.34", "39634.7".
std::string time_cell(Seconds time);
std::string rate_cell(BytesPerSecond rate);  // in GB/s; "-" where it is not finite

/// "uplink0:up"; "-" where nothing crosses a link.
std::string bottleneck_cell(const std::optional<Bottleneck>& bottleneck);

}  // namespace lanecast
