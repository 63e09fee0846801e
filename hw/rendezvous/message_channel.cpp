#include "hw/rendezvous/message_channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t kMagic = 0x3158434c;        // "LCX1": the layout of Header and of its fields
constexpr std::uint64_t kMostBytes = 64ULL << 20U;  // of one message; more is no message of ours
constexpr int kReadsAtOnce = 256;                   // so that a pump ends although the other end goes on

std::string packed(const std::vector<std::string>& fields) {
  std::string bytes;
  for (const std::string& field : fields) {
    const std::uint64_t size = field.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(field);
  }
  return bytes;
}

std::optional<std::vector<std::string>> unpacked(const std::string& bytes) {
  std::vector<std::string> fields;
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint64_t size = 0;
    if (bytes.size() - at < sizeof size) return std::nullopt;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (bytes.size() - at < size) return std::nullopt;
    fields.push_back(bytes.substr(at, size));
    at += size;
  }
  return fields;
}

using Control = std::array<char, CMSG_SPACE(sizeof(int) * MessageChannel::kMostFiles)>;

void attach(msghdr& message, Control& control, const std::vector<OwnedFile>& files) {
  if (files.empty()) return;
  const std::size_t bytes = sizeof(int) * files.size();
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(bytes);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const int descriptor = files[i].descriptor();
    std::memcpy(CMSG_DATA(head) + i * sizeof(int), &descriptor, sizeof descriptor);
  }
}

void detach(msghdr& message, std::vector<OwnedFile>& files) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof descriptor);
      files.emplace_back(descriptor);
    }
  }
}

bool would_wait() { return errno == EAGAIN; }

}  // namespace

MessageChannel::MessageChannel(OwnedFile socket) : socket_(std::move(socket)) {
  const int flags = fcntl(socket_.descriptor(), F_GETFL);
  fcntl(socket_.descriptor(), F_SETFL, flags | O_NONBLOCK);
}

void MessageChannel::send(Message message) {
  if (ended_) return;
  const std::string payload = packed(message.fields);
  const Header header{kMagic, message.kind, message.round, payload.size()};
  Outgoing out;
  out.bytes.assign(reinterpret_cast<const char*>(&header), sizeof header).append(payload);
  out.files = std::move(message.files);
  outgoing_.push_back(std::move(out));
  flush();
}

void MessageChannel::flush() {
  while (!outgoing_.empty()) {
    Outgoing& out = outgoing_.front();
    iovec bytes{out.bytes.data() + out.sent, out.bytes.size() - out.sent};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    alignas(cmsghdr) Control control{};
    if (out.sent == 0) attach(message, control, out.files);
    const ssize_t count = sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_wait()) return;
    if (count < 0) {
      outgoing_.clear();  // nobody takes it; what the other end said before it closed is read all the same
      return;
    }
    out.files.clear();
    out.sent += static_cast<std::size_t>(count);
    if (out.sent == out.bytes.size()) outgoing_.pop_front();
  }
}

long MessageChannel::receive(void* to, std::size_t bytes) {
  iovec place{to, bytes};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  alignas(cmsghdr) Control control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = -1;
  do {
    count = recvmsg(socket_.descriptor(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && would_wait()) return 0;
  if (count <= 0) {
    ended_ = true;
    return 0;
  }
  detach(message, files_);
  return count;
}

bool MessageChannel::receive_some() {
  if (header_bytes_ < sizeof header_) {
    const long count =
        receive(reinterpret_cast<char*>(&header_) + header_bytes_, sizeof header_ - header_bytes_);
    if (count == 0) return false;
    header_bytes_ += static_cast<std::size_t>(count);
    if (header_bytes_ < sizeof header_) return true;
    if (header_.magic != kMagic || header_.bytes > kMostBytes) {
      ended_ = true;
      return false;
    }
    payload_.assign(header_.bytes, '\0');
    payload_bytes_ = 0;
  }
  if (payload_bytes_ < payload_.size()) {
    const long count = receive(payload_.data() + payload_bytes_, payload_.size() - payload_bytes_);
    if (count == 0) return false;
    payload_bytes_ += static_cast<std::size_t>(count);
  }
  if (payload_bytes_ == payload_.size()) finish_message();
  return true;
}

void MessageChannel::finish_message() {
  header_bytes_ = 0;
  std::optional<std::vector<std::string>> fields = unpacked(payload_);
  if (!fields) {
    ended_ = true;
    return;
  }
  received_.push_back({header_.kind, header_.round, std::move(*fields), std::move(files_)});
  files_.clear();
}

void MessageChannel::pump() {
  if (ended_) return;
  flush();
  for (int reads = 0; reads < kReadsAtOnce && !ended_ && receive_some(); ++reads) {
  }
}

std::optional<Message> MessageChannel::next() {
  if (received_.empty()) return std::nullopt;
  Message message = std::move(received_.front());
  received_.pop_front();
  return message;
}

std::pair<OwnedFile, OwnedFile> connected_pair() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorKind::runtime,
                std::string("no connection between two ranks can be made: ") + std::strerror(errno),
                "the meeting of the ranks", "raise the limit on open files (ulimit -n)");
  }
  return {OwnedFile(ends[0]), OwnedFile(ends[1])};
}

OwnedFile duplicate(int descriptor) {
  OwnedFile copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (copy.descriptor() < 0) {
    throw Error(ErrorKind::runtime,
                "open file " + std::to_string(descriptor) + " cannot be passed on: " + std::strerror(errno),
                "an exchange of files",
                "pass a file that is open; if it is, raise the limit on open files (ulimit -n)");
  }
  return copy;
}

}  // namespace lanecast
