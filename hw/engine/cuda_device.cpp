#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>

#include "hw/engine/cuda_check.hpp"
#include "hw/engine/cuda_copy_engines.hpp"
#include "hw/engine/engine_device.hpp"
#include "hw/engine/fresh_stream.hpp"
#include "hw/engine/on_device.hpp"
#include "hw/kernels/copy_kernels.hpp"
#include "hw/kernels/kernel_table.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

/// What another rank gets to open memory of ours.
struct ExportedMemory {
  int process = 0;
  int device = 0;  // CUDA's index in that process
  std::byte* address = nullptr;
  cudaIpcMemHandle_t handle{};
  char bus_id[32] = {};
};

/// IPC hands out whole blocks of 2 MiB: smaller allocations would show their neighbours (facts.md E1).
constexpr std::size_t kExportedBlock = std::size_t{2} << 20;

class CudaDevice : public EngineDevice {
 public:
  explicit CudaDevice(int index);
  ~CudaDevice() override;

  RankDevice describe() const override { return facts_; }
  std::byte* allocate(Bytes size, const std::string& what) override;
  void free(std::byte* memory) override;
  std::string export_memory(std::byte* memory) override;
  std::byte* open_memory(const std::string& exported) override;
  void close_memory(std::byte* opened) override;
  std::byte* map_host(std::byte* memory, Bytes size) override;
  void unmap_host(std::byte* memory) override;
  std::optional<std::string> refuses_peer(const RankDevice& peer) const override;
  bool joined_by_nvlink(const RankDevice& peer) const override;
  void store_words(std::byte* to, std::uint64_t seed, std::size_t count) override;
  bool words_are(const std::byte* at, std::uint64_t seed, std::size_t count) override;
  void read(void* to, const std::byte* from, std::size_t bytes) override;
  void write(std::byte* to, const void* from, std::size_t bytes) override;
  int resident_blocks(Protocol protocol, Datatype type, ReduceOp op, KernelShape shape,
                      int threads) const override;
  void launch(const KernelCall& call, int threads, Stream stream) override;
  void copy(void* to, const void* from, std::size_t bytes, Stream stream) override;
  bool done(Stream stream) override;
  bool capturing(Stream stream) override;
  void drain() override;
  std::unique_ptr<CopyEngines> open_copy_engines() override;

 private:
  std::string here() const { return "device " + std::to_string(index_) + " (" + facts_.bus_id + ")"; }
  std::optional<int> index_of(const std::string& bus_id) const;

  int index_;
  RankDevice facts_;
  Stream own_stream_ = nullptr;  // for what set-up does
  std::set<std::byte*> opened_;  // through IPC
};

CudaDevice::CudaDevice(int index) : index_(index) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) {
    throw Error(ErrorKind::no_hardware,
                "no GPU: " + (found == cudaSuccess ? std::string("CUDA shows none") : cuda_words(found)),
                "device " + std::to_string(index), "run this where an NVIDIA driver and a GPU are");
  }
  if (index < 0 || index >= count) {
    throw Error(ErrorKind::no_hardware,
                "there is no device " + std::to_string(index) + "; CUDA shows " + std::to_string(count),
                "device " + std::to_string(index), "take 0 to " + std::to_string(count - 1));
  }
  const OnDevice on(index_);
  char bus_id[32] = {};
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index), "ask for the PCI address", here());
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "ask for the properties", here());
  facts_.process = static_cast<int>(getpid());
  facts_.device = index;
  facts_.bus_id = bus_id;
  facts_.name = properties.name;
  facts_.sm = properties.major * 10 + properties.minor;
  facts_.multiprocessors = properties.multiProcessorCount;
  if (facts_.sm < 70) {
    throw Error(ErrorKind::no_hardware, facts_.name + " is of sm_" + std::to_string(facts_.sm), here(),
                "the engine's kernels need Volta (sm_70) or newer");
  }
  check_cuda(make_stream(&own_stream_), "make a stream", here());
}

CudaDevice::~CudaDevice() {
  const OnDevice on(index_);
  cudaStreamDestroy(own_stream_);
}

