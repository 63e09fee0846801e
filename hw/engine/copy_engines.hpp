#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/engine/communicator.hpp"
#include "hw/engine/kernel_call.hpp"
#include "hw/kernels/copy_kernels.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// Streams of one GPU for copies through host memory, and the small kernels between them. Operations of a
/// lane follow one another; lanes follow each other only by marks.
///
/// @throws Error  kind runtime, from all functions: CUDA's errors
class CopyEngines {
 public:
  enum Lane { in_even, in_odd, out_even, out_odd, lanes };

  virtual ~CopyEngines() = default;

  /// How many ranks of this process use this GPU. Streams of one process share a few queues (32 at most), in
  /// which a wait holds up what stands behind it: where ranks are many, each has two streams instead of four.
  virtual void share(int ranks) = 0;

  /// Before a call's first operation; all lanes are empty.
  virtual void begin() = 0;
  virtual void wait(Lane lane, const KernelCall& call, const CopyWait& wait) = 0;
  virtual void copy(Lane lane, void* to, const void* from, std::size_t bytes) = 0;
  /// *counter = *base + relative, where all that the lane did before is done.
  virtual void post(Lane lane, std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
                    const std::uint32_t* broken) = 0;
  virtual void combine(Lane lane, Datatype type, ReduceOp op, void* to, const void* first, const void* second,
                       std::uint64_t count, int finish_ranks) = 0;
  /// A point in a lane, for `follow`; good until the next `begin`.
  virtual int mark(Lane lane) = 0;
  virtual void follow(Lane lane, int mark) = 0;
  /// Behind all lanes: advances the counters, then *done = *epoch.
  virtual void end(const BaseAdvance& advance, std::uint64_t* done, const std::uint64_t* epoch,
                   const std::uint32_t* broken) = 0;

  /// In a stream of the caller: asks the proxy for a job, and waits until it is done.
  virtual void request(const CopyRequest& request, const KernelCall& call, const CopyWait& done,
                       Stream stream) = 0;

  /// Whether all lanes have done what they were given.
  virtual bool idle() = 0;

  /// Device memory for what came in, kept from call to call.
  virtual std::byte* scratch(std::size_t bytes) = 0;
};

}  // namespace lanecast
