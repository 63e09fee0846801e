#include "tests/support/gpu_ranks.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "hw/engine/cuda_check.hpp"
#include "hw/engine/fresh_stream.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "tests/support/element.hpp"

namespace lanecast::support {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void check(int code, const char* what) { check_cuda(code, what, "the test"); }

/// Small whole numbers, so that sums of up to 16 ranks are exact in every type; factors 1, 2 or -1 for
/// products.
double input_value(const GpuCase& test, int rank, std::uint64_t index) {
  std::uint64_t word =
      test.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9u + index;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  word ^= word >> 31;
  const bool is_unsigned = test.call.datatype == Datatype::uint8;
  if (test.call.op == ReduceOp::prod) {
    const int factor = static_cast<int>(word % 3);
    return factor == 2 && !is_unsigned ? -1 : factor == 0 ? 1 : 2;
  }
  return is_unsigned ? static_cast<double>(word % 13) : static_cast<double>(word % 13) - 6;
}

double reduced(const GpuCase& test, int ranks, std::uint64_t index) {
  double value = input_value(test, 0, index);
  for (int rank = 1; rank < ranks; ++rank) {
    const double other = input_value(test, rank, index);
    switch (test.call.op) {
      case ReduceOp::prod:
        value *= other;
        break;
      case ReduceOp::max:
        value = std::max(value, other);
        break;
      case ReduceOp::min:
        value = std::min(value, other);
        break;
      default:
        value += other;
    }
  }
  return value;
}

template <class T>
T narrowed(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_from_float(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return bfloat16_from_float(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(value));  // wraps, and cuts towards zero
  } else {
    return static_cast<T>(value);
  }
}

/// What element `index` of this rank's output has to be.
double expected(const GpuCase& test, int rank, int ranks, std::uint64_t block, std::uint64_t index) {
  switch (test.call.collective) {
    case Collective::all_gather:
      return input_value(test, static_cast<int>(index / block), index % block);
    case Collective::broadcast:
      return input_value(test, test.call.root, index);
    case Collective::reduce_scatter:
      index += block * at(rank);
      break;
    default:
      break;
  }
  const double sum = reduced(test, ranks, index);
  return test.call.op == ReduceOp::avg ? sum / ranks : sum;
}

/// Device memory with guards around what a rank reads or writes.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuard = 4096;

  GuardedBuffer(std::size_t bytes, std::size_t shift)
      : bytes_(bytes), shift_(shift), host_(bytes + shift + 2 * kGuard) {
    check(cudaMalloc(&memory_, host_.size()), "allocate a buffer");
    std::memset(host_.data(), 0xa5, host_.size());
  }
  ~GuardedBuffer() { cudaFree(memory_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* host() { return host_.data() + kGuard + shift_; }
  std::byte* device() { return static_cast<std::byte*>(memory_) + kGuard + shift_; }
  void upload() {
    check(cudaMemcpy(memory_, host_.data(), host_.size(), cudaMemcpyDefault), "fill a buffer");
  }
  void download() {
    check(cudaMemcpy(host_.data(), memory_, host_.size(), cudaMemcpyDefault), "read a buffer");
  }
  bool guards_hold() const {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const bool inside = i >= kGuard + shift_ && i < kGuard + shift_ + bytes_;
      if (!inside && host_[i] != std::byte{0xa5}) return false;
    }
    return true;
  }

 private:
  std::size_t bytes_;
  std::size_t shift_;
  std::vector<std::byte> host_;
  void* memory_ = nullptr;
};

void issue(GpuRank& rank, const GpuCase& test, const std::byte* input, std::byte* output) {
  for (int i = 0; i < test.repeats; ++i)
    rank.communicator.run(test.call, test.choice, input, output, rank.stream);
}

void run_case(GpuRank& rank, const GpuCase& test, const std::byte* input, std::byte* output) {
  if (test.replays == 0) {
    issue(rank, test, input, output);
    rank.communicator.synchronize(rank.stream);
    return;
  }
  check(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "begin a capture");
  issue(rank, test, input, output);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(rank.stream, &graph), "end a capture");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "instantiate a graph");
  check(cudaGraphUpload(executable, rank.stream), "upload a graph");
  check(cudaStreamSynchronize(rank.stream), "upload a graph");
  rank.communicator.barrier();  // making a graph allocates: nobody's kernels meanwhile
  for (int i = 0; i < test.replays; ++i) check(cudaGraphLaunch(executable, rank.stream), "launch a graph");
  rank.communicator.synchronize(rank.stream);
  rank.communicator.barrier();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

