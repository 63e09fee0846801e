#pragma once
#include <cstddef>
#include <string>

namespace lanecast {

/// Throws Error (kind usage) whose place is the line with a caret below byte `at`:
///
///     error: there is no part `swi`
///       at 2x(swi:4xgpu)
///            ^
///
/// Of a long line it shows the surroundings; control characters become `\xNN`.
[[noreturn]] void fail_at(const std::string& line, std::size_t at, const std::string& what,
                          const std::string& mend);

}  // namespace lanecast
