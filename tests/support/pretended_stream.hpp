#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "hw/engine/communicator.hpp"

namespace lanecast::support {

/// What is done in order, by a thread of its own: a stream of a pretended GPU.
class PretendedStream {
 public:
  PretendedStream();
  ~PretendedStream();  // does what is left
  PretendedStream(const PretendedStream&) = delete;
  PretendedStream& operator=(const PretendedStream&) = delete;

  using Work = std::function<void()>;  // ends by itself, throws nothing
  void submit(Work work);
  bool idle() const;
  void drain();

  /// What the communicator takes for a stream of CUDA's, and back.
  Stream handle() { return reinterpret_cast<Stream>(this); }
  static PretendedStream& of(Stream handle) { return *reinterpret_cast<PretendedStream*>(handle); }

 private:
  void run();

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Work> queue_;
  std::uint64_t submitted_ = 0;
  std::uint64_t done_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// A point in one stream that others wait for.
class PretendedEvent {
 public:
  void reach();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
};

}  // namespace lanecast::support
