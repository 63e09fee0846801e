#include "model/implementation/implementation.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "model/error.hpp"
#include "tests/model/ring_calls.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast {
namespace {

using namespace literals;
using Codes = std::vector<std::string>;

void expect_usage_error(const std::function<void()>& act, const std::string& named) {
  try {
    act();
    ADD_FAILURE() << "was taken; expected a refusal that names " << named;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

Call open_call(Bytes size, Protocol protocol = Protocol::simple) {
  Call call;
  call.size = size;
  call.algorithm = Algorithm::ring;
  call.protocol = protocol;
  return call;
}

Distance level_of(const std::string& implementation, Machine machine, const std::string& vendor) {
  for (Cpu& cpu : machine.cpus) cpu.vendor = vendor;
  return default_p2p_level(implementation_from_string(implementation), machine,
                           static_cast<int>(machine.gpus.size()));
}

TEST(ImplementationName, GoesBothWays) {
  EXPECT_EQ(implementation_from_string("lanecast").name(), "lanecast");
  for (const char* name : {"nccl-2.18", "nccl-2.21", "nccl-2.28", "nccl-2.30"}) {
    EXPECT_EQ(implementation_from_string(name).name(), name);
  }
}

TEST(ImplementationName, WithoutAVersionIsTheNewestKnown) {
  EXPECT_EQ(implementation_from_string("nccl").name(), "nccl-2.30");
  EXPECT_EQ(implementation_from_string("nccl-2.28.9").name(), "nccl-2.28");
}

TEST(ImplementationName, RefusesWhatIsNotKnown) {
  for (const char* name :
       {"", "NCCL", "RCCL", "rccl-2.18", "nccl-model-", "nccl-model-2.17", "nccl-", "nccl-2", "nccl-2.",
        "nccl-2.17", "nccl-2.31", "nccl-3.0", "nccl-2.x", "nccl-2.280", "lanecast-1"}) {
    expect_usage_error([&] { implementation_from_string(name); }, std::string("`") + name + "`");
  }
}

TEST(DefaultP2pLevel, IsTheSameSwitchFrom223) {  // facts.md A7
  for (const char* nccl : {"nccl-2.23", "nccl-2.28", "nccl-2.30"}) {
    EXPECT_EQ(level_of(nccl, support::own_roots(4), "amd"), Distance::pxb);
    EXPECT_EQ(level_of(nccl, support::own_roots(4), "intel"), Distance::pxb);
    EXPECT_EQ(level_of(nccl, support::own_roots(2), "intel"), Distance::pxb);
    EXPECT_EQ(level_of(nccl, support::own_roots(2), "arm"), Distance::pxb);
    EXPECT_EQ(level_of(nccl, support::own_roots(2), "amd"), Distance::sys) << "AMD and at most two GPUs";
  }
}

TEST(DefaultP2pLevel, IsEverythingUpTo221ButOnIntelArmAndZhaoxin) {  // facts.md A7
  for (const char* nccl : {"nccl-2.18", "nccl-2.21"}) {
    EXPECT_EQ(level_of(nccl, support::own_roots(8), "amd"), Distance::sys);
    EXPECT_EQ(level_of(nccl, support::own_roots(8), "ibm"), Distance::sys);
    for (const char* vendor : {"intel", "arm", "zhaoxin"}) {
      EXPECT_EQ(level_of(nccl, support::own_roots(2), vendor), Distance::pxb) << vendor;
    }
  }
}

TEST(DefaultTransport, FollowsTheLevel) {
  const auto transports = [](const Machine& machine, const char* implementation) {
    std::string text;
    const ResolvedCall resolved = resolve(machine, open_call(1_MiB), implementation);
    for (const Connection& link : resolved.links()) {
      text += std::string(text.empty() ? "" : " ") + to_string(link.transport);
    }
    return text;
  };
  EXPECT_EQ(transports(support::two_switches(2), "nccl-2.28"), "p2p shm p2p shm");
  EXPECT_EQ(transports(support::two_switches(2), "nccl-2.21"), "p2p p2p p2p p2p");
  EXPECT_EQ(transports(support::two_switches(2), "lanecast"), "p2p p2p p2p p2p");
  EXPECT_EQ(transports(support::with_nvswitch(3), "nccl-2.28"), "p2p p2p p2p");
}

TEST(SimpleThreads, Are512Or256OnARingOfAtMost12GBps) {  // facts.md A5.2
  EXPECT_EQ(resolve(support::one_switch(2, {PcieRate::gen4, 16}), open_call(64_MiB)).threads, 512);
  EXPECT_EQ(resolve(support::one_switch(2, {PcieRate::gen3, 16}), open_call(64_MiB)).threads, 256);
  EXPECT_EQ(resolve(support::one_switch(2, {PcieRate::gen4, 8}), open_call(64_MiB)).threads, 256);
  EXPECT_EQ(resolve(support::nvlink_pair({PcieRate::gen3, 16}), open_call(64_MiB)).threads, 512);
}

TEST(LineThreads, AreTheProtocolsMost) {  // facts.md A2
  EXPECT_EQ(resolve(support::one_switch(2), open_call(64_MiB, Protocol::ll)).threads, 512);
  EXPECT_EQ(resolve(support::nvlink_pair(), open_call(64_MiB, Protocol::ll128)).threads, 640);
}

TEST(Channels, AreTwoToFourOnPcieAndTwentyFourOnHopperNvlink) {  // facts.md A5.1
  EXPECT_EQ(resolve(support::one_switch(2, {PcieRate::gen3, 16}), open_call(64_MiB)).channels, 2);
  EXPECT_EQ(resolve(support::one_switch(2, {PcieRate::gen5, 16}), open_call(64_MiB)).channels, 4);
  Machine hopper = support::nvlink_pair();
  for (Gpu& gpu : hopper.gpus) gpu.sm = 90;
  support::link_named(hopper, "nv0").count = 18;
  EXPECT_EQ(resolve(hopper, open_call(64_MiB)).channels, 24);
}

TEST(SmallCalls, DropChannelsFirstThenHalveThreads) {  // facts.md A5.3: 64 B a thread for Simple
  const Machine machine = support::one_switch(2, {PcieRate::gen5, 16});
  const auto shape = [&](std::uint64_t size) {
    const ResolvedCall resolved = resolve(machine, open_call(Bytes(size)));
    return std::pair(resolved.channels, resolved.threads);
  };
  EXPECT_EQ(shape(4 * 512 * 64), std::pair(4, 512));
  EXPECT_EQ(shape(4 * 512 * 64 - 4), std::pair(3, 512));
  EXPECT_EQ(shape(2 * 512 * 64), std::pair(2, 512));
  EXPECT_EQ(shape(1 * 512 * 64), std::pair(1, 512));
  EXPECT_EQ(shape(1 * 512 * 64 - 4), std::pair(1, 256));
  EXPECT_EQ(shape(256 * 64 - 4), std::pair(1, 128));
  EXPECT_EQ(shape(4), std::pair(1, 64));  // 96 with the sync warp
}

TEST(SmallCalls, OfLlCountEightBytesAThreadAndRank) {  // facts.md A5.3
  for (const int ranks : {2, 8}) {
    const Machine machine = support::one_switch(ranks, {PcieRate::gen5, 16});
    const std::uint64_t full = 512u * 8u * static_cast<unsigned>(ranks);
    const auto shape = [&](std::uint64_t size) {
      const ResolvedCall resolved = resolve(machine, open_call(Bytes(size), Protocol::ll));
      return std::pair(resolved.channels, resolved.threads);
    };
    EXPECT_EQ(shape(4 * full), std::pair(4, 512));
    EXPECT_EQ(shape(full), std::pair(1, 512));
    EXPECT_EQ(shape(full - 4), std::pair(1, 256));
    EXPECT_EQ(shape(4), std::pair(1, 96)) << "96 at least";
  }
}

TEST(ForcedValues, AreKept) {
  Call call = open_call(64_MiB);
  call.channels = 7;
  call.threads = 96;
  call.buffsize = 8_MiB;
  call.chunk = 1_MiB;
  call.transport = Transport::shm;
  const ResolvedCall resolved = resolve(support::one_switch(4), call);
  EXPECT_EQ(resolved.channels, 7);
  EXPECT_EQ(resolved.threads, 96);
  EXPECT_EQ(resolved.buffsize, 8_MiB);
  EXPECT_EQ(resolved.chunk, 1_MiB);
  EXPECT_EQ(resolved.fifo_slices, 16);  // 8 MiB / 512 KiB
  for (const Connection& link : resolved.links()) EXPECT_EQ(link.transport, Transport::shm);
  call.transport = Transport::p2p;
  const ResolvedCall across = resolve(support::two_sockets(2), call);
  for (const Connection& link : across.links()) {
    EXPECT_EQ(link.transport, Transport::p2p) << "whatever the level";
  }
}

TEST(ForcedValues, AreNcclsMostAndSmallCallsGetFewer) {  // 2 x H200: 1 KiB takes as long whatever is forced
  for (const int channels : {1, 8}) {
    Call call = open_call(4_KiB);
    call.protocol = Protocol::simple;
    call.channels = channels;
    call.threads = 512;
    const ResolvedCall resolved = resolve(support::one_switch(2), call);
    EXPECT_EQ(resolved.channels, 1);
    EXPECT_EQ(resolved.threads, 64);  // 4 KiB / 64 B a thread
  }
}

TEST(ForcedP2p, IsRefusedWhereItCannotBe) {
  Call call = open_call(1_MiB);
  call.transport = Transport::p2p;
  Machine geforce = support::one_switch(2);
  for (Gpu& gpu : geforce.gpus) gpu.model = "NVIDIA GeForce RTX 4090";
  expect_usage_error([&] { resolve(geforce, call); }, "GeForce RTX 4090");
  Machine off = support::nvlink_pair();
  off.p2p.enabled = false;
  expect_usage_error([&] { resolve(off, call); }, "--transport p2p");
}

TEST(Ranges, AreChecked) {
  const Machine machine = support::nvlink_pair();
  const auto refused = [&](const std::string& flag, const std::function<void(Call&)>& change) {
    Call call = open_call(1_MiB);
    change(call);
    expect_usage_error([&] { resolve(machine, call); }, flag);
  };
  refused("--channels", [](Call& c) { c.channels = 0; });
  refused("--channels", [](Call& c) { c.channels = 65; });
  refused("--threads", [](Call& c) { c.threads = 16; });
  refused("--threads", [](Call& c) { c.threads = 544; });
  refused("--iterations", [](Call& c) { c.iterations = 0; });
  refused("--chunk", [](Call& c) {
    c.buffsize = 1_MiB;
    c.chunk = 2_MiB;
  });
  refused("--buffsize", [](Call& c) { c.buffsize = 1_KiB; });
  Call wide = open_call(64_MiB, Protocol::ll128);
  wide.threads = 640;
  EXPECT_EQ(resolve(machine, wide).threads, 640);
}

TEST(Sizes, AreWholeElementsOfEveryRank) {
  const Machine machine = support::one_switch(3);
  Call call = open_call(Bytes(6));
  expect_usage_error([&] { resolve(machine, call); }, "6 B");
  call.datatype = Datatype::float16;
  EXPECT_NO_THROW(resolve(machine, call));
  call.size = Bytes(0);
  expect_usage_error([&] { resolve(machine, call); }, "0 B");
  call.collective = Collective::all_gather;
  call.size = Bytes(32);  // no multiple of 3 ranks x 2 B
  expect_usage_error([&] { resolve(machine, call); }, "32 B");
  call.size = Bytes(36);
  EXPECT_NO_THROW(resolve(machine, call));
  call.size = Bytes(std::uint64_t{6} << 42);
  expect_usage_error([&] { resolve(machine, call); }, "4 TiB");
}

TEST(Ll128, OverPcieWarnsAndOverNvlinkDoesNot) {  // facts.md A3
  const Codes hazard{"LC-PROTO-01"};
  EXPECT_EQ(codes_of(resolve(support::one_switch(2), open_call(1_MiB, Protocol::ll128)).warnings), hazard);
  EXPECT_EQ(codes_of(resolve(support::nvlink_pair(), open_call(1_MiB, Protocol::ll128)).warnings), Codes{});
  EXPECT_EQ(codes_of(resolve(support::one_switch(2), open_call(1_MiB, Protocol::ll)).warnings), Codes{});
}

TEST(Warnings, NameHostTransportRedirectsAndDegradedLinks) {
  EXPECT_EQ(codes_of(resolve(support::own_roots(4), open_call(1_MiB)).warnings), Codes{"LC-TRANSPORT-01"});
  Machine machine = support::one_switch(2);
  machine.switches[0].acs = true;
  EXPECT_EQ(codes_of(resolve(machine, open_call(1_MiB)).warnings), Codes{"LC-ACS-01"});
  machine.switches[0].acs = false;
  support::link_named(machine, "gpu1").width = 8;
  const std::vector<Warning> warnings = resolve(machine, open_call(1_MiB)).warnings;
  ASSERT_EQ(codes_of(warnings), Codes{"LC-LINK-01"});
  EXPECT_NE(warnings[0].text.find("gpu1"), std::string::npos);
  EXPECT_NE(warnings[0].text.find("gen4 x8"), std::string::npos);
  EXPECT_NE(warnings[0].text.find("gen4 x16"), std::string::npos);
}

TEST(StoreAndForward, IsNeededWhereAConnectionHoldsOneChunkOnly) {
  Call call = open_call(64_MiB);
  call.buffsize = 2_MiB;
  call.chunk = 2_MiB;  // two slices of 1 MiB: no slot is left to write while one is read
  const ResolvedCall tight = resolve(support::one_switch(4), call);
  EXPECT_TRUE(tight.store_and_forward);
  EXPECT_EQ(codes_of(tight.warnings), Codes{"LC-CHUNK-01"});
  call.chunk = 1_MiB;
  EXPECT_FALSE(resolve(support::one_switch(4), call).store_and_forward);
  EXPECT_FALSE(resolve(support::one_switch(4), open_call(64_MiB)).store_and_forward);
}

TEST(StoreAndForward, IsNotNeededByAChain) {
  Call call = open_call(64_MiB);
  call.collective = Collective::broadcast;
  call.buffsize = 2_MiB;
  call.chunk = 2_MiB;
  EXPECT_FALSE(resolve(support::one_switch(4), call).store_and_forward);
}

TEST(RingOrder, ClosesOverThePresentGpus) {
  Machine machine = support::one_switch(4);
  machine.gpus[2].present = false;
  const ResolvedCall resolved = resolve(machine, open_call(1_MiB));
  EXPECT_EQ(resolved.order(), (std::vector<int>{0, 1, 3}));
  ASSERT_EQ(resolved.links().size(), 3u);
  EXPECT_EQ(resolved.links()[2].from_gpu, 3);
  EXPECT_EQ(resolved.links()[2].to_gpu, 0);
}

TEST(RingOrder, IsSortedUnlessGiven) {
  Call call = open_call(1_MiB);
  call.ranks = {3, 0, 2};
  EXPECT_EQ(call_ranks(support::one_switch(4), call), (std::vector<int>{0, 2, 3}));
  call.order_given = true;
  EXPECT_EQ(call_ranks(support::one_switch(4), call), (std::vector<int>{3, 0, 2}));
}

TEST(RingOrder, RefusesRanksThatAreTwiceAbsentOrUnknown) {
  Machine machine = support::one_switch(4);
  machine.gpus[2].present = false;
  Call call = open_call(1_MiB);
  for (const auto& [ranks, named] : {std::pair(std::vector<int>{0, 1, 0}, "twice"),
                                     {{0, 2}, "not present"},
                                     {{0, 4}, "0 to 3"},
                                     {{-1, 0}, "GPU -1"}}) {
    call.ranks = ranks;
    expect_usage_error([&] { call_ranks(machine, call); }, named);
  }
}

TEST(Root, MustTakePart) {
  Call call = open_call(1_MiB);
  call.collective = Collective::broadcast;
  call.ranks = {1, 3};
  expect_usage_error([&] { resolve(support::one_switch(4), call); }, "--root");
  call.root = 3;
  EXPECT_EQ(resolve(support::one_switch(4), call).work[0][0].root, 1) << "its ring position";
}

TEST(Registration, HappensForSimpleAllReduceOutOfPlaceOverPeersInAGraph) {  // h200-findings.md
  const auto registered = [](const std::function<void(Call&)>& change, const char* implementation = "nccl") {
    Call call = open_call(1_MiB);
    change(call);
    return resolve(support::nvlink_pair(), call, implementation).registered;
  };
  EXPECT_TRUE(registered([](Call&) {}));
  EXPECT_FALSE(registered([](Call& c) { c.in_place = true; }));
  EXPECT_FALSE(registered([](Call& c) { c.launch = Launch::stream; }));
  EXPECT_FALSE(registered([](Call& c) { c.protocol = Protocol::ll; }));
  EXPECT_FALSE(registered([](Call& c) { c.collective = Collective::all_gather; }));
  EXPECT_FALSE(registered([](Call& c) { c.registration = Registration::off; }));
  EXPECT_FALSE(registered([](Call& c) { c.transport = Transport::shm; }));
}

TEST(Registration, OverHostMemoryIsRefusedWhenForced) {
  Call call = open_call(1_MiB);
  call.registration = Registration::on;
  call.transport = Transport::shm;
  expect_usage_error([&] { resolve(support::nvlink_pair(), call); }, "--register");
}

}  // namespace
}  // namespace lanecast
