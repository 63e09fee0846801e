#include "model/implementation/nccl/thread_rules.hpp"

#include <algorithm>

namespace lanecast {
namespace {

constexpr int kWarp = 32;
constexpr int kLeastBlock = 3 * kWarp;
constexpr int kMostOfSimpleAndLl = 512;
constexpr int kNarrowRing = 256;
constexpr BytesPerSecond kNarrowRingBus{12e9};  // Gen3 x16, as NCCL counts it

bool ring_or_tree(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::tree;
}

}  // namespace

int most_threads(const NcclRules& rules, NcclAlgorithm algorithm, Protocol protocol, BytesPerSecond ring_bus,
                 const NcclEnvironment& environment) {
  if (!ring_or_tree(algorithm)) return rules.most_threads;
  if (protocol == Protocol::ll128) return environment.ll128_threads.value_or(rules.most_threads);
  const bool narrow =
      algorithm == NcclAlgorithm::ring && protocol == Protocol::simple && ring_bus <= kNarrowRingBus;
  return environment.threads.value_or(narrow ? kNarrowRing
                                             : std::min(kMostOfSimpleAndLl, rules.most_threads));
}

Bytes thread_threshold(NcclAlgorithm algorithm, Protocol protocol, int ranks,
                       const NcclEnvironment& environment) {
  const bool ring = algorithm == NcclAlgorithm::ring;
  if (environment.thread_thresholds && ring_or_tree(algorithm)) {
    const NcclThreadThresholds& stated = *environment.thread_thresholds;
    const std::optional<Bytes>& threshold =
        (ring ? stated.ring : stated.tree)[static_cast<std::size_t>(protocol)];
    if (threshold) return *threshold;
  }
  if (protocol == Protocol::simple) return Bytes(64);
  return Bytes(ring && protocol == Protocol::ll ? 8 * static_cast<std::uint64_t>(ranks) : 8);
}

NcclBlocks nccl_blocks(const NcclRules& rules, NcclAlgorithm algorithm, Protocol protocol, Bytes size,
                       int ranks, int channels, BytesPerSecond ring_bus, const NcclEnvironment& environment) {
  NcclBlocks blocks;
  blocks.channels = channels;
  blocks.threads = most_threads(rules, algorithm, protocol, ring_bus, environment);
  if (!ring_or_tree(algorithm)) return blocks;
  const std::uint64_t threshold = thread_threshold(algorithm, protocol, ranks, environment).value();
  const auto too_many = [&] {
    const auto threads =
        static_cast<std::uint64_t>(blocks.channels) * static_cast<std::uint64_t>(blocks.threads);
    return size.value() < threads * threshold;
  };
  while (blocks.channels > 1 && too_many()) --blocks.channels;
  while (blocks.threads % 128 == 0 && too_many()) blocks.threads /= 2;
  const bool tree = algorithm == NcclAlgorithm::tree;
  if (protocol == Protocol::simple) blocks.sync_threads = tree ? 4 * kWarp : kWarp;
  const int least = tree ? rules.most_threads : kLeastBlock;
  blocks.threads = std::max(blocks.threads, least - blocks.sync_threads);
  return blocks;
}

int strand_threads(Protocol protocol, int threads, int strand, int strands) {
  if (strands == 1) return threads;
  int up = threads * 7 / (10 * kWarp) * kWarp;
  if (protocol == Protocol::simple) {
    up = threads / 2;
    if (up >= 256) up += 64;
  }
  up = std::max(up, std::min(kWarp, threads / 2));
  return strand == 0 ? up : threads - up;
}

}  // namespace lanecast
