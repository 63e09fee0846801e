#include "cli/config_digest.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include "configs/machine_writer.hpp"

namespace lanecast {

std::string bytes_digest(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

std::string config_digest(const Machine& machine) { return bytes_digest(write_machine(machine)); }

}  // namespace lanecast
