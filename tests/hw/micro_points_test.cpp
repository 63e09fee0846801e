#include "hw/measure/micro_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>

#include "hw/measure/micro.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

/// `count` GPUs that all reach each other, with gaps in their numbers.
MicroGpus joined_gpus(int count) {
  MicroGpus gpus;
  for (int i = 0; i < count; ++i) gpus.devices.push_back(2 * i);
  gpus.access.assign(gpus.devices.size(), std::vector<bool>(gpus.devices.size(), true));
  return gpus;
}

MicroGpus lonely_gpus(int count) {
  MicroGpus gpus = joined_gpus(count);
  gpus.access.assign(gpus.devices.size(), std::vector<bool>(gpus.devices.size(), false));
  return gpus;
}

/// Points of a name, between two memories.
std::vector<MicroPoint> points_of(const std::vector<MicroPoint>& points, const std::string& name, int source,
                                  int destination) {
  std::vector<MicroPoint> found;
  for (const MicroPoint& point : points) {
    const bool moves = std::any_of(point.flows.begin(), point.flows.end(), [&](const MicroFlow& flow) {
      return flow.source == source && flow.destination == destination;
    });
    if (moves && point.name == name) found.push_back(point);
  }
  return found;
}

template <class Value>
std::set<Value> values(const std::vector<MicroPoint>& points, Value MicroPoint::*member) {
  std::set<Value> found;
  for (const MicroPoint& point : points) found.insert(point.*member);
  return found;
}

std::set<std::uint64_t> mebibytes(const std::vector<MicroPoint>& points, std::uint64_t factor) {
  std::set<std::uint64_t> found;
  for (const MicroPoint& point : points) found.insert(factor * (point.size.value() >> 20));
  return found;
}

class MicroSuites : public testing::TestWithParam<std::tuple<Suite, int>> {
 protected:
  Suite suite() const { return std::get<0>(GetParam()); }
  MicroGpus gpus() const { return joined_gpus(std::get<1>(GetParam())); }
  std::vector<MicroPoint> points() const { return micro_points(suite(), gpus()); }
};

TEST_P(MicroSuites, MoveDataByThreadBlocksBetweenEveryGpuAndEveryMemory) {
  const auto all = points();
  for (const int gpu : gpus().devices) {
    for (const char* name : {"sm_store", "sm_load", "sm_copy", "sm_reduce", "sm_copy_sweep"}) {
      EXPECT_FALSE(points_of(all, name, gpu, gpu).empty()) << name << " in the memory of GPU " << gpu;
    }
    std::vector<int> others{kHostMemory};
    for (const int peer : gpus().devices) {
      if (peer != gpu) others.push_back(peer);
    }
    for (const int other : others) {
      for (const char* name : {"sm_store", "sm_push", "sm_reduce_push", "sm_duplex"}) {
        EXPECT_FALSE(points_of(all, name, gpu, other).empty()) << name << " from " << gpu << " to " << other;
      }
      for (const char* name : {"sm_load", "sm_pull", "sm_reduce_pull", "sm_duplex"}) {
        EXPECT_FALSE(points_of(all, name, other, gpu).empty()) << name << " from " << other << " to " << gpu;
      }
      EXPECT_FALSE(points_of(all, "fence", gpu, other).empty()) << gpu << " to " << other;
    }
    EXPECT_FALSE(points_of(all, "fence", gpu, gpu).empty());
  }
}

TEST_P(MicroSuites, CopyByEnginesBetweenEveryGpuAndEveryMemoryOneWayAndBothWays) {
  const auto all = points();
  for (const int gpu : gpus().devices) {
    EXPECT_FALSE(points_of(all, "ce_copy", gpu, kHostMemory).empty());
    EXPECT_FALSE(points_of(all, "ce_copy", kHostMemory, gpu).empty());
    ASSERT_FALSE(points_of(all, "ce_duplex", gpu, kHostMemory).empty());
    EXPECT_EQ(points_of(all, "ce_duplex", gpu, kHostMemory).front().flows.size(), 2U);
    for (const int peer : gpus().devices) {
      if (peer == gpu) continue;
      EXPECT_FALSE(points_of(all, "ce_copy", gpu, peer).empty()) << gpu << " to " << peer;
      ASSERT_EQ(points_of(all, "ce_pair", gpu, peer).size(), 1U) << gpu << " and " << peer;
      EXPECT_EQ(points_of(all, "ce_pair", gpu, peer).front().flows.size(), 2U);
    }
  }
}

TEST_P(MicroSuites, LoadAllGpusAtOnceWhereThereAreSeveral) {
  const auto all = points();
  const std::size_t count = gpus().devices.size();
  const std::vector<std::pair<const char*, std::size_t>> flows{
      {"to_host_all", count}, {"from_host_all", count}, {"duplex_all", 2 * count}, {"ring", count}};
  for (const auto& [name, flow_count] : flows) {
    for (const char* by : {"sm_", "ce_"}) {
      const auto found = std::find_if(all.begin(), all.end(), [&, n = name](const MicroPoint& p) {
        return p.name == by + std::string(n);
      });
      ASSERT_EQ(found != all.end(), count > 1) << by << name;
      if (count > 1) {
        EXPECT_EQ(found->flows.size(), flow_count) << by << name;
      }
    }
  }
}

