#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lanecast {

/// Runs `task(i)` for i in 0 .. count-1, each in a child process of its own, at most `jobs` at a time, and
/// returns what each gave, in order.
///
/// A child's result travels over a pipe as bytes. What a task throws as `Error` is thrown here again with its
/// kind; of several, that of the lowest number. A child that aborts, is killed or gives nothing becomes an
/// Error of kind runtime with what it last wrote to its standard error. The others end first, so that no
/// child is left.
/// @param jobs  0: one a core
std::vector<std::string> run_isolated(std::size_t count, int jobs,
                                      const std::function<std::string(std::size_t)>& task);

}  // namespace lanecast