template <class T>
std::uint64_t wrong_of_type(GpuRank& rank, const GpuCase& test) {
  const int ranks = rank.communicator.ranks();
  const std::uint64_t count = test.call.size.value() / sizeof(T);
  const Collective collective = test.call.collective;
  const bool blocks = collective == Collective::all_gather || collective == Collective::reduce_scatter;
  const std::uint64_t block = blocks ? count / at(ranks) : count;
  const std::uint64_t inputs = collective == Collective::all_gather ? block : count;
  const std::uint64_t outputs = collective == Collective::reduce_scatter ? block : count;
  const std::size_t shift = at(test.offset) * sizeof(T);
  GuardedBuffer input(inputs * sizeof(T), shift);
  GuardedBuffer output(outputs * sizeof(T), shift);
  GuardedBuffer both(count * sizeof(T), shift);
  const bool in_place = test.call.in_place;
  std::byte* in = in_place ? both.host() : input.host();
  std::byte* out = in_place ? both.host() : output.host();
  std::byte* in_seen = in_place ? both.device() : input.device();
  std::byte* out_seen = in_place ? both.device() : output.device();
  const std::size_t own = block * at(rank.rank) * sizeof(T);
  if (in_place && collective == Collective::all_gather) in += own, in_seen += own;
  if (in_place && collective == Collective::reduce_scatter) out += own, out_seen += own;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const T value = narrowed<T>(input_value(test, rank.rank, i));
    std::memcpy(in + i * sizeof(T), &value, sizeof(T));
  }
  input.upload();
  output.upload();
  both.upload();
  rank.communicator.barrier();  // cudaFree waits for the whole GPU: nobody's kernels while anyone frees
  run_case(rank, test, in_seen, out_seen);
  rank.communicator.barrier();
  input.download();
  output.download();
  both.download();
  std::uint64_t wrong = input.guards_hold() && output.guards_hold() && both.guards_hold() ? 0 : 1;
  if (collective == Collective::reduce && rank.rank != test.call.root) return wrong;
  for (std::uint64_t i = 0; i < outputs; ++i) {
    const T value = narrowed<T>(expected(test, rank.rank, ranks, block, i));
    wrong += std::memcmp(out + i * sizeof(T), &value, sizeof(T)) != 0 ? 1 : 0;
  }
  return wrong;
}

}  // namespace

/// Ranks that share a GPU must not wait for each other's kernels to be loaded, nor in one queue.
int gpu_count() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

std::vector<std::string> run_gpu_ranks(int ranks, const EngineOptions& options,
                                       const std::function<void(GpuRank&)>& body) {
  std::vector<std::unique_ptr<Exchange>> exchanges = thread_exchanges(ranks, std::chrono::seconds(30));
  std::vector<std::string> errors(at(ranks));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const int gpu = rank % gpu_count();
          check(cudaSetDevice(gpu), "choose a device");
          const std::unique_ptr<EngineDevice> device = open_cuda_device(gpu);
          cudaStream_t stream = nullptr;
          check(static_cast<cudaError_t>(make_stream(&stream)), "make a stream");
          {
            Communicator communicator(std::move(exchanges[at(rank)]), *device, options);
            GpuRank own{rank, communicator, *device, stream};
            body(own);
          }
          cudaStreamDestroy(stream);
        } catch (const std::exception& error) {
          errors[at(rank)] = error.what();
        }
      });
    }
  }
  return errors;
}

std::uint64_t wrong_elements(GpuRank& rank, const GpuCase& test) {
  return visit_datatype(test.call.datatype,
                        [&](auto value) { return wrong_of_type<decltype(value)>(rank, test); });
}

}  // namespace lanecast::support
