#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// A folder that looks like the root of a Linux system, removed at the end.
class FakeSystem {
 public:
  FakeSystem();
  ~FakeSystem();
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  const std::filesystem::path& root() const { return root_; }

  /// Writes a file with its folders. @param path  absolute, as on the system
  void write(const std::string& path, const std::string& text) const;

  /// Makes a relative link, as sysfs does; its target need not exist yet.
  void link(const std::string& path, const std::string& target) const;

  void folder(const std::string& path) const;
  void remove(const std::string& path) const;

  /// A PCI function: its folder below those of the bridges above it, and the link among the bus's devices.
  ///
  /// @param above  folders from the root bus down: "pci0000:00/0000:00:01.0"
  /// @return       its folder, "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
  std::string function(const std::string& above, const std::string& address, const std::string& class_code,
                       const std::string& vendor) const;

 private:
  std::filesystem::path root_;
};

/// Bytes of a configuration space.
class FakeConfig {
 public:
  explicit FakeConfig(std::size_t size) : bytes_(size, '\0') {}
  FakeConfig& word(std::size_t at, unsigned value);
  FakeConfig& dword(std::size_t at, std::uint32_t value);
  /// A PCI Express capability at 0x40, found from the header. @param port  the four bits of its type
  FakeConfig& express(unsigned port);
  const std::string& bytes() const { return bytes_; }

 private:
  FakeConfig& put(std::size_t at, std::uint32_t value, int count);
  std::string bytes_;
};

/// An invented server: NUMA nodes, root ports, switches, GPUs, adapters, other functions, with files missing
/// and values unknown here and there, decided by the seed.
void write_random_system(unsigned seed, const FakeSystem& system);

/// All values among the facts, one a line, sorted, without the places that state them.
std::string values_of(const MachineFacts& facts);

}  // namespace lanecast
