#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "hw/engine/call_planner.hpp"
#include "hw/engine/copy_engines.hpp"
#include "hw/engine/mailboxes.hpp"
#include "hw/rendezvous/shared_memory.hpp"
#include "hw/rendezvous/watch.hpp"

namespace lanecast {

/// A thread that issues copy-engine-driven calls when a stream comes to them.
///
/// The branches of a captured graph need not run side by side, but the copies of a call must, since ranks
/// wait for each other in them. So a stream, or a graph, holds two small kernels only: one asks the proxy for
/// the call, the other waits until it is done.
class CopyProxy {
 public:
  /// @param watch  is told what goes wrong in the thread
  CopyProxy(EngineDevice& device, CopyEngines& engines, const Mailboxes& mailboxes, Watch& watch);
  /// The device must have nothing to do any more.
  ~CopyProxy();
  CopyProxy(const CopyProxy&) = delete;
  CopyProxy& operator=(const CopyProxy&) = delete;

  /// Puts a call into the stream. @param keep  it may run again: the stream is being captured
  void enqueue(const CallPlan& plan, const KernelCall& call, bool keep, Stream stream);

  /// Waits until the thread issues nothing and all copies are done, at most so long: after a failure, before
  /// the caller's buffers are its own again.
  void settle(std::chrono::milliseconds longest);

 private:
  struct Job {
    const CallPlan* plan = nullptr;
    KernelCall call;
    bool keep = false;
  };

  void run();
  void serve(std::uint32_t id);

  EngineDevice& device_;
  CopyEngines& engines_;
  const Mailboxes& mailboxes_;
  Watch& watch_;
  SharedMemory page_;  // request, and 128 bytes further done
  std::byte* page_seen_ = nullptr;
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<Job>> jobs_;
  std::uint32_t next_id_ = 1;
  std::atomic<bool> stop_{false};
  std::atomic<bool> serving_{false};
  std::thread thread_;
};

}  // namespace lanecast
