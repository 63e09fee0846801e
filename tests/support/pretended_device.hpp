#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hw/engine/engine_device.hpp"
#include "tests/support/pretended_copies.hpp"
#include "tests/support/pretended_kernel.hpp"
#include "tests/support/pretended_memory.hpp"
#include "tests/support/pretended_stream.hpp"

namespace lanecast::support {

/// What a pretended GPU is, and what is wrong with it.
struct PretendedGpu {
  int index = 0;          // GPUs of one index are the same one
  int nvlink_group = -1;  // GPUs of one group, 0 or more, are joined by NVLink
  int blocks = 264;       // that fit beside each other
  bool has_copy_engines = true;

  std::optional<Bytes> memory;    // larger allocations find none
  std::set<int> refused_peers;    // indices of GPUs to which peer access is refused
  std::set<int> corrupted_peers;  // ranks at which what it stores arrives wrong
  bool opens_handles = true;
  bool opens_small_handles_only = false;  // what the test of the paths opens, but no mailbox
  KernelMischief kernels;
};

/// A GPU that is played by threads and host memory; its kernels run the same schedules over the same layout.
class PretendedDevice : public EngineDevice {
 public:
  /// `groups` says for each GPU index its NVLink group, so that both ends know.
  explicit PretendedDevice(PretendedGpu gpu, std::vector<int> groups = {});
  ~PretendedDevice() override;

  Stream new_stream();  // lasts as long as the device
  const PretendedMemory& memory() const { return memory_; }
  std::size_t mappings() const { return mapped_.size(); }  // of host memory, not undone yet

  RankDevice describe() const override;
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
  std::string here() const;

  PretendedGpu gpu_;
  std::vector<int> groups_;
  PretendedMemory memory_;
  std::multiset<std::byte*> mapped_;
  std::vector<std::unique_ptr<PretendedStream>> streams_;
};

}  // namespace lanecast::support