std::byte* CudaDevice::allocate(Bytes size, const std::string& what) {
  const OnDevice on(index_);
  void* memory = nullptr;
  const std::size_t bytes = round_up(size.value(), kExportedBlock);
  const cudaError_t code = cudaMalloc(&memory, bytes);
  if (code != cudaSuccess) {
    const std::string words = cuda_words(code);
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw Error(ErrorKind::runtime,
                "can't allocate " + std::to_string(bytes >> 20) + " MiB for " + what + ": " + words + "; " +
                    std::to_string(free >> 20) + " of " + std::to_string(total >> 20) + " MiB are free",
                here(), "end other programs on this GPU, or take fewer channels or smaller buffers");
  }
  check_cuda(cudaMemsetAsync(memory, 0, bytes, own_stream_), "clear " + what, here());
  check_cuda(cudaStreamSynchronize(own_stream_), "clear " + what, here());
  return static_cast<std::byte*>(memory);
}

void CudaDevice::free(std::byte* memory) {
  const OnDevice on(index_);
  if (memory != nullptr && cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

std::string CudaDevice::export_memory(std::byte* memory) {
  const OnDevice on(index_);
  ExportedMemory exported;
  exported.process = facts_.process;
  exported.device = index_;
  exported.address = memory;
  std::strncpy(exported.bus_id, facts_.bus_id.c_str(), sizeof exported.bus_id - 1);
  check_cuda(cudaIpcGetMemHandle(&exported.handle, memory), "make a memory handle for other processes",
             here(),
             "CUDA IPC works on Linux with a driver of its own, not under WSL or in some virtual GPUs; "
             "`--transport shm` does without");
  return std::string(reinterpret_cast<const char*>(&exported), sizeof exported);
}

std::byte* CudaDevice::open_memory(const std::string& text) {
  const OnDevice on(index_);
  ExportedMemory exported;
  if (text.size() != sizeof exported)
    throw Error(ErrorKind::runtime, "a memory handle of another version", here(), "");
  std::memcpy(&exported, text.data(), sizeof exported);
  if (exported.process == facts_.process) {  // a process can't open its own handle: facts.md E1
    if (exported.device != index_) {
      const cudaError_t code = cudaDeviceEnablePeerAccess(exported.device, 0);
      if (code == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        check_cuda(code, "enable peer access to device " + std::to_string(exported.device), here());
      }
    }
    return exported.address;
  }
  void* opened = nullptr;
  check_cuda(cudaIpcOpenMemHandle(&opened, exported.handle, cudaIpcMemLazyEnablePeerAccess),
             "open the memory of process " + std::to_string(exported.process) + " on " + exported.bus_id,
             here(),
             "both processes must be of one user and see both GPUs; in containers share the PID and IPC "
             "namespaces, or take `--transport shm`");
  opened_.insert(static_cast<std::byte*>(opened));
  return static_cast<std::byte*>(opened);
}

void CudaDevice::close_memory(std::byte* opened) {
  const OnDevice on(index_);
  if (opened_.erase(opened) != 0 && cudaIpcCloseMemHandle(opened) != cudaSuccess) cudaGetLastError();
}

std::byte* CudaDevice::map_host(std::byte* memory, Bytes size) {
  const OnDevice on(index_);
  check_cuda(cudaHostRegister(memory, size.value(), cudaHostRegisterMapped | cudaHostRegisterPortable),
             "pin " + std::to_string(size.value() >> 10) + " KiB of shared host memory", here(),
             "raise the limit of locked memory (ulimit -l), or take smaller buffers");
  void* seen = nullptr;
  check_cuda(cudaHostGetDevicePointer(&seen, memory, 0), "map pinned host memory", here());
  return static_cast<std::byte*>(seen);
}

void CudaDevice::unmap_host(std::byte* memory) {
  const OnDevice on(index_);
  if (cudaHostUnregister(memory) != cudaSuccess) cudaGetLastError();
}

std::optional<int> CudaDevice::index_of(const std::string& bus_id) const {
  int index = 0;
  if (cudaDeviceGetByPCIBusId(&index, bus_id.c_str()) == cudaSuccess) return index;
  cudaGetLastError();
  return std::nullopt;
}

std::optional<std::string> CudaDevice::refuses_peer(const RankDevice& peer) const {
  if (peer.bus_id == facts_.bus_id) return std::nullopt;
  const std::optional<int> other = index_of(peer.bus_id);
  if (!other) return std::nullopt;  // hidden from this process; opening its memory will tell
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, index_, *other) == cudaSuccess && can != 0) return std::nullopt;
  cudaGetLastError();
  return "CUDA refuses peer access from " + facts_.bus_id + " to " + peer.bus_id;
}

