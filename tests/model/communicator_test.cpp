#include "model/implementation/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/error.hpp"
#include "model/implementation/nccl/choice.hpp"
#include "model/topology/peer_access.hpp"
#include "model/topology/routes.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;

CommunicatorSetup opened(const Machine& machine, const Implementation& implementation,
                         const Call& call = {}) {
  return open_communicator(machine, implementation, call);
}

Implementation nccl(int minor = 28) {
  Implementation implementation;
  implementation.minor = minor;
  return implementation;
}

TEST(CommunicatorSetup, HasEachSearchChannelTwice) {  // facts.md A5.1
  const CommunicatorSetup pair = opened(support::one_switch(2, {PcieRate::gen3, 16}), nccl());
  EXPECT_EQ(pair.nccl->ring.channels, 1);
  EXPECT_EQ(pair.channels(), 2);
  EXPECT_EQ(opened(support::cube_mesh(), nccl()).channels(), 12);
}

TEST(CommunicatorSetup, CutsToTheMostAndThenRepeatsToTheFewest) {
  Implementation implementation = nccl();
  implementation.environment.max_channels = 3;
  EXPECT_EQ(opened(support::cube_mesh(), implementation).channels(), 3);
  implementation.environment.min_channels = 16;
  const CommunicatorSetup many = opened(support::cube_mesh(), implementation);
  EXPECT_EQ(many.channels(), 16);
  implementation.environment.min_channels = 1000;
  EXPECT_EQ(opened(support::cube_mesh(), implementation).channels(), 64) << "from 2.25 on";
}

TEST(CommunicatorSetup, HasRingsThatDifferFromChannelToChannel) {
  const CommunicatorSetup mesh = opened(support::cube_mesh(), nccl());
  EXPECT_GT(mesh.rings.size(), 1u);
  std::map<std::pair<int, int>, int> channels;  // over each pair, one way
  for (int c = 0; c < mesh.channels(); ++c) {
    const Ring& ring = mesh.rings[static_cast<std::size_t>(mesh.ring_of[static_cast<std::size_t>(c)])];
    EXPECT_EQ(ring.order.front(), 0) << "each from the first rank on";
    for (const Connection& link : ring.links) {
      EXPECT_TRUE(link.nvlink);
      ++channels[{link.from_gpu, link.to_gpu}];
    }
  }
  for (const auto& [pair, count] : channels) EXPECT_LE(count, 4) << "two a NVLink: a search channel twice";
}

TEST(CommunicatorSetup, KeepsAGivenOrderOnAllChannels) {
  Call call;
  call.ranks = {3, 1, 2, 0};
  call.order_given = true;
  const CommunicatorSetup given = opened(support::cube_mesh(), nccl(), call);
  ASSERT_EQ(given.rings.size(), 1u);
  EXPECT_EQ(given.rings.front().order, call.ranks);
}

TEST(CommunicatorSetup, OfMoreGpusThanNcclTakesFallsBack) {
  const CommunicatorSetup large = opened(support::own_roots(300), nccl());
  EXPECT_TRUE(large.nccl->ring.fallback);
  EXPECT_EQ(large.channels(), 2);
  EXPECT_EQ(codes_of(resolve(support::own_roots(300), forced_call(1_MiB)).warnings).back(),
            "LC-TRANSPORT-01");
}

TEST(CommunicatorSetup, OfOurEngineGoesByIndex) {
  Implementation engine;
  engine.library = Library::lanecast;
  const CommunicatorSetup communicator = opened(support::cube_mesh(), engine);
  EXPECT_FALSE(communicator.nccl.has_value());
  EXPECT_EQ(communicator.rings.front().order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

/// All that may be asked for: releases, and levels of peer access.
std::vector<Implementation> many_implementations() {
  std::vector<Implementation> all;
  for (int minor = 18; minor <= 30; minor += 3) {
    for (const auto level :
         {std::optional<PathType>(), std::optional(PathType::loc), std::optional(PathType::pix),
          std::optional(PathType::phb), std::optional(PathType::sys)}) {
      all.push_back(nccl(minor));
      all.back().environment.p2p_level = level;
    }
  }
  all.push_back(implementation_from_string("rccl"));
  all.push_back(implementation_from_string("lanecast"));
  return all;
}

void expect_feasible(const Machine& machine, const Connection& link) {
  if (link.transport == Transport::p2p) {
    EXPECT_TRUE(peer_access_within(machine, link.from_gpu, link.to_gpu, Distance::sys).allowed);
    EXPECT_EQ(link.nvlink, nvlink_route(machine, link.from_gpu, link.to_gpu).has_value());
    EXPECT_TRUE(link.nvlink || peer_route(machine, link.from_gpu, link.to_gpu).has_value());
    return;
  }
  const int cpu = cpu_of(machine, {NodeKind::gpu, link.to_gpu}).value();
  EXPECT_TRUE(host_route(machine, link.from_gpu, cpu, true).has_value());
  EXPECT_TRUE(host_route(machine, link.to_gpu, cpu, false).has_value());
}

TEST(CommunicatorProperty, NeverHasATransportThatCannotBe) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (const Implementation& implementation : many_implementations()) {
      for (const Ring& ring : opened(machine, implementation).rings) {
        for (const Connection& link : ring.links) expect_feasible(machine, link);
      }
    }
  }
}

