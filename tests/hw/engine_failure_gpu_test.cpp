// What goes wrong on real GPUs: every rank gets an error that names rank, step and path, in time, and the
// next run works. Ranks are threads. Skipped without a GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/gpu_ranks.hpp"

namespace lanecast {
namespace {

using support::GpuRank;
using support::run_gpu_ranks;

constexpr std::chrono::milliseconds kTimeout{500};

/// Device memory of one rank.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) {
    if (cudaMalloc(&memory_, bytes) == cudaSuccess) cudaMemset(memory_, 0, bytes);
  }
  ~Buffer() { cudaFree(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

class EngineFailuresOnGpus : public testing::TestWithParam<Transport> {
 protected:
  void SetUp() override {
    if (support::gpu_count() == 0) GTEST_SKIP() << "CUDA shows no GPU";
    options_.transport = GetParam();
    options_.timeout = kTimeout;
  }

  /// A ring all-reduce with Simple of this rank's own idea of the count.
  static void reduce(GpuRank& rank, const Buffer& buffer, std::uint64_t count) {
    Call call;
    call.size = Bytes(count * 4);
    CallChoice choice;
    choice.algorithm = Algorithm::ring;
    choice.protocol = Protocol::simple;
    rank.communicator.run(call, choice, buffer.get(), buffer.get(), rank.stream);
  }

  /// A whole run, all of which must be right.
  void expect_next_run_works() const {
    const auto errors = run_gpu_ranks(2, options_, [](GpuRank& rank) {
      support::GpuCase test;
      test.call.size = Bytes(4 * 10'007);
      EXPECT_EQ(support::wrong_elements(rank, test), 0u);
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
  }

  static void show(const std::vector<std::string>& errors) {
    for (std::size_t rank = 0; rank < errors.size(); ++rank)
      std::printf("  rank %zu saw: %s\n", rank, errors[rank].c_str());
  }

  EngineOptions options_;
};

TEST_P(EngineFailuresOnGpus, AMissingCallEndsTheWaitOfTheOthersInTime) {
  std::atomic<bool> over{false};
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = run_gpu_ranks(2, options_, [&](GpuRank& rank) {
    const Buffer buffer(4 << 20);
    rank.communicator.barrier();
    if (rank.rank == 1) {  // late, for longer than anyone waits
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      rank.communicator.check();
      return;
    }
    try {
      reduce(rank, buffer, 100'000);
      rank.communicator.synchronize(rank.stream);
    } catch (const std::exception&) {
      over = true;
      throw;
    }
    over = true;
  });
  const auto took = std::chrono::steady_clock::now() - begin;
  show(errors);
  EXPECT_LT(took, kTimeout * 20);
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("rank 0 waited"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 1"), std::string::npos) << error;
    EXPECT_NE(error.find("step"), std::string::npos) << error;
    EXPECT_NE(error.find("memory"), std::string::npos) << error;
  }
  expect_next_run_works();
}

TEST_P(EngineFailuresOnGpus, ALateRankIsWaitedFor) {
  const auto errors = run_gpu_ranks(2, options_, [&](GpuRank& rank) {
    const Buffer buffer(4 << 20);
    rank.communicator.barrier();
    if (rank.rank == 1) std::this_thread::sleep_for(kTimeout / 4);
    reduce(rank, buffer, 100'000);
    rank.communicator.synchronize(rank.stream);
    rank.communicator.barrier();
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST_P(EngineFailuresOnGpus, SizesThatDifferAreToldToBoth) {
  const auto errors = run_gpu_ranks(2, options_, [&](GpuRank& rank) {
    const Buffer buffer(4 << 20);
    rank.communicator.barrier();
    reduce(rank, buffer, rank.rank == 0 ? 1000 : 1001);
    rank.communicator.synchronize(rank.stream);
    rank.communicator.barrier();
  });
  show(errors);
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("disagree"), std::string::npos) << error;
    EXPECT_NE(error.find("1001"), std::string::npos) << error;
  }
  expect_next_run_works();
}

TEST_P(EngineFailuresOnGpus, MemoryThatRunsOutIsToldToAll) {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  constexpr std::size_t kLeft = std::size_t{96} << 20;
  if (free < 2 * kLeft) GTEST_SKIP() << "others use this GPU's memory";
  std::vector<std::string> errors;
  {
    const Buffer most(free - kLeft);
    EngineOptions large = options_;
    large.ring_buffsize[0] = Bytes(64u << 20);
    large.transport = Transport::p2p;
    errors = run_gpu_ranks(2, large, [](GpuRank&) {});
  }
  show(errors);
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("can't allocate"), std::string::npos) << error;
    EXPECT_NE(error.find("rank "), std::string::npos) << error;
  }
  expect_next_run_works();
}

TEST_P(EngineFailuresOnGpus, ARankThatEndsIsNamed) {
  const auto errors = run_gpu_ranks(2, options_, [&](GpuRank& rank) {
    const Buffer buffer(4 << 20);
    rank.communicator.barrier();
    if (rank.rank == 1) throw std::runtime_error("this rank had enough");
    reduce(rank, buffer, 100'000);
    rank.communicator.synchronize(rank.stream);
  });
  show(errors);
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  expect_next_run_works();
}

INSTANTIATE_TEST_SUITE_P(Paths, EngineFailuresOnGpus, testing::Values(Transport::p2p, Transport::shm),
                         [](const auto& transport) { return std::string(to_string(transport.param)); });

}  // namespace
}  // namespace lanecast
