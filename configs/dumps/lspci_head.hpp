#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanecast {

/// The first line of a function: `01:00.0 3D controller [0302]: NVIDIA Corporation ... [10de:2bb5] (rev a1)`.
struct LspciHead {
  std::string address;
  std::optional<std::uint32_t> class_code;  // nothing: a class that only newer databases name
  std::string_view name;                    // within the line; without revision and programming interface
  bool all_ones = false;                    // "(rev ff)": what reads of an absent function return
};

/// @param line  without the blanks around it
std::optional<LspciHead> read_lspci_head(std::string_view line);

/// The function that a prompt's `lspci -vvv -s 01:00.0` asks for, "" for none: what `grep` leaves of the
/// answer may lack its first line.
std::string asked_function(std::string_view prompt);

}  // namespace lanecast
