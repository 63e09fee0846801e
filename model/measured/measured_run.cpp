#include "model/measured/measured_run.hpp"

#include <algorithm>
#include <cassert>

namespace lanecast {

TimeSpread spread_of(std::vector<Seconds> samples) {
  assert(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  const std::size_t middle = count / 2;
  const std::size_t rank = (99 * count + 99) / 100;  // ceil(0.99 count), from one
  TimeSpread spread;
  spread.median =
      count % 2 == 1 ? samples[middle] : Seconds((samples[middle - 1].value() + samples[middle].value()) / 2);
  spread.min = samples.front();
  spread.p99 = samples[rank - 1];
  return spread;
}

std::vector<Seconds> slowest_of(const std::vector<std::vector<Seconds>>& by_rank) {
  std::vector<Seconds> slowest;
  for (const std::vector<Seconds>& samples : by_rank) {
    if (slowest.empty()) slowest = samples;
    assert(samples.size() == slowest.size());
    for (std::size_t i = 0; i < samples.size(); ++i) slowest[i] = std::max(slowest[i], samples[i]);
  }
  return slowest;
}

std::uint64_t counted_elements(const Call& call, int ranks) {
  const std::uint64_t elements = call.size.value() / static_cast<std::uint64_t>(element_bytes(call.datatype));
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  return blocks && ranks > 0 ? elements / static_cast<std::uint64_t>(ranks) : elements;
}

}  // namespace lanecast
