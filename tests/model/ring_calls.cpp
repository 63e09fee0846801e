#include "tests/model/ring_calls.hpp"

#include <algorithm>
#include <stdexcept>

namespace lanecast {

Call forced_call(Bytes size, Protocol protocol, int channels) {
  Call call;
  call.size = size;
  call.algorithm = Algorithm::ring;
  call.protocol = protocol;
  call.channels = channels;
  call.threads = protocol_traits(protocol).max_threads;
  return call;
}

Call forced_call(Bytes size, Protocol protocol, int channels, Transport transport) {
  Call call = forced_call(size, protocol, channels);
  call.transport = transport;
  return call;
}

ResolvedCall resolve(const Machine& machine, const Call& call, const std::string& implementation) {
  return resolve_call(machine, implementation_from_string(implementation), call);
}

SchedulePlan plan_of(const Machine& machine, Call call, std::uint64_t seed) {
  if (call.registration == Registration::automatic) call.registration = Registration::off;
  return plan_schedule(machine, Profile(), resolve(machine, call), seed);
}

std::string name_of(const Resource& resource) { return resource.link + " " + resource.direction; }

namespace {

std::size_t index_of(const FlowNetwork& network, const std::string& name) {
  std::string all;
  std::vector<std::size_t> found;
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    all += name_of(network.resources[r]) + "; ";
    if (name_of(network.resources[r]) == name) found.push_back(r);
  }
  if (found.size() == 1) return found.front();
  throw std::out_of_range(std::to_string(found.size()) + " resources are called `" + name + "` in: " + all);
}

}  // namespace

const Resource& resource_named(const FlowNetwork& network, const std::string& name) {
  return network.resources[index_of(network, name)];
}

double wire_bytes_of(const SchedulePlan& plan, const std::string& name) {
  return resource_wire_bytes(plan)[index_of(plan.network, name)];
}

std::vector<std::string> codes_of(const std::vector<Warning>& warnings) {
  std::vector<std::string> codes;
  for (const Warning& warning : warnings) codes.push_back(warning.code);
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

}  // namespace lanecast
