#include "hw/rendezvous/meeting_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr const char* kMend = "remove the folder, or set XDG_RUNTIME_DIR to a folder of yours, mode 0700";

std::string chosen_folder() {
  std::error_code ignored;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0' && std::filesystem::is_directory(runtime, ignored)) {
    return std::string(runtime) + "/lanecast";
  }
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  const std::string base = ignored ? "/tmp" : temporary.string();
  return base + "/lanecast-" + std::to_string(geteuid());
}

/// Whether the path still names the open file: who removes it may have been between opening and locking.
bool still_names(const std::string& path, int descriptor) {
  struct stat there {};
  struct stat here {};
  return stat(path.c_str(), &there) == 0 && fstat(descriptor, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

}  // namespace

std::string meeting_folder() {
  std::string folder = chosen_folder();
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw Error(ErrorKind::runtime,
                "the folder where ranks meet cannot be made: " + std::string(std::strerror(errno)), folder,
                "set XDG_RUNTIME_DIR or TMPDIR to a folder that you may write to");
  }
  require_private(folder, geteuid());
  return folder;
}

void require_private(const std::string& folder, uid_t user) {
  struct stat facts {};
  if (lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
    throw Error(ErrorKind::runtime, "the folder where ranks meet is no folder", folder, kMend);
  }
  if (facts.st_uid != user) {
    throw Error(ErrorKind::runtime,
                "the folder where ranks meet belongs to user " + std::to_string(facts.st_uid) +
                    ", not to this one (" + std::to_string(user) + ")",
                folder, kMend);
  }
  if ((facts.st_mode & 077U) != 0) {
    throw Error(ErrorKind::runtime, "other users may enter the folder where ranks meet", folder,
                "chmod 700 " + folder);
  }
}

pid_t require_peer_of(int socket, uid_t user) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    throw Error(ErrorKind::runtime, "the user of a peer is unknown: " + std::string(std::strerror(errno)),
                "the meeting of the ranks", "start the ranks again");
  }
  if (peer.uid != user) {
    throw Error(ErrorKind::runtime,
                "a peer is a process of user " + std::to_string(peer.uid) + ", not of this one (" +
                    std::to_string(user) + ")",
                "the meeting of the ranks, process " + std::to_string(peer.pid),
                "start all ranks as the same user");
  }
  return peer.pid;
}

MeetingLock::MeetingLock(const std::string& file, const std::string& job) : path_(file) {
  for (int tries = 0; tries < 100; ++tries) {
    file_ = OwnedFile(open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file_.descriptor() < 0) {
      throw Error(ErrorKind::runtime,
                  "the lock of job \"" + job + "\" cannot be opened: " + std::strerror(errno), path_, kMend);
    }
    if (flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0) break;
    if (still_names(path_, file_.descriptor())) return;
  }
  throw Error(ErrorKind::runtime,
              "another job with the name \"" + job + "\" is alive: its rank 0 waits for its ranks", path_,
              "give each job a name of its own, or end the other one");
}

MeetingLock::~MeetingLock() { unlink(path_.c_str()); }

}  // namespace lanecast
