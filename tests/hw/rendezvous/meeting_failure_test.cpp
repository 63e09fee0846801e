#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/meeting_folder.hpp"
#include "hw/rendezvous/message_channel.hpp"
#include "hw/rendezvous/unix_socket.hpp"
#include "model/error.hpp"
#include "tests/hw/rendezvous/rank_process.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;
using testing::AssertionResult;

constexpr milliseconds kPatient{10'000};
constexpr milliseconds kShort{1000};  // all others of a test come within that on a busy machine too

AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

RankProcess meeting(const std::string& job, int rank, int ranks, milliseconds timeout) {
  return RankProcess([=](const RankProcess::Say&) {
    const std::unique_ptr<Exchange> exchange = meet({job, rank, ranks, timeout});
    exchange->leave();
    return std::string("met");
  });
}

std::string problem_of(const std::function<void()>& task) {
  try {
    task();
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::usage ? "usage: " : "runtime: ") + std::string(error.what());
  }
  return "none";
}

class MeetingFailure : public testing::Test {
 protected:
  OwnRuntimeFolder folder_;
};

TEST_F(MeetingFailure, OfAMissingRankNamesItToAll) {
  RankProcess zero = meeting("a", 0, 4, kShort);
  RankProcess one = meeting("a", 1, 4, kShort);
  RankProcess three = meeting("a", 3, 4, kShort);
  for (RankProcess* each : {&zero, &one, &three}) {
    const std::string word = each->hear();
    EXPECT_TRUE(has(word, "runtime: "));
    EXPECT_TRUE(has(word, "rank 2 did not come within 1 s"));
  }
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(MeetingFailure, OfAMissingRankZeroNamesIt) {
  RankProcess one = meeting("a", 1, 2, kShort);
  EXPECT_TRUE(
      has(one.hear(), "runtime: rank 0 did not come within 1 s\n  at the meeting of job \"a\", rank 1"));
}

TEST_F(MeetingFailure, OfAGuestWithAShorterTimeOutReachesRankZeroAtOnce) {
  RankProcess zero = meeting("a", 0, 3, kPatient);
  RankProcess one = meeting("a", 1, 3, kShort);
  EXPECT_TRUE(has(one.hear(), "runtime: rank 2 did not come within 1 s"));
  EXPECT_TRUE(has(zero.hear(), "runtime: rank 1 is gone: it gave up: rank 2 did not come within 1 s"));
}

TEST_F(MeetingFailure, OfTwoRanksOfOneNumberNamesBothProcesses) {
  RankProcess zero = meeting("a", 0, 3, kPatient);
  RankProcess first = meeting("a", 1, 3, kPatient);
  RankProcess second = meeting("a", 1, 3, kPatient);
  for (RankProcess* each : {&zero, &first, &second}) {
    const std::string word = each->hear();
    EXPECT_TRUE(has(word, "usage: two processes say that they are rank 1: "));
    EXPECT_TRUE(has(word, std::to_string(first.process())));
    EXPECT_TRUE(has(word, std::to_string(second.process())));
  }
}

TEST_F(MeetingFailure, OfDifferentNumbersOfRanksNamesBoth) {
  RankProcess zero = meeting("a", 0, 2, kPatient);
  RankProcess one = meeting("a", 1, 3, kPatient);
  for (RankProcess* each : {&zero, &one}) {
    const std::string word = each->hear();
    EXPECT_TRUE(has(word, "usage: ranks disagree about their number: rank 0 counts 2, rank 1"));
    EXPECT_TRUE(has(word, "counts 3"));
  }
}

TEST_F(MeetingFailure, OfASecondJobOfTheNameOfAWaitingOneLeavesTheFirstAlone) {
  RankProcess zero = meeting("a", 0, 2, kPatient);
  ASSERT_TRUE(folder_.appears("a.sock"));
  RankProcess second = meeting("a", 0, 2, kPatient);
  EXPECT_TRUE(has(second.hear(), "runtime: another job with the name \"a\" is alive"));
  RankProcess one = meeting("a", 1, 2, kPatient);
  EXPECT_EQ(zero.hear(), "met");
  EXPECT_EQ(one.hear(), "met");
}

TEST_F(MeetingFailure, OfARankKilledWhileTheyMeetNamesItsProcess) {
  RankProcess zero = meeting("a", 0, 3, kPatient);
  ASSERT_TRUE(folder_.appears("a.sock"));
  // A guest that has introduced itself, as one that is killed while it waits.
  OwnedFile guest;
  while (guest.descriptor() < 0) {
    if (std::optional<OwnedFile> file = connect_to(folder_.meeting_file("a.sock"))) guest = std::move(*file);
  }
  MessageChannel channel(std::move(guest));
  channel.send({Message::Kind::hello, 0, {"1", "1", "3", std::to_string(getpid()), "0"}, {}});
  while (!channel.next()) channel.pump();  // which ranks are awaited
  channel = MessageChannel(OwnedFile());
  EXPECT_TRUE(has(zero.hear(), "runtime: rank 1 is gone: its process " + std::to_string(getpid()) +
                                   " ended while the ranks met"));
}

TEST_F(MeetingFailure, OfARankZeroKilledWhileTheyMeetNamesItsProcess) {
  RankProcess zero = meeting("a", 0, 3, kPatient);
  ASSERT_TRUE(folder_.appears("a.sock"));
  const std::string process = std::to_string(zero.process());
  OwnedFile listener;  // rank 1 connects to a rank 0 that ends without a word
  zero.kill();
  listener = listen_at(folder_.meeting_file("a.sock"));
  RankProcess one = meeting("a", 1, 3, kPatient);
  std::optional<OwnedFile> guest;
  while (!guest) guest = accept_from(listener.descriptor());
  guest.reset();
  EXPECT_TRUE(has(one.hear(), "runtime: rank 0 is gone: its process " + std::to_string(getpid()) + " ended"));
}

TEST_F(MeetingFailure, IsNotCausedByAConnectionThatSaysNothing) {
  RankProcess zero = meeting("a", 0, 2, kPatient);
  ASSERT_TRUE(folder_.appears("a.sock"));
  std::optional<OwnedFile> silent;
  while (!silent) silent = connect_to(folder_.meeting_file("a.sock"));
  std::optional<OwnedFile> garbled = connect_to(folder_.meeting_file("a.sock"));
  ASSERT_TRUE(garbled);
  const std::string noise(200, 'x');
  EXPECT_EQ(send(garbled->descriptor(), noise.data(), noise.size(), MSG_NOSIGNAL), 200);
  RankProcess one = meeting("a", 1, 2, kPatient);
  EXPECT_EQ(zero.hear(), "met");
  EXPECT_EQ(one.hear(), "met");
}

TEST_F(MeetingFailure, OfAnotherVersionSaysSo) {
  RankProcess zero = meeting("a", 0, 2, kPatient);
  std::optional<OwnedFile> file;
  while (!file) file = connect_to(folder_.meeting_file("a.sock"));
  MessageChannel channel(std::move(*file));
  channel.send({Message::Kind::hello, 0, {"999", "1", "2", "1", "1"}, {}});
  EXPECT_TRUE(has(zero.hear(), "speaks another version of the meeting than rank 0"));
}

TEST_F(MeetingFailure, OfAFolderThatOthersMayEnterSaysHowToCloseIt) {
  const std::string folder = folder_.meeting_file("");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0750), 0);
  const std::string problem = problem_of([] { meet({"a", 0, 2, kShort}); });
  EXPECT_TRUE(has(problem, "runtime: other users may enter the folder where ranks meet"));
  EXPECT_TRUE(has(problem, "mend: chmod 700"));
}

