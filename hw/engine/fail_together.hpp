#pragma once
#include <functional>
#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// Runs one step of a set-up on every rank, and tells all ranks how it went: they go on together or fail
/// together, so that nobody waits for one that gave up.
///
/// @param what  the step, for messages: "open the mailboxes"
/// @throws Error  on every rank what any of them threw; of kind usage or no_hardware where all were, else
/// runtime
void together(Exchange& exchange, const std::string& what, const std::function<void()>& step);

}  // namespace lanecast
