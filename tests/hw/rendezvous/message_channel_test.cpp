#include "hw/rendezvous/message_channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "hw/rendezvous/shared_memory.hpp"

namespace lanecast {
namespace {

Message contribution(std::uint64_t round, std::vector<std::string> fields) {
  return {Message::Kind::contribution, round, std::move(fields), {}};
}

/// Both ends, moved on until a message came or nothing moves it any more.
std::optional<Message> passed(MessageChannel& from, MessageChannel& to) {
  for (int i = 0; i < 10'000; ++i) {
    from.pump();
    to.pump();
    if (std::optional<Message> message = to.next()) return message;
    if (to.ended()) break;
  }
  return std::nullopt;
}

struct Ends {
  Ends() : Ends(connected_pair()) {}
  explicit Ends(std::pair<OwnedFile, OwnedFile> pair) : a(std::move(pair.first)), b(std::move(pair.second)) {}
  MessageChannel a;
  MessageChannel b;
};

TEST(MessageChannel, PassesMessagesWholeAndInOrder) {
  Ends ends;
  ends.a.send(contribution(1, {"", std::string("\0x", 2), "words"}));
  ends.a.send(contribution(2, {}));
  const std::optional<Message> first = passed(ends.a, ends.b);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->round, 1U);
  EXPECT_EQ(first->fields, (std::vector<std::string>{"", std::string("\0x", 2), "words"}));
  const std::optional<Message> second = passed(ends.a, ends.b);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->round, 2U);
  EXPECT_TRUE(second->fields.empty());
}

TEST(MessageChannel, PassesWhatIsLargerThanTheSocketsBuffer) {
  Ends ends;
  const std::string large(20U << 20U, 'x');
  ends.a.send(contribution(1, {large}));
  EXPECT_TRUE(ends.a.unsent());
  const std::optional<Message> message = passed(ends.a, ends.b);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->fields.at(0), large);
  EXPECT_FALSE(ends.a.unsent());
}

TEST(MessageChannel, PassesEachMessagesOwnFiles) {
  Ends ends;
  for (char letter = 'a'; letter <= 'c'; ++letter) {
    SharedMemory memory = SharedMemory::create(1, "the test");
    *static_cast<char*>(memory.data()) = letter;
    ends.a.send(contribution(0, {"without a file"}));
    Message message = contribution(1, {"with a file"});
    message.files.push_back(duplicate(memory.descriptor()));
    ends.a.send(std::move(message));
  }
  for (char letter = 'a'; letter <= 'c'; ++letter) {
    const std::optional<Message> without = passed(ends.a, ends.b);
    ASSERT_TRUE(without);
    EXPECT_TRUE(without->files.empty());
    std::optional<Message> with = passed(ends.a, ends.b);
    ASSERT_TRUE(with);
    ASSERT_EQ(with->files.size(), 1U);
    EXPECT_EQ(fcntl(with->files[0].descriptor(), F_GETFD), FD_CLOEXEC);
    const SharedMemory memory = SharedMemory::open(std::move(with->files[0]), 1, "the test");
    EXPECT_EQ(*static_cast<char*>(memory.data()), letter);
  }
}

TEST(MessageChannel, GivesWhatCameBeforeTheEnd) {
  Ends ends;
  ends.a.send(contribution(1, {"last word"}));
  ends.b.send(contribution(1, {"that is never read"}));
  ends.a = MessageChannel(OwnedFile());
  const std::optional<Message> message = passed(ends.b, ends.b);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->fields.at(0), "last word");
  EXPECT_FALSE(passed(ends.b, ends.b));
  EXPECT_TRUE(ends.b.ended());
  ends.b.send(contribution(2, {"to nobody"}));  // raises no SIGPIPE
  EXPECT_FALSE(ends.b.unsent());
}

TEST(MessageChannel, EndsAtWhatIsNoMessage) {
  auto [here, there] = connected_pair();
  MessageChannel channel(std::move(there));
  const std::string noise(100, 'x');
  ASSERT_EQ(send(here.descriptor(), noise.data(), noise.size(), MSG_NOSIGNAL), 100);
  channel.pump();
  EXPECT_TRUE(channel.ended());
  EXPECT_FALSE(channel.next());
}

}  // namespace
}  // namespace lanecast
