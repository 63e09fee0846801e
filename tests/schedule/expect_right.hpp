#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "tests/support/collective_case.hpp"

namespace lanecast::support {

inline constexpr std::array all_collectives = {Collective::all_reduce, Collective::reduce_scatter,
                                               Collective::all_gather, Collective::broadcast,
                                               Collective::reduce};
inline constexpr std::array all_protocols = {Protocol::simple, Protocol::ll, Protocol::ll128};

/// Runs the case on threads; every rank must hold what it should.
inline void expect_right(const CollectiveCase& test_case) {
  const ThreadCall call = make_call(test_case);
  EXPECT_EQ(mismatch(call, run_on_threads(call)), "") << describe(test_case);
}

/// The i-th of some values, around and around: a walk through combinations that does not take them all.
template <class Container>
auto pick(const Container& values, std::uint64_t i) {
  return values[i % values.size()];
}

}  // namespace lanecast::support
