// The engine on real GPUs: correctness of every kind of call. Ranks are threads; with fewer GPUs than ranks
// they share them. Skipped without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <random>
#include <string>

#include "tests/support/element.hpp"
#include "tests/support/gpu_ranks.hpp"

namespace lanecast {
namespace {

using support::GpuCase;
using support::GpuRank;
using support::run_gpu_ranks;
using support::wrong_elements;

constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather, Collective::broadcast, Collective::reduce};

std::string describe(const GpuCase& test, int ranks) {
  std::string text = std::string(to_string(test.call.collective)) + " of " +
                     std::to_string(test.call.size.value()) + " B, " + std::to_string(ranks) + " ranks, " +
                     to_string(test.call.datatype) + " " + to_string(test.call.op) +
                     (test.call.in_place ? ", in place" : "");
  if (test.choice.algorithm) text += std::string(", ") + to_string(*test.choice.algorithm);
  if (test.choice.protocol) text += std::string(", ") + to_string(*test.choice.protocol);
  if (test.choice.staging) text += std::string(", ") + to_string(*test.choice.staging);
  if (test.choice.chunk) text += ", chunk " + std::to_string(test.choice.chunk->value());
  if (test.choice.channels) text += ", channels " + std::to_string(*test.choice.channels);
  return text + ", offset " + std::to_string(test.offset) + ", replays " + std::to_string(test.replays);
}

class EngineOnGpus : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (support::gpu_count() == 0) GTEST_SKIP() << "CUDA shows no GPU";
  }

  /// Runs all cases on all ranks; every element must be right.
  static void expect_right(int ranks, const EngineOptions& options, const std::vector<GpuCase>& cases) {
    std::mutex mutex;
    std::uint64_t wrong = 0;
    std::vector<std::string> bad;
    const std::vector<std::string> errors = run_gpu_ranks(ranks, options, [&](GpuRank& rank) {
      for (const GpuCase& test : cases) {
        const std::uint64_t here = wrong_elements(rank, test);
        const std::lock_guard lock(mutex);
        wrong += here;
        if (here != 0 && bad.size() < 20)
          bad.push_back("rank " + std::to_string(rank.rank) + ": " + std::to_string(here) + " in " +
                        describe(test, ranks));
      }
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    for (const std::string& text : bad) ADD_FAILURE() << text;
    EXPECT_EQ(wrong, 0u);
    RecordProperty("cases", static_cast<int>(cases.size()));
    std::printf("  %zu cases on %d ranks: %llu wrong elements\n", cases.size(), ranks,
                static_cast<unsigned long long>(wrong));
  }

  /// A size that is the same number of whole elements on every rank.
  static Bytes size_of(std::uint64_t elements, Collective collective, Datatype type, int ranks) {
    const bool blocks = collective == Collective::all_gather || collective == Collective::reduce_scatter;
    return Bytes(elements * static_cast<std::uint64_t>(element_bytes(type)) *
                 (blocks ? static_cast<std::uint64_t>(ranks) : 1));
  }

  static GpuCase make(Collective collective, std::uint64_t elements, Datatype type, ReduceOp op, int ranks) {
    GpuCase test;
    test.call.collective = collective;
    test.call.size = size_of(elements, collective, type, ranks);
    test.call.datatype = type;
    test.call.op = op;
    test.call.root = ranks - 1;
    test.seed = elements + 7;
    return test;
  }
};

/// Peer memory (or the GPU's own), then host memory.
std::vector<Transport> transports() { return {Transport::p2p, Transport::shm}; }

std::vector<Protocol> protocols(Transport transport) {
  if (transport == Transport::shm) return {Protocol::simple, Protocol::ll};
  return {Protocol::simple, Protocol::ll, Protocol::ll128};
}

TEST_P(EngineOnGpus, ReducesEveryTypeAndOperation) {
  const int ranks = GetParam();
  for (const Transport transport : transports()) {
    EngineOptions options;
    options.transport = transport;
    options.channels = 2;
    std::vector<GpuCase> cases;
    for (const Protocol protocol : protocols(transport)) {
      for (const Datatype type : support::all_datatypes) {
        for (const ReduceOp op : support::all_reduce_ops) {
          GpuCase test = make(Collective::all_reduce, 3001, type, op, ranks);
          test.choice.protocol = protocol;
          test.choice.algorithm = Algorithm::ring;
          cases.push_back(test);
          test.choice.algorithm = Algorithm::two_shot;
          test.call.in_place = true;
          test.offset = 1;
          cases.push_back(test);
        }
      }
    }
    expect_right(ranks, options, cases);
  }
}

TEST_P(EngineOnGpus, RunsEveryCollectiveAlgorithmAndSize) {
  const int ranks = GetParam();
  for (const Transport transport : transports()) {
    EngineOptions options;
    options.transport = transport;
    options.channels = 4;
    std::vector<GpuCase> cases;
    for (const Protocol protocol : protocols(transport)) {
      for (const Collective collective : kCollectives) {
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::one_shot, Algorithm::two_shot,
                                          Algorithm::tree, Algorithm::halving_doubling}) {
          if (!has_form(algorithm, collective, ranks)) continue;
          for (const std::uint64_t elements : {1u, 2u, 3u, 31u, 1024u, 65537u, 1000003u}) {
            GpuCase test = make(collective, elements, Datatype::float32, ReduceOp::sum, ranks);
            test.choice.protocol = protocol;
            test.choice.algorithm = algorithm;
            for (const bool in_place : {false, true}) {
              test.call.in_place = in_place;
              test.offset = static_cast<int>(elements % 4);
              cases.push_back(test);
            }
          }
        }
      }
    }
    expect_right(ranks, options, cases);
  }
}

