#pragma once
#include <cstddef>
#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// Memory that several processes map. It has no name: nothing is left of it when they end, however they end.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  /// New memory, all zero, whose pages are there.
  /// @param purpose  for the error: "the status page"
  /// @throws Error   kind runtime: no memory
  static SharedMemory create(std::size_t bytes, const std::string& purpose);

  /// Memory that another rank made, through the descriptor that it passed.
  /// @throws Error  kind runtime: the file is smaller than `bytes`, or cannot be mapped
  static SharedMemory open(OwnedFile file, std::size_t bytes, const std::string& purpose);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return file_.descriptor(); }  // to pass on; -1 after close_file

  /// The mapping stays.
  void close_file() { file_ = OwnedFile(); }
  /// Hands the mapping over: `unmap` is then the caller's to call.
  void* release();
  static void unmap(void* data, std::size_t bytes);

 private:
  OwnedFile file_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lanecast