TEST_F(MeetingFailure, OfAFolderOfAnotherUserNamesBothUsers) {
  const std::string folder = folder_.meeting_file("");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  EXPECT_EQ(problem_of([&] { require_private(folder, geteuid()); }), "none");
  EXPECT_TRUE(has(problem_of([&] { require_private(folder, geteuid() + 1); }),
                  "belongs to user " + std::to_string(geteuid()) + ", not to this one (" +
                      std::to_string(geteuid() + 1) + ")"));
}

TEST_F(MeetingFailure, OfALinkInPlaceOfTheFolderIsNoFolder) {
  std::string link = folder_.meeting_file("");
  link.pop_back();
  ASSERT_EQ(symlink("/", link.c_str()), 0);
  EXPECT_TRUE(has(problem_of([] { meet({"a", 0, 2, kShort}); }), "is no folder"));
}

TEST_F(MeetingFailure, OfAPeerOfAnotherUserNamesBothUsers) {
  const auto [here, there] = connected_pair();
  EXPECT_EQ(require_peer_of(here.descriptor(), geteuid()), getpid());
  EXPECT_TRUE(has(problem_of([&, socket = here.descriptor()] { require_peer_of(socket, geteuid() + 1); }),
                  "runtime: a peer is a process of user " + std::to_string(geteuid())));
}

TEST_F(MeetingFailure, OfBadArgumentsIsOneOfUsage) {
  EXPECT_TRUE(has(problem_of([] { meet({"a/b", 0, 2, kShort}); }), "usage: \"a/b\" is no name of a job"));
  EXPECT_TRUE(has(problem_of([] { meet({"", 0, 2, kShort}); }), "usage: \"\" is no name of a job"));
  EXPECT_TRUE(has(problem_of([] {
                    meet({"a", 2, 2, kShort});
                  }),
                  "usage: rank 2 is none of a job of 2 ranks"));
  EXPECT_TRUE(has(problem_of([] { meet({"a", -1, 2, kShort}); }), "usage: rank -1 is none"));
  EXPECT_TRUE(has(problem_of([] { meet({"a", 0, 0, kShort}); }), "usage: a job of 0 ranks cannot meet"));
}

}  // namespace
}  // namespace lanecast