TEST_P(EngineOnGpus, ReplaysGraphs) {
  const int ranks = GetParam();
  for (const Transport transport : transports()) {
    EngineOptions options;
    options.transport = transport;
    std::vector<GpuCase> cases;
    for (const std::uint64_t elements : {1u, 1000u, 262144u, 3000001u}) {
      GpuCase test = make(Collective::all_reduce, elements, Datatype::float16, ReduceOp::max, ranks);
      test.replays = 5;
      test.repeats = 3;
      cases.push_back(test);  // the engine's own choices
      for (const Protocol protocol : protocols(transport)) {
        test.choice.protocol = protocol;
        cases.push_back(test);
      }
      test.choice = {};
      if (transport == Transport::shm) {
        test.choice.staging = Staging::copy_engines;
        cases.push_back(test);
      }
    }
    expect_right(ranks, options, cases);
  }
}

TEST_P(EngineOnGpus, StagesThroughCopyEngines) {
  const int ranks = GetParam();
  EngineOptions options;
  options.transport = Transport::shm;
  std::vector<GpuCase> cases;
  for (const Collective collective : kCollectives) {
    for (const std::uint64_t elements : {1u, 1000u, 999'983u, 6'000'000u}) {
      for (const bool in_place : {false, true}) {
        GpuCase test = make(collective, elements, Datatype::bfloat16, ReduceOp::avg, ranks);
        if (collective == Collective::broadcast || collective == Collective::all_gather)
          test.call.op = ReduceOp::sum;
        test.call.in_place = in_place;
        test.choice.staging = Staging::copy_engines;
        test.repeats = 2;
        if (test.call.in_place && test.call.op == ReduceOp::avg)
          test.repeats = 1;  // the second would sum sums
        cases.push_back(test);
      }
    }
  }
  expect_right(ranks, options, cases);
}

TEST_P(EngineOnGpus, TakesAnyChunkChannelsAndThreads) {
  const int ranks = GetParam();
  EngineOptions options;
  options.transport = Transport::p2p;
  options.channels = 8;
  std::vector<GpuCase> cases;
  for (const std::uint64_t chunk : {4096u, 65536u, 262144u, 1048576u}) {
    for (const int channels : {1, 3, 8}) {
      for (const int threads : {32, 96, 512}) {
        GpuCase test = make(Collective::all_reduce, 700'001, Datatype::float32, ReduceOp::sum, ranks);
        test.choice.algorithm = Algorithm::ring;
        test.choice.protocol = Protocol::simple;
        test.choice.chunk = Bytes(chunk);
        test.choice.channels = channels;
        test.choice.threads = threads;
        cases.push_back(test);
      }
    }
  }
  expect_right(ranks, options, cases);
}

TEST_P(EngineOnGpus, GoesOnWhereFlagsComeRound) {
  const int ranks = GetParam();
  for (const std::uint64_t first : {(std::uint64_t{1} << 31) - 20, (std::uint64_t{1} << 32) - 20}) {
    for (const Transport transport : transports()) {
      EngineOptions options;
      options.transport = transport;
      options.channels = 2;
      options.first_step = first;
      std::vector<GpuCase> cases;
      for (int i = 0; i < 40; ++i) {
        GpuCase test = make(Collective::all_reduce, 500u + static_cast<unsigned>(i) * 37u, Datatype::float32,
                            ReduceOp::sum, ranks);
        test.choice.protocol =
            protocols(transport)[static_cast<std::size_t>(i) % protocols(transport).size()];
        test.choice.algorithm = i % 2 == 0 ? Algorithm::ring : Algorithm::one_shot;
        cases.push_back(test);
      }
      expect_right(ranks, options, cases);
    }
  }
}

/// LANECAST_STRESS_RUNS sets the number.
TEST_P(EngineOnGpus, RunsMixedCallsWithoutADeadlock) {
  const int ranks = GetParam();
  const char* wanted = std::getenv("LANECAST_STRESS_RUNS");
  const int runs = wanted == nullptr ? 60 : std::atoi(wanted);
  for (const Transport transport : transports()) {
    std::mt19937_64 random(static_cast<std::uint64_t>(ranks) * 2 + (transport == Transport::shm ? 1 : 0));
    EngineOptions options;
    options.transport = transport;
    std::vector<GpuCase> cases;
    while (static_cast<int>(cases.size()) < runs) {
      const Collective collective = kCollectives[random() % 5];
      const Datatype type = support::all_datatypes[random() % support::all_datatypes.size()];
      const ReduceOp op = support::all_reduce_ops[random() % support::all_reduce_ops.size()];
      const std::uint64_t most = std::uint64_t{1} << (random() % 19);
      GpuCase test = make(collective, 1 + random() % most, type, op, ranks);
      test.call.in_place = random() % 2 == 0;
      test.call.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
      test.offset = static_cast<int>(random() % 5);
      if (random() % 3 != 0)
        test.choice.protocol = protocols(transport)[random() % protocols(transport).size()];
      constexpr Algorithm kAlgorithms[] = {Algorithm::ring, Algorithm::one_shot, Algorithm::two_shot,
                                           Algorithm::tree};
      const Algorithm algorithm = kAlgorithms[random() % 4];
      if (random() % 3 != 0 && has_form(algorithm, collective, ranks)) test.choice.algorithm = algorithm;
      test.replays = random() % 4 == 0 ? 2 : 0;
      if (test.call.in_place && test.replays != 0 && op != ReduceOp::max && op != ReduceOp::min)
        test.replays = 0;
      cases.push_back(test);
    }
    expect_right(ranks, options, cases);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EngineOnGpus, testing::Values(2, 3, 4, 8));

}  // namespace
}  // namespace lanecast
