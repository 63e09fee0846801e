#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast::support {

/// Device memory of a pretended GPU: files without a name, which other processes of this user open through
/// the owner's entry in /proc. Within one process everyone uses the owner's address.
class PretendedMemory {
 public:
  ~PretendedMemory();
  PretendedMemory() = default;
  PretendedMemory(const PretendedMemory&) = delete;
  PretendedMemory& operator=(const PretendedMemory&) = delete;

  /// Zeros, whose pages come with the first touch.
  std::byte* allocate(std::size_t bytes);
  void free(std::byte* memory);
  std::string export_block(std::byte* memory) const;

  /// @throws Error  kind runtime: the owner is gone
  std::byte* open(const std::string& exported);
  void close(std::byte* opened);

  /// Blocks that were allocated and not freed, and opened and not closed: none at the end.
  std::size_t blocks() const;
  std::size_t openings() const;

 private:
  struct Block {
    OwnedFile file;
    std::size_t bytes = 0;
  };
  mutable std::mutex mutex_;  // of all below
  std::map<std::byte*, Block> blocks_;
  std::multimap<std::byte*, std::size_t> opened_;  // bytes of a mapping; 0: the owner's own
};

}  // namespace lanecast::support
