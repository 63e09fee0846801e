#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/situation.hpp"

namespace lanecast {

/// One what-if as typed: a name and what it sets, in order.
struct TypedCase {
  std::string name;
  std::vector<std::string> sets;  // PATH=VALUE
};

/// From "NAME:PATH=VALUE[,PATH=VALUE]". A piece between commas that is no PATH=VALUE belongs to the value
/// before it: `call.ranks=0,4,1,5` is one.
/// @throws Error  kind usage: no name, nothing set
TypedCase read_case(const std::string& text);

/// The flags with these values set: `call.KEY` is the flag `--KEY`, `env.NAME` a variable of NCCL,
/// `profile.NAME` a parameter, all else a path into the machine. What comes later wins.
/// @throws Error  kind usage: no such flag of the call
SituationOptions with_sets(SituationOptions options, const std::vector<std::string>& sets);

/// "call.protocol", "ll"
std::pair<std::string, std::string> path_and_value(const std::string& set);

}  // namespace lanecast
