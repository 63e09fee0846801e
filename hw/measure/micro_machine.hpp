#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hw/measure/micro_points.hpp"
#include "model/units.hpp"

struct CUstream_st;
struct CUevent_st;

namespace lanecast {

/// @throws Error  kind runtime: "CUDA: ... (while it should DOING)", when `code` (a cudaError_t) is no
/// success
void check_micro(int code, const std::string& doing);

/// @throws Error  kind runtime: a wait in a kernel ran out of time
void check_micro_wait(bool gave_up);

/// Memory and streams of the GPUs that are measured, and access between them.
class MicroMachine {
 public:
  using Stream = CUstream_st*;
  static constexpr int kStreams = 4;                          // a device
  static constexpr Bytes kLargest{std::uint64_t{128} << 20};  // of a buffer in device memory
  static constexpr Bytes kMailbox{std::uint64_t{1} << 20};

  /// @throws Error  kind runtime: out of memory, access refused
  explicit MicroMachine(const MicroGpus& gpus);
  ~MicroMachine();
  MicroMachine(const MicroMachine&) = delete;
  MicroMachine& operator=(const MicroMachine&) = delete;

  /// Where a flow reads and writes: kLargest in device memory, 32 MiB in host memory (of the runner's own).
  std::byte* source(const MicroFlow& flow) const;
  std::byte* destination(const MicroFlow& flow) const;
  std::byte* second(int device) const;  // the other operand of a sum, kLargest, in device memory

  /// For FIFOs: 64 MiB of a device's memory, or of its host memory. Shared with `second`, or with host
  /// buffers.
  std::byte* fifo(int device, bool in_host) const;

  /// For lines and flags: kMailbox of device memory, or of host memory; and for what kernels find out.
  std::byte* mailbox(int device, bool in_host) const;
  std::byte* findings(int device) const;  // 64 KiB of device memory

  Stream stream(int device, int index) const;
  int multiprocessors(int device) const;

  /// Small blocking copies and clearing of memory that lies on a device, or in the host's memory of a device.
  void put(int device, std::byte* to, const void* from, std::size_t bytes) const;
  void get(int device, void* to, const std::byte* from, std::size_t bytes) const;
  void clear(int device, bool in_host, std::byte* memory, std::size_t bytes) const;

  /// Makes it the thread's current device.
  void use(int device) const;

  /// Waits until all work of a stream is done, 10 s at most. @throws Error  kind runtime: CUDA's, or too long
  void wait(Stream stream) const;

 private:
  struct Gpu;
  const Gpu& gpu(int device) const;
  void open(int device);
  void allow_access(const MicroGpus& gpus);

  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::array<int, 2>> allowed_;  // accesses that this object switched on
};

/// CUDA events with a time.
class MicroEvent {
 public:
  MicroEvent();
  ~MicroEvent();
  MicroEvent(const MicroEvent&) = delete;
  MicroEvent& operator=(const MicroEvent&) = delete;

  void record(MicroMachine::Stream stream) const;
  Seconds since(const MicroEvent& earlier) const;  // both have happened
  CUevent_st* get() const { return event_; }

 private:
  CUevent_st* event_ = nullptr;
};

}  // namespace lanecast
