#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/engine/kernel_call.hpp"
#include "model/predict/call.hpp"

struct CUstream_st;

namespace lanecast {

/// The small kernels between the copies of copy-engine-driven staging. Steps are relative to `base`, a
/// counter in device memory, so that a captured graph can be replayed. All return CUDA's error code, 0 is
/// success.

/// Loads all of them into the current device. CUDA loads a kernel when it is first started, and may wait for
/// running ones then: those that wait for others would never end.
int load_copy_kernels();

/// Where a wait looks and what it reports.
struct CopyWait {
  const std::uint64_t* counter = nullptr;  // in mapped host memory
  const std::uint64_t* base = nullptr;
  std::uint64_t relative = 0;  // waits until *counter >= *base + relative
  std::uint32_t what = 0;      // KernelFault::What
  int peer = 0;
  int channel = 0;
  int step = 0;
  std::uint64_t loop = 0;
  int slice = 0;
};

int launch_copy_wait(const KernelCall& call, const CopyWait& wait, CUstream_st* stream);

/// What a stream asks of the proxy: the next job is `job`.
struct CopyRequest {
  std::uint64_t* epoch = nullptr;  // device memory: requests so far
  std::uint64_t* word = nullptr;   // mapped host memory: epoch in the upper half, job in the lower
  std::uint32_t job = 0;
};
int launch_copy_request(const CopyRequest& request, const std::uint32_t* broken, CUstream_st* stream);

/// *counter = *base + relative, unless the call was given up.
int launch_copy_post(std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                     const std::uint32_t* broken, CUstream_st* stream);

/// bases[i] += by[i] for each connection, at the end of a call.
struct BaseAdvance {
  std::uint64_t* bases = nullptr;
  std::uint32_t by[2 * kMostEngineChannels] = {};
  int count = 0;
};
int launch_advance(const BaseAdvance& advance, CUstream_st* stream);

/// to[i] = first[i] (op) second[i], and finished (avg divides by `ranks`, if it is not 0).
/// Pointers need the alignment of the element only.
int launch_combine(Datatype type, ReduceOp op, void* to, const void* first, const void* second,
                   std::uint64_t count, int finish_ranks, CUstream_st* stream);

/// A kernel that does nothing.
int launch_nothing(CUstream_st* stream);

/// Writes a pattern of words, and compares it: the self-test of a path.
int launch_store_words(std::uint64_t* to, std::uint64_t seed, std::size_t count, CUstream_st* stream);
/// *wrong counts the words that differ.
int launch_compare_words(const std::uint64_t* at, std::uint64_t seed, std::size_t count, std::uint32_t* wrong,
                         CUstream_st* stream);

}  // namespace lanecast