/// LL for small calls, then LL128, then Simple; channels and threads of one protocol never fall.
TEST(ChoiceProperty, GoesOneWayAsCallsGrow) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Machine machine = support::random_machine(seed);
    for (const int minor : {21, 25, 28, 30}) {
      const Implementation implementation = nccl(minor);
      const CommunicatorSetup communicator = opened(machine, implementation);
      Call call;
      call.algorithm = Algorithm::ring;
      std::optional<ResolvedCall> before;
      for (std::uint64_t size = 8; size <= std::uint64_t{1} << 30; size *= 2) {
        call.size = Bytes(size);
        ResolvedCall now = resolve_call(machine, implementation, communicator, call);
        const std::string name =
            "seed " + std::to_string(seed) + ", " + std::to_string(size) + " B, 2." + std::to_string(minor);
        if (before && before->protocol == now.protocol) {
          EXPECT_GE(now.threads, before->threads) << name;
        }
        if (before) {
          const auto rank = [](Protocol p) { return p == Protocol::ll ? 0 : p == Protocol::ll128 ? 1 : 2; };
          EXPECT_GE(rank(now.protocol), rank(before->protocol)) << name;
        }
        EXPECT_LE(now.channels, communicator.channels()) << name;
        before = std::move(now);
      }
    }
  }
}

TEST(Choice, IsTheCheapestOfTheBill) {
  const Machine machine = support::one_switch(8);
  const Implementation implementation = nccl();
  const CommunicatorSetup communicator = opened(machine, implementation);
  for (std::uint64_t size = 8; size <= std::uint64_t{1} << 30; size *= 4) {
    Call call;
    call.size = Bytes(size);
    const NcclChoice choice = choose(communicator, implementation, call);
    for (const CostEstimate& line : choice.bill) {
      if (line.possible) {
        EXPECT_LE(choice.taken.time, line.time);
      }
    }
  }
}

TEST(Choice, FollowsTheEnvironmentAndTheCallBeforeIt) {
  const Machine machine = support::one_switch(2);
  Implementation implementation = nccl();
  implementation.environment.protocols.stated[Collective::all_reduce] = {Protocol::simple};
  const CommunicatorSetup communicator = opened(machine, implementation);
  Call call;
  call.size = 1_KiB;
  EXPECT_EQ(choose(communicator, implementation, call).taken.protocol, Protocol::simple);
  call.protocol = Protocol::ll;
  EXPECT_EQ(choose(communicator, implementation, call).taken.protocol, Protocol::ll);
  call.collective = Collective::broadcast;
  call.protocol.reset();
  EXPECT_EQ(choose(communicator, implementation, call).taken.protocol, Protocol::ll) << "another collective";
}

TEST(ShmDisable, LeavesTheNetworkWhichIsRefused) {
  Implementation implementation = nccl();
  implementation.environment.shm_disable = true;
  EXPECT_THROW(opened(support::own_roots(4), implementation), Error);
  EXPECT_EQ(opened(support::one_switch(4), implementation).rings.front().links.front().transport,
            Transport::p2p);
}

TEST(GraphRegistration, CameWith223) {  // NCCL user guide, buffer registration
  Call call;
  call.size = 64_MiB;
  call.protocol = Protocol::simple;
  EXPECT_FALSE(resolve_call(support::one_switch(2), nccl(22), call).registered);
  EXPECT_TRUE(resolve_call(support::one_switch(2), nccl(23), call).registered);
}

TEST(GraphRegistration, IsSwitchedOffByItsVariable) {
  Implementation implementation = nccl();
  Call call;
  call.size = 64_MiB;
  call.protocol = Protocol::simple;
  EXPECT_TRUE(resolve_call(support::one_switch(2), implementation, call).registered);
  implementation.environment.graph_register = false;
  EXPECT_FALSE(resolve_call(support::one_switch(2), implementation, call).registered);
}

TEST(ShmLocality, MovesTheBufferToTheSender) {
  Implementation implementation = nccl();
  Call call;
  call.size = 64_MiB;
  EXPECT_FALSE(resolve_call(support::two_sockets(1), implementation, call).fifo_at_sender);
  implementation.environment.shm_locality = 1;
  EXPECT_TRUE(resolve_call(support::two_sockets(1), implementation, call).fifo_at_sender);
}

}  // namespace
}  // namespace lanecast