TEST_P(MicroSuites, PlayPingPongAndFillFifosBetweenEveryTwoGpusAndOnEach) {
  const auto all = points();
  const auto devices = gpus().devices;
  for (std::size_t a = 0; a < devices.size(); ++a) {
    for (std::size_t b = a; b < devices.size(); ++b) {
      for (const char* name : {"flight_ll", "flight_ll128", "flight_flag", "flight_ll_host",
                               "flight_ll128_host", "flight_flag_host", "slices1", "slices2", "slices1_host",
                               "slices2_host", "staged_sm", "staged_ce", "staged_ce_graph"}) {
        EXPECT_FALSE(points_of(all, name, devices[a], devices[b]).empty()) << name;
      }
    }
  }
}

TEST_P(MicroSuites, StartKernelsInStreamsAndInGraphsOfThreeLengthsOnEveryGpu) {
  const auto all = points();
  for (const int gpu : gpus().devices) {
    EXPECT_EQ(points_of(all, "launch_stream", gpu, gpu).size(), 1U);
    EXPECT_EQ(points_of(all, "launch_synchronised", gpu, gpu).size(), 1U);
    for (const char* name : {"graph_replay", "graph_replay_host", "graph_period"}) {
      EXPECT_EQ(values(points_of(all, name, gpu, gpu), &MicroPoint::kernels), (std::set<int>{10, 20, 100}));
    }
  }
  const int first = gpus().devices.front();
  EXPECT_GE(values(points_of(all, "graph_kernel", first, first), &MicroPoint::threads).size(), 2U);
  EXPECT_GE(values(points_of(all, "graph_kernel_arguments", first, first), &MicroPoint::blocks).size(), 2U);
}

TEST_P(MicroSuites, CompareOneSliceWithTwoOfEqualBytesTogether) {
  const auto all = points();
  const int gpu = gpus().devices.front();
  const auto one = points_of(all, "slices1", gpu, gpu), two = points_of(all, "slices2", gpu, gpu);
  EXPECT_EQ(values(one, &MicroPoint::size), values(two, &MicroPoint::size));
  for (const MicroPoint& point : one) EXPECT_EQ(std::pair(point.slices, point.slots), std::pair(1, 2));
  for (const MicroPoint& point : two) EXPECT_EQ(std::pair(point.slices, point.slots), std::pair(2, 4));
}

TEST_P(MicroSuites, HaveNoPointTwice) {
  std::set<std::tuple<std::string, int, int, int, int, std::uint64_t, int>> seen;
  for (const MicroPoint& p : points()) {
    const MicroFlow& flow = p.flows.at(0);
    const bool fresh =
        seen.insert({p.name, flow.source, flow.destination, p.threads, p.blocks, p.size.value(), p.kernels})
            .second;
    EXPECT_TRUE(fresh) << p.name << " " << p.threads << " " << p.blocks << " " << p.size.value();
  }
}

