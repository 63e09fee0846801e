#include "cli/measure_ranks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/error.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

/// Ranks that run a line of shell; rank 0 is the test.
RankProgram shell(const std::string& line, int ranks = 3) {
  return {"/bin/sh", {"-c", line}, "job-of-test", ranks};
}

TEST(StartedRanks, GetTheirPlaceInTheJobByTheEnvironment) {
  const std::string folder = testing::TempDir() + "ranks-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  StartedRanks ranks(
      shell("echo $LANECAST_RANK of $LANECAST_RANKS in $LANECAST_JOB > " + folder + "/$LANECAST_RANK"));
  EXPECT_TRUE(ranks.finish(milliseconds(10'000)).empty());
  for (const char* rank : {"1", "2"}) {
    std::stringstream text;
    text << std::ifstream(folder + "/" + rank).rdbuf();
    EXPECT_EQ(text.str(), std::string(rank) + " of 3 in job-of-test\n");
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/0")) << "rank 0 is who starts the others";
  std::filesystem::remove_all(folder);
}

TEST(StartedRanks, ForgetAnOlderPlaceOfTheirStarter) {
  setenv("LANECAST_RANK", "7", 1);
  StartedRanks ranks(shell("test \"$(env | grep -c ^LANECAST_RANK=)\" = 1 && test $LANECAST_RANK = 1", 2));
  unsetenv("LANECAST_RANK");
  EXPECT_TRUE(ranks.finish(milliseconds(10'000)).empty());
}

TEST(StartedRanks, SayWhichRankEndedBadlyAndHow) {
  StartedRanks ranks(shell("test $LANECAST_RANK = 1 && exit 4; kill -9 $$"));
  const std::vector<std::string> problems = ranks.finish(milliseconds(10'000));
  ASSERT_EQ(problems.size(), 2U);
  const std::string both = problems[0] + "\n" + problems[1];
  const auto name = [&](int rank) {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(ranks.processes().at(rank)) + ")";
  };
  EXPECT_NE(both.find(name(1) + " ended with exit code 4"), std::string::npos) << both;
  EXPECT_NE(both.find(name(2) + " was ended by signal 9"), std::string::npos) << both;
}

TEST(StartedRanks, AreEndedWhereTheyDoNotEndThemselves) {
  StartedRanks ranks(shell("trap '' TERM; while :; do :; done", 2));
  const pid_t process = ranks.processes().at(1);
  const std::vector<std::string> problems = ranks.finish(milliseconds(20));
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].find("did not end by itself"), std::string::npos);
  EXPECT_NE(kill(process, 0), 0) << "it still runs";
}

TEST(StartedRanks, CannotBeStartedFromAProgramThatIsNotThere) {
  try {
    StartedRanks ranks({"/no/such/program", {}, "job", 2});
    FAIL() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    EXPECT_NE(std::string(error.what()).find("rank 1 can't be started"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("/no/such/program"), std::string::npos);
  }
}

TEST(NewJobName, IsAnotherOneEachTime) {
  EXPECT_NE(new_job_name(), new_job_name());
  EXPECT_EQ(new_job_name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
}

}  // namespace
}  // namespace lanecast
