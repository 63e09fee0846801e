#pragma once
#include <string>
#include <vector>

#include "model/predict/schedule_plan.hpp"
#include "model/predict/schedule_traffic.hpp"

namespace lanecast {

/// A call by the ring of this size and protocol with `channels` blocks of as many threads as the protocol
/// allows, everything else by default: float all-reduce, out of place, in a graph of 20.
Call forced_call(Bytes size, Protocol protocol = Protocol::simple, int channels = 2);

/// The same over peer access whatever the implementation's level, or through host memory.
Call forced_call(Bytes size, Protocol protocol, int channels, Transport transport);

ResolvedCall resolve(const Machine& machine, const Call& call, const std::string& implementation = "nccl");

/// The call planned with the priors, buffers not registered unless the call says so.
SchedulePlan plan_of(const Machine& machine, Call call, std::uint64_t seed = 1);

/// The resource called "gpu0 up"; fails the test where there is none or more than one.
const Resource& resource_named(const FlowNetwork& network, const std::string& name);
std::string name_of(const Resource& resource);

/// Wire bytes of the resource called "gpu0 up".
double wire_bytes_of(const SchedulePlan& plan, const std::string& name);

/// Codes of the warnings, sorted, each once.
std::vector<std::string> codes_of(const std::vector<Warning>& warnings);

}  // namespace lanecast
