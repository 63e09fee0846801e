#include "hw/engine/cuda_copy_engines.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <string>
#include <vector>

#include "hw/engine/cuda_check.hpp"
#include "hw/engine/fresh_stream.hpp"
#include "hw/engine/on_device.hpp"

namespace lanecast {
namespace {

class CudaCopyEngines : public CopyEngines {
 public:
  /// Streams of the highest priority have queues of their own: those of others with waits in them don't hold
  /// up these.
  explicit CudaCopyEngines(int device) : device_(device) {
    const OnDevice on(device_);
    check(load_copy_kernels(), "load the kernels for copies");
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for stream priorities");
    for (cudaStream_t& stream : streams_) check(make_stream(&stream, highest), "make a stream");
  }
  ~CudaCopyEngines() override {
    const OnDevice on(device_);
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    if (scratch_ != nullptr) cudaFree(scratch_);
  }

  void share(int ranks) override { narrow_ = ranks > kMostWideRanks; }
  void begin() override { used_ = 0; }
  void wait(Lane lane, const KernelCall& call, const CopyWait& wait) override {
    const OnDevice on(device_);
    check(launch_copy_wait(call, wait, stream_of(lane)), "start a wait");
  }
  void copy(Lane lane, void* to, const void* from, std::size_t bytes) override {
    const OnDevice on(device_);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(lane)), "start a copy");
  }
  void post(Lane lane, std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
            const std::uint32_t* broken) override {
    const OnDevice on(device_);
    check(launch_copy_post(counter, base, relative, broken, stream_of(lane)), "start a flag");
  }
  void combine(Lane lane, Datatype type, ReduceOp op, void* to, const void* first, const void* second,
               std::uint64_t count, int finish_ranks) override {
    const OnDevice on(device_);
    check(launch_combine(type, op, to, first, second, count, finish_ranks, stream_of(lane)), "start a sum");
  }
  int mark(Lane lane) override {
    const OnDevice on(device_);
    const int event = next_event();
    check(cudaEventRecord(events_[at(event)], stream_of(lane)), "record an event");
    return event;
  }
  void follow(Lane lane, int mark) override {
    const OnDevice on(device_);
    check(cudaStreamWaitEvent(stream_of(lane), events_[at(mark)], 0), "let a stream wait");
  }
  void end(const BaseAdvance& advance, std::uint64_t* done, const std::uint64_t* epoch,
           const std::uint32_t* broken) override {
    const OnDevice on(device_);
    for (int lane = 1; lane < lanes; ++lane) follow(static_cast<Lane>(0), mark(static_cast<Lane>(lane)));
    check(launch_advance(advance, streams_[0]), "advance the counters");
    check(launch_copy_post(done, epoch, 0, broken, streams_[0]), "tell that a call is done");
  }
  void request(const CopyRequest& request, const KernelCall& call, const CopyWait& done,
               Stream stream) override {
    const OnDevice on(device_);
    check(launch_copy_request(request, call.broken, stream), "ask for copies");
    check(launch_copy_wait(call, done, stream), "wait for copies");
  }
  bool idle() override {
    const OnDevice on(device_);
    for (cudaStream_t stream : streams_) {
      if (cudaStreamQuery(stream) != cudaErrorNotReady) continue;
      cudaGetLastError();
      return false;
    }
    return true;
  }
  std::byte* scratch(std::size_t bytes) override {
    const OnDevice on(device_);
    if (bytes > scratch_bytes_) {
      if (scratch_ != nullptr) cudaFree(scratch_);
      scratch_ = nullptr;
      scratch_bytes_ = 0;
      check(cudaMalloc(&scratch_, bytes), "allocate " + std::to_string(bytes >> 20) + " MiB for copies");
      scratch_bytes_ = bytes;
    }
    return static_cast<std::byte*>(scratch_);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  void check(int code, const std::string& what) const {
    check_cuda(code, what, "copy engines of device " + std::to_string(device_));
  }
  static constexpr int kMostWideRanks = 4;

  cudaStream_t stream_of(int lane) const { return streams_[at(narrow_ ? lane / 2 * 2 : lane)]; }
  int next_event() {
    if (at(used_) == events_.size()) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "make an event");
      events_.push_back(event);
    }
    return used_++;
  }

  int device_;
  std::array<cudaStream_t, lanes> streams_{};
  std::vector<cudaEvent_t> events_;
  int used_ = 0;
  bool narrow_ = false;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CopyEngines> open_cuda_copy_engines(int device) {
  return std::make_unique<CudaCopyEngines>(device);
}

}  // namespace lanecast
