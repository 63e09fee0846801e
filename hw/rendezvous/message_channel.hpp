#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// What ranks tell each other: a few texts, and open files.
struct Message {
  enum class Kind : std::uint32_t {
    hello = 1,         // guest to host: format version, rank, ranks, pid, uid
    waiting = 2,       // host to guest: the ranks that are not there yet, in words
    welcome = 3,       // host to guest: everyone's pid; files: connections to the other guests
    refused = 4,       // why the meeting fails, as a whole error message: kind, text
    contribution = 5,  // to all: what, bytes; perhaps a file
    lost = 6,          // to all: rank, how
    give_up = 7,       // to all: why
    goodbye = 8        // to all
  };
  Kind kind = Kind::hello;
  std::uint64_t round = 0;  // of a contribution; of a give_up or lost: the first not completed
  std::vector<std::string> fields;
  std::vector<OwnedFile> files;
};

/// Whole messages over a connected stream socket, without ever waiting. Not safe for several threads.
class MessageChannel {
 public:
  static constexpr std::size_t kMostFiles = 64;  // of one message

  explicit MessageChannel(OwnedFile socket);

  /// Queues a message, and sends what the socket takes now.
  void send(Message message);
  /// Sends and receives what is possible without waiting.
  void pump();
  /// The oldest message that came and was not asked for yet.
  std::optional<Message> next();

  /// The other end is closed, or sent what is no message. Messages that came before can still be taken.
  bool ended() const { return ended_; }
  bool unsent() const { return !ended_ && !outgoing_.empty(); }
  int descriptor() const { return socket_.descriptor(); }

 private:
  struct Header {
    std::uint32_t magic = 0;
    Message::Kind kind = Message::Kind::hello;
    std::uint64_t round = 0;
    std::uint64_t bytes = 0;
  };
  struct Outgoing {
    std::string bytes;
    std::size_t sent = 0;
    std::vector<OwnedFile> files;
  };

  void flush();
  bool receive_some();
  long receive(void* to, std::size_t bytes);
  void finish_message();

  OwnedFile socket_;
  bool ended_ = false;
  std::deque<Outgoing> outgoing_;
  std::deque<Message> received_;
  Header header_;
  std::size_t header_bytes_ = 0;
  std::string payload_;
  std::size_t payload_bytes_ = 0;
  std::vector<OwnedFile> files_;
};

/// Both ends of a new connection. @throws Error  kind runtime: too many open files
std::pair<OwnedFile, OwnedFile> connected_pair();

/// Another descriptor of the same open file. @throws Error  kind runtime
OwnedFile duplicate(int descriptor);

}  // namespace lanecast
