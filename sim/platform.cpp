#include "sim/platform.hpp"

#include <algorithm>
#include <map>
#include <simgrid/s4u.hpp>

namespace lanecast {
namespace {

/// How often each lane crosses a resource: resources with the same pattern carry the same flows.
std::map<int, int> pattern(const FlowNetwork& network, int resource) {
  std::map<int, int> lanes;
  for (std::size_t l = 0; l < network.lanes.size(); ++l) {
    const auto& used = network.lanes[l].resources;
    const auto times = std::count(used.begin(), used.end(), resource);
    if (times > 0) lanes[static_cast<int>(l)] = static_cast<int>(times);
  }
  return lanes;
}

void configure() {
  // simgrid.md: factors 1, no TCP window, no cross traffic; the default precision costs 1e-6
  for (const char* option :
       {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "network/bandwidth-factor:1",
        "network/latency-factor:1", "network/weight-S:0", "surf/precision:1e-12"}) {
    simgrid::s4u::Engine::set_config(option);
  }
}

}  // namespace

// SimGrid's own contexts swap stacks behind the sanitizers' backs; its thread contexts don't (simgrid.md).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kContexts = "--cfg=contexts/factory:thread";
#else
constexpr const char* kContexts =
    "--cfg=contexts/stack-size:128";  // KiB; actors' frames are small and there may be 20 000
#endif

/// What SimGrid's engine takes instead of a command line. It may change the strings, so they are copies.
struct EngineArguments {
  std::vector<std::string> words{"lanecast", "--log=root.thres:critical", kContexts};
  std::vector<char*> pointers;
  int count = 0;

  EngineArguments() {
    for (std::string& word : words) pointers.push_back(word.data());
    count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
  }
};

struct Platform::Impl {
  EngineArguments arguments;
  simgrid::s4u::Engine engine{&arguments.count, arguments.pointers.data()};
  simgrid::s4u::ActorPtr receiver;  // lives as long as the run: flows to it need no get
};

double transfer_scale() { return 1024.0; }

std::vector<bool> deciding_resources(const FlowNetwork& network, const Demand& demand) {
  constexpr double kSlack = 1.0 + 1e-9;
  std::vector<bool> deciding(network.resources.size(), false);
  std::map<std::map<int, int>, std::size_t> tightest;
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    const Resource& resource = network.resources[r];
    if (!resource.soft && demand[r].value() <= resource.usable.value() * kSlack) continue;
    const auto flows = pattern(network, static_cast<int>(r));
    if (flows.empty()) continue;
    deciding[r] = true;
    if (resource.soft) continue;
    const auto [other, first] = tightest.try_emplace(flows, r);
    if (first) continue;
    const bool tighter = resource.usable < network.resources[other->second].usable;
    deciding[tighter ? other->second : r] = false;
    if (tighter) other->second = r;
  }
  return deciding;
}

Platform::Platform(const FlowNetwork& network, const Demand& demand) : impl_(std::make_unique<Impl>()) {
  configure();
  auto* zone = simgrid::s4u::create_full_zone("machine");
  sink_ = zone->create_host("sink", 1e9)->seal();
  const std::vector<bool> deciding = deciding_resources(network, demand);
  std::vector<simgrid::s4u::Link*> links(network.resources.size(), nullptr);
  for (std::size_t r = 0; r < network.resources.size(); ++r) {
    if (!deciding[r]) continue;
    const Resource& resource = network.resources[r];
    const double capacity_bytes_per_second = resource.usable.value() * transfer_scale();
    links[r] = zone->create_link("r" + std::to_string(r), capacity_bytes_per_second)->set_latency(0.0);
    if (resource.soft) {
      const SoftCapacity soft{resource.soft->exponent, resource.soft->flow_rate * transfer_scale()};
      links[r]->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::NONLINEAR,
                                   [soft](double capacity, int flows) {
                                     return soft_capacity(BytesPerSecond(capacity), soft, flows).value();
                                   });
    }
    links[r]->seal();
    shared_ = true;
  }
  for (std::size_t l = 0; l < network.lanes.size(); ++l) {
    std::vector<simgrid::s4u::LinkInRoute> route;
    for (const int r : network.lanes[l].resources) {
      if (auto* link = links[static_cast<std::size_t>(r)]) route.emplace_back(link);
    }
    if (route.empty()) {
      lane_hosts_.push_back(nullptr);
      continue;
    }
    auto* host = zone->create_host("lane" + std::to_string(l), 1e9)->seal();
    zone->add_route(host->get_netpoint(), sink_->get_netpoint(), nullptr, nullptr, route,
                    /*symmetrical=*/false);
    lane_hosts_.push_back(host);
  }
  zone->seal();
  impl_->receiver =
      simgrid::s4u::Actor::create("receiver", sink_, [] { simgrid::s4u::this_actor::sleep_for(1e9); });
  impl_->receiver->daemonize();
}

Platform::~Platform() = default;

simgrid::s4u::Mailbox* Platform::eager_mailbox(const std::string& name) {
  simgrid::s4u::Mailbox* mailbox = simgrid::s4u::Mailbox::by_name(name);
  mailbox->set_receiver(impl_->receiver);
  return mailbox;
}

void Platform::run() { impl_->engine.run(); }

double Platform::clock() const { return simgrid::s4u::Engine::get_clock(); }

}  // namespace lanecast
