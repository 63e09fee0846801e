#pragma once
#include <optional>
#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// A stream socket that listens at `path`, mode 0600; what lay there is removed.
/// @throws Error  kind runtime
OwnedFile listen_at(const std::string& path);

/// One that connects to `path`; absent: nobody listens there now.
/// @throws Error  kind runtime: any other problem
std::optional<OwnedFile> connect_to(const std::string& path);

/// The next that connected; absent: none is waiting.
std::optional<OwnedFile> accept_from(int listener);

}  // namespace lanecast
