#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "model/units.hpp"

namespace lanecast {

/// Keeps the GPUs that CUDA shows busy with copies to host memory, so that their links run at full rate while
/// others read them: an idle GPU slows its link down (facts.md digest 10).
///
/// One thread a GPU, from the constructor to the destructor. Nothing waits without bound: a thread ends by
/// itself after kLongest, or where a copy does not finish; one that the driver never returns to is left
/// behind.
class AwakeGpus {
 public:
  static constexpr Seconds kLongest{30.0};

  AwakeGpus();
  ~AwakeGpus();
  AwakeGpus(const AwakeGpus&) = delete;
  AwakeGpus& operator=(const AwakeGpus&) = delete;

  /// Waits until all GPUs have copied for a quarter of a second, since a link takes some time to speed up, or
  /// cannot, or `most` has passed.
  void wait_until_busy(Seconds most) const;

  /// By CUDA's index: whether the GPU is copying now.
  std::vector<bool> busy() const;

 private:
  struct Worker;
  std::vector<std::shared_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace lanecast
