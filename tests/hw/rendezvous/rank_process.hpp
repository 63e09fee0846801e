#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// A forked process that plays a rank, killed and reaped at the end at the latest. Fork before any thread
/// starts.
class RankProcess {
 public:
  using Say = std::function<void(const std::string& word)>;
  /// @param body  what the process does; what it returns is its last word, and an Error's kind and message is
  ///              that of a body that throws: "usage: two processes ..."
  using Body = std::function<std::string(const Say& say)>;

  explicit RankProcess(const Body& body);
  ~RankProcess();
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;

  pid_t process() const { return process_; }
  /// Its next word; "(nothing)" when none comes within 20 s, or when it ended without one.
  std::string hear();
  /// By SIGKILL. Its files are closed when this returns.
  void kill();

 private:
  pid_t process_ = -1;
  OwnedFile ear_;
};

/// Ends only when the process is killed, or after 30 s.
void wait_to_be_killed();

/// A new folder, set as XDG_RUNTIME_DIR, so that tests that run side by side do not meet.
class OwnRuntimeFolder {
 public:
  OwnRuntimeFolder();
  ~OwnRuntimeFolder();
  OwnRuntimeFolder(const OwnRuntimeFolder&) = delete;
  OwnRuntimeFolder& operator=(const OwnRuntimeFolder&) = delete;

  /// Of the file `name` in the folder where ranks meet.
  std::string meeting_file(const std::string& name) const { return path_ + "/lanecast/" + name; }
  /// Waits until the file is there (at most 20 s).
  bool appears(const std::string& name) const;
  int files() const;  // in the folder where ranks meet

 private:
  std::string path_;
};

}  // namespace lanecast
