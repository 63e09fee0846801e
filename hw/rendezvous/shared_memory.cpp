#include "hw/rendezvous/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "model/error.hpp"

namespace lanecast {
namespace {

Error memory_error(const std::string& problem, std::size_t bytes, const std::string& purpose) {
  return Error(ErrorKind::runtime, "no shared memory for " + purpose + ": " + problem,
               std::to_string(bytes) + " B of memory shared by ranks",
               "free memory, or raise the limits on memory and open files (ulimit, the container's limits)");
}

void* mapped(int descriptor, std::size_t bytes, const std::string& purpose) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) throw memory_error(std::strerror(errno), bytes, purpose);
  return data;
}

}  // namespace

SharedMemory::~SharedMemory() { unmap(data_, bytes_); }

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory SharedMemory::create(std::size_t bytes, const std::string& purpose) {
  SharedMemory memory;
  memory.file_ = OwnedFile(memfd_create("lanecast", MFD_CLOEXEC));
  if (memory.descriptor() < 0) throw memory_error(std::strerror(errno), bytes, purpose);
  // Pages that are only promised would end the process with SIGBUS at the first touch.
  int problem = EINTR;
  for (int tries = 0; problem == EINTR && tries < 100; ++tries) {
    problem = posix_fallocate(memory.descriptor(), 0, static_cast<off_t>(bytes));
  }
  if (problem != 0) throw memory_error(std::strerror(problem), bytes, purpose);
  memory.data_ = mapped(memory.descriptor(), bytes, purpose);
  memory.bytes_ = bytes;
  return memory;
}

SharedMemory SharedMemory::open(OwnedFile file, std::size_t bytes, const std::string& purpose) {
  struct stat facts {};
  if (fstat(file.descriptor(), &facts) != 0) throw memory_error(std::strerror(errno), bytes, purpose);
  if (static_cast<std::size_t>(facts.st_size) < bytes) {
    throw memory_error("the other rank's has " + std::to_string(facts.st_size) + " B", bytes, purpose);
  }
  SharedMemory memory;
  memory.data_ = mapped(file.descriptor(), bytes, purpose);
  memory.bytes_ = bytes;
  memory.file_ = std::move(file);
  return memory;
}

void* SharedMemory::release() {
  bytes_ = 0;
  return std::exchange(data_, nullptr);
}

void SharedMemory::unmap(void* data, std::size_t bytes) {
  if (data != nullptr) munmap(data, bytes);
}

}  // namespace lanecast
