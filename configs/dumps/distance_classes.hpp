#pragma once
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/topology/machine.hpp"

namespace lanecast {

/// How many cells of a matrix put two pieces of a machine at each distance.
struct DistanceVotes {
  std::array<int, 5> count{};  // pix, pxb, phb, node, sys
  int hidden = 0;              // cells that show NVLinks instead

  void add(Distance distance);
  int near(Distance level) const;  // at `level` or nearer
  int far(Distance level) const;
};

/// Votes of pairs, the smaller number first.
using PairVotes = std::map<std::pair<int, int>, DistanceVotes>;

/// Pieces grouped by nearness. A class goes by its smallest member.
class DistanceClasses {
 public:
  explicit DistanceClasses(std::size_t pieces);

  /// Those with the same non-empty key belong together; those with different ones never.
  void set_keys(const std::vector<std::string>& keys);

  /// Joins the classes that most cells put at `level` or nearer, until none is left. From a matrix of a tree,
  /// in which distances are ultrametric, these are the classes of that tree; else the nearest ones. Of two
  /// equal halves the farther distance holds.
  /// @param movable  pieces that may be joined; empty: all
  void join(const PairVotes& votes, Distance level, const std::vector<bool>& movable = {});

  /// Joins two classes unless their keys differ.
  bool join_pair(int a, int b);

  int of(int piece) const { return class_[static_cast<std::size_t>(piece)]; }
  const std::string& key(int piece) const { return keys_[static_cast<std::size_t>(of(piece))]; }
  std::vector<int> members(int piece) const;

  /// Votes between classes instead of pieces.
  PairVotes between(const PairVotes& votes) const;

 private:
  std::vector<int> class_;
  std::vector<std::string> keys_;  // of the class, at its smallest member
};

}  // namespace lanecast
