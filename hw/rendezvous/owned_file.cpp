#include <unistd.h>

#include <utility>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

OwnedFile::OwnedFile(OwnedFile&& other) noexcept : descriptor_(other.release()) {}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

int OwnedFile::release() { return std::exchange(descriptor_, -1); }

}  // namespace lanecast
