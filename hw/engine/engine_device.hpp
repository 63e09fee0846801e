#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hw/engine/communicator.hpp"
#include "hw/engine/kernel_call.hpp"
#include "model/units.hpp"

namespace lanecast {

class CopyEngines;

/// One rank's GPU, as far as the communicator needs it: CUDA, or a pretended one in tests. All functions act
/// on that GPU whatever the thread's current device is, and leave the thread's choice as it was.
class EngineDevice {
 public:
  virtual ~EngineDevice() = default;

  /// Everything but the rank.
  virtual RankDevice describe() const = 0;

  /// Device memory filled with zeros, that other processes can open. @throws Error  kind runtime: none is
  /// left
  virtual std::byte* allocate(Bytes size, const std::string& what) = 0;
  virtual void free(std::byte* memory) = 0;

  /// What another rank needs to open memory of ours, and opening it.
  /// @throws Error  kind runtime: the handle can't be made or opened, peer access is refused
  virtual std::string export_memory(std::byte* memory) = 0;
  virtual std::byte* open_memory(const std::string& exported) = 0;
  virtual void close_memory(std::byte* opened) = 0;

  /// Makes host memory visible to the GPU, by the address that comes back.
  virtual std::byte* map_host(std::byte* memory, Bytes size) = 0;
  virtual void unmap_host(std::byte* memory) = 0;

  /// Why this GPU can't access another's memory directly; absent: it can.
  virtual std::optional<std::string> refuses_peer(const RankDevice& peer) const = 0;
  virtual bool joined_by_nvlink(const RankDevice& peer) const = 0;

  /// Writes a word, and reads it back, through memory that a peer opened: the self-test of a path. Blocking.
  virtual void store_words(std::byte* to, std::uint64_t seed, std::size_t count) = 0;
  virtual bool words_are(const std::byte* at, std::uint64_t seed, std::size_t count) = 0;

  /// Copies to and from device memory, blocking.
  virtual void read(void* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void write(std::byte* to, const void* from, std::size_t bytes) = 0;

  /// Blocks of such a kernel that can be on the GPU at once.
  virtual int resident_blocks(Protocol protocol, Datatype type, ReduceOp op, KernelShape shape,
                              int threads) const = 0;

  /// Starts a kernel; `threads` excludes Simple's warp for flags. @throws Error  kind runtime: it can't start
  virtual void launch(const KernelCall& call, int threads, Stream stream) = 0;

  /// A copy of one rank's own data, for groups of one. Stream-ordered.
  virtual void copy(void* to, const void* from, std::size_t bytes, Stream stream) = 0;

  /// Whether all work of the stream is done. @throws Error  kind runtime: the GPU reports an error
  virtual bool done(Stream stream) = 0;
  virtual bool capturing(Stream stream) = 0;

  /// Waits until the GPU has done all that this process gave it.
  virtual void drain() = 0;

  /// Streams and kernels for one communicator's copy-engine-driven staging; null where there are none.
  virtual std::unique_ptr<CopyEngines> open_copy_engines() = 0;
};

/// A GPU by CUDA's index in this process. @throws Error  kind no_hardware: there is none of that index
std::unique_ptr<EngineDevice> open_cuda_device(int index);

}  // namespace lanecast
