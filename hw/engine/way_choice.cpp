#include "hw/engine/way_choice.hpp"

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

// Sizes up to which a way is taken: docs/engine.md says where each comes from.
constexpr std::uint64_t kOneShot = 4 * kKiB;    // of three and more ranks: one flight instead of 2(n - 1)
constexpr std::uint64_t kPeerLl = 128 * kKiB;   // bytes that one rank sends to one peer
constexpr std::uint64_t kPeerLl128 = 2 * kMiB;  // the same
constexpr std::uint64_t kHostLl = 64 * kKiB;    // the same
constexpr std::uint64_t kHostCopyEngines = 24 * kMiB;  // from this size on

/// What two ranks do best with an all-reduce: a one-shot moves as many bytes as a ring, in one flight.
struct PairWay {
  std::uint64_t up_to;  // size of the call
  Algorithm algorithm;
  Protocol protocol;
};
constexpr std::uint64_t kAny = ~std::uint64_t{0};
constexpr PairWay kNvlinkPair[] = {{384 * kKiB, Algorithm::one_shot, Protocol::ll},
                                   {1 * kMiB, Algorithm::one_shot, Protocol::ll128},
                                   {4 * kMiB, Algorithm::ring, Protocol::ll128},
                                   {kAny, Algorithm::ring, Protocol::simple}};
constexpr PairWay kPeerPair[] = {{256 * kKiB, Algorithm::one_shot, Protocol::ll},
                                 {kAny, Algorithm::ring, Protocol::simple}};
constexpr PairWay kHostPair[] = {{64 * kKiB, Algorithm::one_shot, Protocol::ll},
                                 {128 * kKiB, Algorithm::ring, Protocol::ll},
                                 {1 * kMiB, Algorithm::one_shot, Protocol::simple},
                                 {kAny, Algorithm::ring, Protocol::simple}};

[[noreturn]] void refuse(const std::string& what, const std::string& flag, const std::string& mend) {
  throw Error(ErrorKind::usage, what, flag, mend);
}

bool is_small(const Call& call) { return call.size.value() <= kOneShot; }

const PairWay& pair_way(const Call& call, const PathSummary& paths) {
  const PairWay* way = paths.any_staged ? kHostPair : paths.all_nvlink ? kNvlinkPair : kPeerPair;
  while (call.size.value() > way->up_to) ++way;
  return *way;
}

bool may_exchange(const Call& call, const PathSummary& paths) {
  return call.collective == Collective::all_reduce && paths.exchanges;
}

Algorithm algorithm_for(const Call& call, const PathSummary& paths) {
  if (!may_exchange(call, paths)) return Algorithm::ring;
  if (paths.ranks == 2) return pair_way(call, paths).algorithm;
  return !paths.any_staged && is_small(call) ? Algorithm::one_shot : Algorithm::ring;
}

Protocol protocol_for(const Call& call, Algorithm algorithm, const PathSummary& paths) {
  std::uint64_t bytes = call.size.value();  // that one rank sends to one peer
  if (algorithm != Algorithm::one_shot) bytes /= static_cast<std::uint64_t>(paths.ranks);
  if (paths.any_staged) return bytes <= kHostLl ? Protocol::ll : Protocol::simple;
  if (bytes <= kPeerLl) return Protocol::ll;
  return paths.all_nvlink && bytes <= kPeerLl128 ? Protocol::ll128 : Protocol::simple;
}

void check_protocol(const CallChoice& choice, const PathSummary& paths) {
  if (choice.protocol != Protocol::ll128 || !paths.any_staged) return;
  refuse("LL128 through host memory would corrupt data: CPUs may split and reorder its lines of 128 B",
         "--protocol ll128", "take ll or simple, or leave the protocol to the engine");
}

void check_staging(const CallChoice& choice, const PathSummary& paths) {
  if (choice.staging != Staging::copy_engines) return;
  if (!paths.any_staged || !paths.copy_engines)
    refuse("copy engines move data only between ranks that all meet in host memory", "--staging ce",
           "take `--transport shm`, or leave the staging to the engine");
  if (choice.algorithm.value_or(Algorithm::ring) != Algorithm::ring ||
      choice.protocol.value_or(Protocol::simple) != Protocol::simple)
    refuse("copy engines run the ring with Simple only", "--staging ce", "leave algorithm and protocol open");
}

}  // namespace

CallChoice chosen_way(const Call& call, const CallChoice& fixed, const PathSummary& paths) {
  check_protocol(fixed, paths);
  check_staging(fixed, paths);
  CallChoice choice = fixed;
  if (choice.algorithm && pulls(*choice.algorithm))
    refuse("the engine's kernels store into the peer's memory and never load from it", "--algorithm",
           "take one_shot or two_shot");
  if (choice.algorithm && *choice.algorithm != Algorithm::ring && !paths.exchanges)
    refuse(std::string(to_string(*choice.algorithm)) +
               " needs connections between any two ranks, which this "
               "communicator was opened without",
           "EngineOptions::exchanges", "open it with them, or take ring");
  if (choice.staging == Staging::copy_engines) {
    choice.algorithm = Algorithm::ring;
    choice.protocol = Protocol::simple;
    return choice;
  }
  if (!choice.algorithm && !choice.protocol && paths.ranks == 2 && may_exchange(call, paths)) {
    choice.algorithm = pair_way(call, paths).algorithm;
    choice.protocol = pair_way(call, paths).protocol;
  }
  if (!choice.algorithm) choice.algorithm = algorithm_for(call, paths);
  if (*choice.algorithm == Algorithm::direct) {
    choice.algorithm = call.collective == Collective::all_reduce && is_small(call) ? Algorithm::one_shot
                                                                                   : Algorithm::two_shot;
  }
  if (!choice.protocol) choice.protocol = protocol_for(call, *choice.algorithm, paths);
  const bool fits_copies = paths.any_staged && paths.copy_engines && *choice.algorithm == Algorithm::ring &&
                           *choice.protocol == Protocol::simple;
  if (!choice.staging) {
    const bool large =
        call.size.value() >= kHostCopyEngines && !fixed.channels && !fixed.threads && !fixed.chunk;
    choice.staging = fits_copies && large && !fixed.protocol ? Staging::copy_engines : Staging::kernels;
  }
  return choice;
}

}  // namespace lanecast
