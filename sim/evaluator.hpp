#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/profile/profile.hpp"
#include "model/topology/machine.hpp"
#include "sim/copies.hpp"

namespace lanecast {

/// Calls and copies whose times are asked for again and again with other parameters, by event simulation and
/// fair shares in this process. Everything that does not depend on the parameters is settled when they are
/// added; `time` may then be called from several threads at once.
class Evaluator {
 public:
  explicit Evaluator(std::uint64_t seed = 1) : seed_(seed) {}

  /// @param machine   outlives the evaluator
  /// @param resolved  by resolve_call; at least 2 ranks
  /// @return          its number
  std::size_t add_call(const Machine& machine, const ResolvedCall& resolved);

  /// Copies that run at once: the time of 1 GB at the sum of their rates.
  std::size_t add_copies(const Machine& machine, Engine engine, std::vector<CopyFlow> flows);

  /// Something that a micro-benchmark measures by itself: a parameter's time, or the time of 1 GB at its
  /// rate.
  std::size_t add_parameter(Param parameter);

  std::uint64_t seed() const { return seed_; }
  std::size_t size() const { return asked_.size(); }

  Seconds time(std::size_t number, const Profile& profile) const;

 private:
  struct Asked {
    const Machine* machine = nullptr;
    ResolvedCall resolved;
    Engine engine = Engine::copy;
    std::vector<CopyFlow> flows;  // empty: no copies
    std::optional<Param> parameter;
  };

  std::uint64_t seed_;
  std::vector<Asked> asked_;
};

}  // namespace lanecast
