#pragma once
#include <cstddef>
#include <functional>

namespace lanecast {

/// Calls `task(i)` for i in 0 .. count-1 on `threads` threads (0: one a core), each i once. What a task
/// throws is thrown here again, once all have ended.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& task);

}  // namespace lanecast
