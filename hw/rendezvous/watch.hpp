#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/status_board.hpp"

namespace lanecast {

/// Watches over a communicator from a thread of its own: ranks that are gone, ranks that disagree about a
/// call, faults of this rank's kernels and of others'. The first thing found raises everyone's abort flag and
/// stays as this rank's problem.
class Watch {
 public:
  /// Says by which path a rank's data come, for the message: "peer memory over NVLink", "host memory".
  using PathName = std::function<std::string(int from_rank, int to_rank)>;

  Watch(Exchange& exchange, StatusBoard& board, PathName path, std::chrono::milliseconds timeout);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What went wrong, as a whole message in three lines (what, at, mend); absent: nothing. Names the rank,
  /// the step and the path where a kernel was waiting.
  std::optional<std::string> problem() const;

  /// Looks once, at this moment; the thread does so every few milliseconds.
  void look();

  /// For what this rank finds by itself: raises everyone's abort flag too.
  void report(const std::string& message);

 private:
  void run();
  std::optional<std::string> found();
  void end_waits();
  void keep(const std::string& message);

  Exchange& exchange_;
  StatusBoard& board_;
  PathName path_;
  std::chrono::milliseconds timeout_;
  mutable std::mutex mutex_;
  std::optional<std::string> problem_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace lanecast
