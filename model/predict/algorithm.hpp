#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/schedule/geometry.hpp"

namespace lanecast {

/// How ranks work together, as a user names it. `direct` and `hierarchical` leave the variant open; NVLS is
/// weighed by NCCL's rules only.
enum class Algorithm {
  ring,
  tree,
  direct,
  one_shot,
  two_shot,
  one_shot_pull,
  two_shot_pull,
  halving_doubling,
  hierarchical,
  hierarchical_ring,
  hierarchical_tree,
  star,
  nvls
};

const char* to_string(Algorithm a);  // "ring", "one_shot_pull", ...
std::optional<Algorithm> algorithm_from_string(const std::string& text);

/// All names, in the order of the enumeration.
std::vector<std::string> algorithm_names();

/// Those that leave nothing open and are simulated: all but the families and NVLS, in the same order.
std::vector<Algorithm> simulated_algorithms();

/// `direct` for the four direct exchanges, `hierarchical` for the two hierarchies, else the algorithm itself.
Algorithm family_of(Algorithm a);

/// Ring, Tree and NVLS: what NCCL has within a node.
bool is_of_nccl(Algorithm a);

/// What an open name stands for: the variants of a family, or the algorithm alone.
std::vector<Algorithm> variants_of(Algorithm a);

/// The schedule that the algorithm runs. A family's is its first variant's; NVLS has the ring that stands in
/// for it.
Schedule schedule_of(Algorithm a);

/// The data stay on the sender's side of each connection, and the receiver loads them.
bool pulls(Algorithm a);

/// Whether the algorithm has a form for the collective.
/// @param ranks  halving-doubling gathers only powers of two
bool has_form(Algorithm a, Collective collective, int ranks);

}  // namespace lanecast