TEST_P(MicroSuites, StayInTheLimitsOfKernelsAndBuffers) {
  for (const MicroPoint& p : points()) {
    ASSERT_FALSE(p.flows.empty());
    EXPECT_LE(p.threads, p.kind == MicroKind::graph_kernel ? 1024 : 512) << p.name;
    std::multiset<int> runners;
    for (const MicroFlow& flow : p.flows) runners.insert(flow.runner);
    for (const int runner : runners) EXPECT_LE(runners.count(runner), 2U) << p.name << ": two flows a kernel";
    if (p.kind == MicroKind::sm_rate) {
      const auto in_flight = static_cast<std::uint64_t>(p.threads * p.blocks) * 64;
      EXPECT_GE(p.size.value(), in_flight) << p.name << ": all threads have four loads of 16 B";
    }
    if (p.through_host) {
      EXPECT_LE(p.size.value() * static_cast<std::uint64_t>(std::max(p.blocks, 1)), 64U << 20) << p.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MicroSuites,
                         testing::Combine(testing::Values(Suite::quick, Suite::full),
                                          testing::Values(1, 2, 4)));

TEST(FullMicroSuite, TakesStoresLoadsCopiesAndSumsFrom64To512ThreadsAnd1To32Blocks) {
  const auto all = micro_points(Suite::full, joined_gpus(2));
  const std::vector<std::tuple<const char*, int, int>> rates{{"sm_store", 0, 0},
                                                             {"sm_load", 0, 0},
                                                             {"sm_copy", 0, 0},
                                                             {"sm_reduce", 0, 0},
                                                             {"sm_push", 0, kHostMemory},
                                                             {"sm_pull", kHostMemory, 0},
                                                             {"sm_store", 0, kHostMemory},
                                                             {"sm_load", kHostMemory, 0},
                                                             {"sm_push", 0, 2},
                                                             {"sm_pull", 2, 0},
                                                             {"sm_store", 0, 2},
                                                             {"sm_load", 2, 0}};
  for (const auto& [name, source, destination] : rates) {
    std::set<std::pair<int, int>> shapes;
    for (const MicroPoint& p : points_of(all, name, source, destination))
      shapes.insert({p.threads, p.blocks});
    for (const int threads : {64, 128, 256, 512}) {
      for (const int blocks : {1, 2, 4, 8, 16, 32}) {
        EXPECT_EQ(shapes.count({threads, blocks}), 1U) << name << " " << threads << " x " << blocks;
      }
    }
  }
}

TEST(FullMicroSuite, SweepsWorkingSetsFrom8To256MbAndFifosFrom256KibTo16Mib) {
  const auto all = micro_points(Suite::full, joined_gpus(1));
  const auto sets = mebibytes(points_of(all, "sm_copy_sweep", 0, 0), 2);  // a copy has two buffers
  EXPECT_EQ(*sets.begin(), 8U);
  EXPECT_EQ(*sets.rbegin(), 256U);
  EXPECT_GE(sets.size(), 6U);
  for (const char* name : {"staged_sm", "staged_ce"}) {
    const auto sizes = values(points_of(all, name, 0, 0), &MicroPoint::size);
    for (std::uint64_t kib = 256; kib <= 16384; kib *= 2) {
      EXPECT_EQ(sizes.count(Bytes(kib << 10)), 1U) << name << " " << kib << " KiB";
    }
  }
}

TEST(MicroPoints, UseNoPeerMemoryWhereItCannotBeReached) {
  for (const MicroPoint& p : micro_points(Suite::full, lonely_gpus(3))) {
    for (const MicroFlow& flow : p.flows) {
      const bool peers =
          flow.source != flow.destination && flow.source != kHostMemory && flow.destination != kHostMemory;
      EXPECT_TRUE(!peers || p.through_host) << p.name;
    }
  }
}

TEST(MicroPoints, NameMemoriesByCudasIndex) {
  EXPECT_EQ(memory_name(kHostMemory), "host");
  EXPECT_EQ(memory_name(3), "gpu3");
}

TEST(MicroPoints, ReadBackTheNamesOfSuites) {
  for (const Suite suite : {Suite::quick, Suite::full}) EXPECT_EQ(suite_from_string(to_string(suite)), suite);
  EXPECT_EQ(suite_from_string("fast"), std::nullopt);
}

TEST(MicroPoints, HaveTheirNamesExplained) {
  std::ifstream page(LANECAST_SOURCE "/docs/micro-benchmarks.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  std::set<std::string> names{"graph_fixed", "graph_node"};
  for (const MicroPoint& p : micro_points(Suite::full, joined_gpus(3))) names.insert(p.name);
  for (const std::string& name : names) {
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos)
        << name << " is missing in docs/micro-benchmarks.md";
  }
}

TEST(DerivedResults, SplitReplaysIntoWhatAReplayCostsAndWhatAKernelCosts) {
  std::vector<MicroResult> replays;
  for (const int kernels : {10, 20, 100}) {
    MicroResult result;
    result.name = "graph_replay";
    result.source = result.destination = "gpu1";
    result.session = 3;
    result.iterations = kernels;
    result.us = 18 + 1.25 * kernels;
    result.repeats = 20;
    replays.push_back(result);
  }
  const auto derived = derived_results(replays);
  ASSERT_EQ(derived.size(), 2U);
  EXPECT_EQ(derived[0].name, "graph_fixed");
  EXPECT_NEAR(derived[0].us.value(), 18, 1e-9);
  EXPECT_EQ(derived[1].name, "graph_node");
  EXPECT_NEAR(derived[1].us.value(), 1.25, 1e-9);
  for (const MicroResult& result : derived) {
    EXPECT_EQ(result.source, "gpu1");
    EXPECT_EQ(result.session, 3);
    EXPECT_EQ(result.repeats, 0) << "nothing was run for it";
    EXPECT_FALSE(result.iterations);
  }
}

TEST(DerivedResults, AreNoneOfASingleLength) {
  MicroResult result;
  result.name = "graph_replay";
  result.us = 30;
  result.iterations = 10;
  EXPECT_TRUE(derived_results({result, result}).empty());
}

TEST(MicroGpus, RefuseAnEmptyList) {
  try {
    micro_gpus({});
    FAIL() << "nothing would be measured";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(MicroGpus, RefuseADeviceThatIsNotThere) {
  try {
    micro_gpus({4096});
    FAIL() << "no machine has so many";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_hardware);
    EXPECT_NE(std::string(error.what()).find("GPU 4096"), std::string::npos);
  }
}

}  // namespace
}  // namespace lanecast
