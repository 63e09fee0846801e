#pragma once
#include <sys/types.h>

#include <string>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// The folder in which this user's jobs meet: $XDG_RUNTIME_DIR/lanecast, or lanecast-UID in the folder for
/// temporary files. Made with mode 0700 where it is absent.
/// @throws Error  kind runtime: it cannot be made, is another user's, or others may enter
std::string meeting_folder();

/// That a folder is a folder of `user` alone. @throws Error  kind runtime
void require_private(const std::string& folder, uid_t user);

/// That the process at the other end of a connected socket is of `user`; returns its number.
/// @throws Error  kind runtime
pid_t require_peer_of(int socket, uid_t user);

/// Held by the one process that listens for a job; the operating system takes it back when that ends.
class MeetingLock {
 public:
  /// @param file  made where it is absent, removed at the end
  /// @throws Error  kind runtime: another process holds it
  MeetingLock(const std::string& file, const std::string& job);
  ~MeetingLock();
  MeetingLock(const MeetingLock&) = delete;
  MeetingLock& operator=(const MeetingLock&) = delete;

 private:
  std::string path_;
  OwnedFile file_;
};

}  // namespace lanecast
