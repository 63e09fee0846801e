#include "hw/rendezvous/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr int kMostWaiting = 128;

Error socket_error(const std::string& task, const std::string& path) {
  return Error(ErrorKind::runtime, "the meeting point cannot be " + task + ": " + std::strerror(errno), path,
               "check the folder, its free space and the limit on open files (ulimit -n)");
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error(ErrorKind::runtime,
                "the path of the meeting point has " + std::to_string(path.size()) +
                    " letters; a socket's has " + std::to_string(sizeof address.sun_path - 1) + " at most",
                path, "set XDG_RUNTIME_DIR or TMPDIR to a folder with a shorter path");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

OwnedFile new_socket(const std::string& path) {
  OwnedFile file(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (file.descriptor() < 0) throw socket_error("opened", path);
  return file;
}

}  // namespace

OwnedFile listen_at(const std::string& path) {
  const sockaddr_un address = address_of(path);
  OwnedFile file = new_socket(path);
  unlink(path.c_str());
  if (bind(file.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw socket_error("made", path);
  }
  if (chmod(path.c_str(), 0600) != 0 || listen(file.descriptor(), kMostWaiting) != 0) {
    throw socket_error("opened", path);
  }
  return file;
}

std::optional<OwnedFile> connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  OwnedFile file = new_socket(path);
  if (connect(file.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return file;
  // No file, nobody behind it (not yet, or no more), or more are connecting than may wait.
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return std::nullopt;
  throw socket_error("reached", path);
}

std::optional<OwnedFile> accept_from(int listener) {
  OwnedFile file(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (file.descriptor() < 0) return std::nullopt;
  return file;
}

}  // namespace lanecast
