#include "tests/support/pretended_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "model/error.hpp"

namespace lanecast::support {
namespace {

std::byte* mapped(int descriptor, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) throw std::runtime_error(std::string("no mapping: ") + std::strerror(errno));
  return static_cast<std::byte*>(data);
}

}  // namespace

PretendedMemory::~PretendedMemory() {
  for (const auto& [address, block] : blocks_) munmap(address, block.bytes);
  for (const auto& [address, bytes] : opened_) {
    if (bytes != 0) munmap(address, bytes);
  }
}

std::byte* PretendedMemory::allocate(std::size_t bytes) {
  Block block{OwnedFile(memfd_create("pretended", MFD_CLOEXEC)), bytes};
  if (ftruncate(block.file.descriptor(), static_cast<off_t>(bytes)) != 0)
    throw std::runtime_error(std::string("no memory: ") + std::strerror(errno));
  std::byte* memory = mapped(block.file.descriptor(), bytes);
  const std::scoped_lock lock(mutex_);
  blocks_.emplace(memory, std::move(block));
  return memory;
}

void PretendedMemory::free(std::byte* memory) {
  const std::scoped_lock lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end()) throw std::logic_error("freed what was not allocated");
  munmap(memory, found->second.bytes);
  blocks_.erase(found);
}

std::string PretendedMemory::export_block(std::byte* memory) const {
  const std::scoped_lock lock(mutex_);
  const Block& block = blocks_.at(memory);
  std::ostringstream text;
  text << getpid() << ' ' << block.file.descriptor() << ' ' << block.bytes << ' '
       << reinterpret_cast<std::uintptr_t>(memory);
  return text.str();
}

std::byte* PretendedMemory::open(const std::string& exported) {
  std::istringstream text(exported);
  pid_t process = 0;
  int descriptor = -1;
  std::size_t bytes = 0;
  std::uintptr_t address = 0;
  text >> process >> descriptor >> bytes >> address;
  if (!text) throw Error(ErrorKind::runtime, "no memory handle", "`" + exported + "`", "export one");
  auto* memory = reinterpret_cast<std::byte*>(address);
  if (process != getpid()) {
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    const OwnedFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.descriptor() < 0)
      throw Error(ErrorKind::runtime, "can't open a memory handle", path, "see whether its process runs");
    memory = mapped(file.descriptor(), bytes);
  }
  const std::scoped_lock lock(mutex_);
  opened_.emplace(memory, process == getpid() ? 0 : bytes);
  return memory;
}

void PretendedMemory::close(std::byte* opened) {
  const std::scoped_lock lock(mutex_);
  const auto found = opened_.find(opened);
  if (found == opened_.end()) throw std::logic_error("closed what was not opened");
  if (found->second != 0) munmap(opened, found->second);
  opened_.erase(found);
}

std::size_t PretendedMemory::blocks() const {
  const std::scoped_lock lock(mutex_);
  return blocks_.size();
}

std::size_t PretendedMemory::openings() const {
  const std::scoped_lock lock(mutex_);
  return opened_.size();
}

}  // namespace lanecast::support
