#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/implementation/nccl/path_type.hpp"
#include "model/implementation/nccl/version_rules.hpp"
#include "model/predict/prediction.hpp"
#include "model/protocol/protocol.hpp"
#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

/// One setting as a user gives it: name, value, and where it came from ("--nccl-env", "run.log:17").
struct NcclSetting {
  std::string name;
  std::string value;  // empty: as if the variable were not set
  std::string origin;
};

/// What NCCL_ALGO or NCCL_PROTO leaves to each collective.
template <class Choice>
struct NcclChoices {
  /// Collectives that the variable speaks of. The others are left to NCCL's own rules.
  std::map<Collective, std::vector<Choice>> stated;

  bool states(Collective collective) const { return stated.count(collective) != 0; }

  /// Whether the user leaves it; that NCCL can do it at all is another question.
  bool allows(Collective collective, Choice choice) const {
    return !states(collective) || forces(collective, choice);
  }

  /// Stated and allowed: it then overrides NCCL's rule. `^Simple` forces LL128 on any path, as NCCL does.
  bool forces(Collective collective, Choice choice) const {
    const auto found = stated.find(collective);
    return found != stated.end() &&
           std::find(found->second.begin(), found->second.end(), choice) != found->second.end();
  }
};

/// NCCL_THREAD_THRESHOLDS: bytes for each thread of each channel, below which NCCL takes fewer of them.
/// Index: static_cast<std::size_t>(Protocol). Absent: NCCL's default (facts.md A5).
struct NcclThreadThresholds {
  std::array<std::optional<Bytes>, 3> tree;
  std::array<std::optional<Bytes>, 3> ring;
};

/// NCCL's environment variables that change what it decides on one node. Absent: NCCL's own default.
///
/// Values are what NCCL makes of the text: clamped, rounded, and left out where it ignores them.
/// Source: NVIDIA/nccl src/misc/param.cc, graph/tuning.cc, graph/paths.cc, graph/connect.cc, init.cc,
/// transport/shm.cc (2.18 to 2.30) and its user guide.
struct NcclEnvironment {
  std::vector<NcclSetting> settings;  // as given, later ones win

  NcclChoices<NcclAlgorithm> algorithms;  // NCCL_ALGO; before 2.24 ring stays where nothing else is left
  NcclChoices<Protocol> protocols;        // NCCL_PROTO

  /// NCCL_MIN_NCHANNELS (else MIN_NRINGS) and NCCL_MIN_CTAS, the larger; 1 to 64 (32 before 2.25).
  /// NCCL cuts the channels to the maximum first and then repeats them up to the minimum, which may be
  /// larger.
  std::optional<int> min_channels;
  std::optional<int> max_channels;   // NCCL_MAX_NCHANNELS (else MAX_NRINGS) and NCCL_MAX_CTAS, the smaller
  std::optional<int> threads;        // NCCL_NTHREADS: most threads of Simple and LL, 64 to 512, whole warps
  std::optional<int> ll128_threads;  // NCCL_LL128_NTHREADS: most threads of LL128, 160 to 640, whole warps
  std::optional<NcclThreadThresholds> thread_thresholds;

  std::optional<Bytes> buffsize;        // NCCL_BUFFSIZE: Simple's buffer of one connection
  std::optional<Bytes> ll_buffsize;     // NCCL_LL_BUFFSIZE: wire bytes, flags included
  std::optional<Bytes> ll128_buffsize;  // NCCL_LL128_BUFFSIZE: wire bytes, flags included

  /// NCCL_P2P_LEVEL: farthest path with peer access; LOC (none at all) where NCCL_P2P_DISABLE is 1.
  std::optional<PathType> p2p_level;
  std::optional<int> ignore_disabled_p2p;   // 1: use peer access that NVML calls disabled; 2: don't ask NVML
  std::optional<bool> p2p_read_enable;      // pull from the peer instead of pushing
  std::optional<bool> p2p_use_cuda_memcpy;  // Simple through copy engines
  std::optional<bool> p2p_direct_disable;   // no access to the peer's user buffers within a process

  std::optional<bool> shm_disable;          // host memory is out: the network carries what peer access can't
  std::optional<int> shm_locality;          // FIFO in host memory of 1 the sender, 2 the receiver (default)
  std::optional<bool> shm_use_cuda_memcpy;  // copy engines for host memory (to 2.29)
  std::optional<int> shm_memcpy_mode;       // which side copies then: 1 sender (default), 2 receiver, 3 both

  std::optional<bool> graph_register;     // registers user buffers of captured calls; default on
  std::optional<bool> local_register;     // obeys ncclCommRegister; default on
  std::optional<int> nvls_enable;         // 0 off, 1 on, 2 on where supported (default)
  std::optional<bool> nvb_disable;        // no NVLink path through another GPU
  std::optional<int> cross_nic;           // 0 never, 1 always, 2 where it is faster (default)
  std::optional<bool> cumem_enable;       // CUDA's VMM functions for device memory; default: where supported
  std::optional<bool> cumem_host_enable;  // the same for host memory; default: from 2.24 where supported
};

/// Finds the candidate nearest to a mistyped word; "" where none is near.
using NearestWord =
    std::function<std::string(const std::string& word, const std::vector<std::string>& candidates)>;

/// Reads settings as a release would. Later ones of the same name win; an empty value unsets.
///
/// @param warnings  gains LC-ENV-01 (changes what NCCL does, but is not modelled) and LC-ENV-02 (NCCL ignores
///                  or changes the value). A variable that is unknown here is LC-ENV-01 where a log names it.
/// @param nearest   offers "did you mean"; may be empty
/// @throws Error    kind usage, with all problems of all settings: a variable that is unknown here and was
///                  typed (its origin begins with `-`), and values that NCCL refuses or surely misreads
NcclEnvironment read_nccl_environment(const std::vector<NcclSetting>& settings, const NcclVersion& version,
                                      std::vector<Warning>& warnings, const NearestWord& nearest = {});

}  // namespace lanecast
