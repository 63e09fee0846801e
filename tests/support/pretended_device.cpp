#include "tests/support/pretended_device.hpp"

#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "model/error.hpp"

namespace lanecast::support {
namespace {

constexpr std::size_t kSmallHandle = std::size_t{1} << 17;

std::string bus_id_of(int index) { return "0000:" + std::to_string(10 + index) + ":00.0"; }

std::uint64_t word_of(std::uint64_t seed, std::size_t index) {
  return (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xc2b2ae3d27d4eb4fu;
}

}  // namespace

PretendedDevice::PretendedDevice(PretendedGpu gpu, std::vector<int> groups)
    : gpu_(std::move(gpu)), groups_(std::move(groups)) {}

PretendedDevice::~PretendedDevice() { streams_.clear(); }

Stream PretendedDevice::new_stream() {
  streams_.push_back(std::make_unique<PretendedStream>());
  return streams_.back()->handle();
}

std::string PretendedDevice::here() const {
  return "device " + std::to_string(gpu_.index) + " (" + bus_id_of(gpu_.index) + ")";
}

RankDevice PretendedDevice::describe() const {
  RankDevice facts;
  facts.process = static_cast<int>(getpid());
  facts.device = gpu_.index;
  facts.bus_id = bus_id_of(gpu_.index);
  facts.name = "Pretended GPU";
  facts.sm = 90;
  facts.multiprocessors = 132;
  return facts;
}

std::byte* PretendedDevice::allocate(Bytes size, const std::string& what) {
  if (gpu_.memory && size > *gpu_.memory)
    throw Error(ErrorKind::runtime, "can't allocate " + std::to_string(size.value()) + " B for " + what,
                here(), "end other programs on this GPU");
  return memory_.allocate(size.value());
}
void PretendedDevice::free(std::byte* memory) {
  if (memory != nullptr) memory_.free(memory);
}

std::string PretendedDevice::export_memory(std::byte* memory) { return memory_.export_block(memory); }

std::byte* PretendedDevice::open_memory(const std::string& exported) {
  const bool small = std::stoull(exported.substr(exported.find(' ', exported.find(' ') + 1))) <= kSmallHandle;
  if (!gpu_.opens_handles || (gpu_.opens_small_handles_only && !small))
    throw Error(ErrorKind::runtime, "can't open a memory handle", here(), "take host memory");
  return memory_.open(exported);
}
void PretendedDevice::close_memory(std::byte* opened) { memory_.close(opened); }

std::byte* PretendedDevice::map_host(std::byte* memory, Bytes) {
  mapped_.insert(memory);
  return memory;
}
void PretendedDevice::unmap_host(std::byte* memory) {
  const auto found = mapped_.find(memory);
  if (found == mapped_.end()) throw std::logic_error("unmapped what was not mapped");
  mapped_.erase(found);
}

std::optional<std::string> PretendedDevice::refuses_peer(const RankDevice& peer) const {
  if (gpu_.refused_peers.count(peer.device) == 0) return std::nullopt;
  return "the driver refuses peer access from " + bus_id_of(gpu_.index) + " to " + peer.bus_id;
}
bool PretendedDevice::joined_by_nvlink(const RankDevice& peer) const {
  const auto index = static_cast<std::size_t>(peer.device);
  return gpu_.nvlink_group >= 0 && index < groups_.size() && groups_[index] == gpu_.nvlink_group;
}

/// The seed of the paths' test is sender and receiver (engine_paths.cpp).
void PretendedDevice::store_words(std::byte* to, std::uint64_t seed, std::size_t count) {
  auto* words = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < count; ++i) words[i] = word_of(seed, i);
  if (gpu_.corrupted_peers.count(static_cast<int>(seed & 0xffffffffu)) != 0) words[count / 2] ^= 1;
}
bool PretendedDevice::words_are(const std::byte* at, std::uint64_t seed, std::size_t count) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(at);
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i] != word_of(seed, i)) return false;
  }
  return true;
}

void PretendedDevice::read(void* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
void PretendedDevice::write(std::byte* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

int PretendedDevice::resident_blocks(Protocol, Datatype, ReduceOp, KernelShape, int) const {
  return gpu_.blocks;
}

void PretendedDevice::launch(const KernelCall& call, int, Stream stream) {
  PretendedStream::of(stream).submit([call, mischief = gpu_.kernels] {
    std::this_thread::sleep_for(mischief.starts);
    std::vector<std::thread> blocks;
    for (int block = 1; block < call.channels * call.strands; ++block)
      blocks.emplace_back([&call, &mischief, block] { run_pretended_block(call, block, mischief); });
    run_pretended_block(call, 0, mischief);
    for (std::thread& each : blocks) each.join();
  });
}

void PretendedDevice::copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  PretendedStream::of(stream).submit([=] { std::memcpy(to, from, bytes); });
}

bool PretendedDevice::done(Stream stream) { return PretendedStream::of(stream).idle(); }
bool PretendedDevice::capturing(Stream) { return false; }

void PretendedDevice::drain() {
  for (const std::unique_ptr<PretendedStream>& stream : streams_) stream->drain();
}

std::unique_ptr<CopyEngines> PretendedDevice::open_copy_engines() {
  return gpu_.has_copy_engines ? pretended_copies() : nullptr;
}

}  // namespace lanecast::support
