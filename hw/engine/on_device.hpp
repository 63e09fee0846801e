#pragma once
#include <cuda_runtime_api.h>

namespace lanecast {

/// Makes a device the thread's current one, and the old one again at the end.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    changed_ = before_ != device;
    if (changed_) cudaSetDevice(device);
  }
  ~OnDevice() {
    if (changed_) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace lanecast