bool CudaDevice::joined_by_nvlink(const RankDevice& peer) const {
  if (peer.bus_id == facts_.bus_id) return true;  // the same memory
  const std::optional<int> other = index_of(peer.bus_id);
  if (!other) return false;
  int atomics = 0;  // native atomics come with NVLink only
  if (cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, index_, *other) !=
      cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return atomics != 0;
}

void CudaDevice::store_words(std::byte* to, std::uint64_t seed, std::size_t count) {
  const OnDevice on(index_);
  check_cuda(launch_store_words(reinterpret_cast<std::uint64_t*>(to), seed, count, own_stream_),
             "write the test pattern", here());
  check_cuda(cudaStreamSynchronize(own_stream_), "write the test pattern", here());
}

bool CudaDevice::words_are(const std::byte* at, std::uint64_t seed, std::size_t count) {
  const OnDevice on(index_);
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, sizeof(std::uint32_t)), "allocate a counter", here());
  auto* wrong = static_cast<std::uint32_t*>(memory);
  std::uint32_t found = 1;
  int code = cudaMemsetAsync(wrong, 0, sizeof *wrong, own_stream_);
  if (code == 0)
    code = launch_compare_words(reinterpret_cast<const std::uint64_t*>(at), seed, count, wrong, own_stream_);
  if (code == 0) code = cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDeviceToHost, own_stream_);
  if (code == 0) code = cudaStreamSynchronize(own_stream_);
  cudaFree(wrong);
  check_cuda(code, "compare the test pattern", here());
  return found == 0;
}

void CudaDevice::read(void* to, const std::byte* from, std::size_t bytes) {
  const OnDevice on(index_);
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own_stream_), "copy from the device",
             here());
  check_cuda(cudaStreamSynchronize(own_stream_), "copy from the device", here());
}

void CudaDevice::write(std::byte* to, const void* from, std::size_t bytes) {
  const OnDevice on(index_);
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own_stream_), "copy to the device", here());
  check_cuda(cudaStreamSynchronize(own_stream_), "copy to the device", here());
}

int block_threads(Protocol protocol, int threads) {
  return threads + (protocol == Protocol::simple ? 32 : 0);
}

int CudaDevice::resident_blocks(Protocol protocol, Datatype type, ReduceOp op, KernelShape shape,
                                int threads) const {
  const OnDevice on(index_);
  int per_multiprocessor = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor,
                                                           collective_kernel_for(protocol, type, op, shape),
                                                           block_threads(protocol, threads), 0),
             "ask how many blocks fit on the GPU", here(),
             "this build has no kernels for sm_" + std::to_string(facts_.sm) +
                 " if CUDA says so: see CMAKE_CUDA_ARCHITECTURES");
  return per_multiprocessor * facts_.multiprocessors;
}

void CudaDevice::launch(const KernelCall& call, int threads, Stream stream) {
  const OnDevice on(index_);
  const auto protocol = static_cast<Protocol>(call.protocol);
  const void* kernel = collective_kernel_for(protocol, static_cast<Datatype>(call.datatype),
                                             static_cast<ReduceOp>(call.op), call.shape);
  void* arguments[] = {const_cast<KernelCall*>(&call)};
  const int blocks = call.channels * call.strands;
  // Early, a kernel waits on the GPU for the one before it: it would take the place of another rank's
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(block_threads(protocol, threads)));
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = call.alone && facts_.sm >= 90 ? 1 : 0;
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments),
             "start a kernel of " + std::to_string(blocks) + " blocks", here());
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  const OnDevice on(index_);
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copy within the device",
             here());
}

bool CudaDevice::done(Stream stream) {
  const OnDevice on(index_);
  const cudaError_t state = cudaStreamQuery(stream);
  if (state == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check_cuda(state, "finish the stream's work", here());
  return true;
}

bool CudaDevice::capturing(Stream stream) {
  const OnDevice on(index_);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
  return status == cudaStreamCaptureStatusActive;
}

void CudaDevice::drain() {
  const OnDevice on(index_);
  if (cudaDeviceSynchronize() != cudaSuccess) cudaGetLastError();
}

std::unique_ptr<CopyEngines> CudaDevice::open_copy_engines() { return open_cuda_copy_engines(index_); }

}  // namespace

std::unique_ptr<EngineDevice> open_cuda_device(int index) { return std::make_unique<CudaDevice>(index); }

}  // namespace lanecast
