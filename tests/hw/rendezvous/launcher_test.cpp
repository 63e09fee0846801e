#include "hw/rendezvous/launcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/error.hpp"

namespace lanecast {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<LaunchedRank> launched_in(const Variables& variables) {
  return launched_rank([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

/// "launcher rank/ranks local job".
std::string in_words(const std::optional<LaunchedRank>& rank) {
  if (!rank) return "not launched";
  return rank->launcher + " " + std::to_string(rank->rank) + "/" + std::to_string(rank->ranks) + " " +
         std::to_string(rank->local_rank) + " " + rank->job;
}

std::string usage_error_of(const Variables& variables) {
  try {
    return in_words(launched_in(variables));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_NAMESPACE", "prterun-node-17@1"}};
const Variables kSlurm = {{"SLURM_PROCID", "2"},  {"SLURM_NTASKS", "8"},   {"SLURM_STEP_NUM_TASKS", "4"},
                          {"SLURM_LOCALID", "2"}, {"SLURM_JOB_ID", "123"}, {"SLURM_STEP_ID", "5"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(LaunchedRank, IsAbsentWithoutALauncher) {
  EXPECT_EQ(in_words(launched_in({})), "not launched");
  EXPECT_EQ(in_words(launched_in({{"RANK", "1"}, {"HOME", "/"}})), "not launched");
}

TEST(LaunchedRank, OfMeasureItselfTakesTheNameOfTheJob) {
  EXPECT_EQ(in_words(launched_in(
                {{"LANECAST_RANK", "1"}, {"LANECAST_RANKS", "2"}, {"LANECAST_JOB", "m-4711.a_b"}})),
            "lanecast 1/2 1 m-4711.a_b");
}

TEST(LaunchedRank, OfTorchrunIsOfOneAttemptOfOneRun) {
  const Variables torch = {{"RANK", "3"},
                           {"WORLD_SIZE", "4"},
                           {"LOCAL_RANK", "3"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"TORCHELASTIC_RUN_ID", "none"},
                           {"MASTER_PORT", "29500"},
                           {"TORCHELASTIC_RESTART_COUNT", "1"}};
  EXPECT_EQ(in_words(launched_in(torch)), "torchrun 3/4 3 torchrun-none-29500-1");
}

TEST(LaunchedRank, OfOpenMpiIsOfItsNamespace) {
  EXPECT_EQ(in_words(launched_in(kOpenMpi)), "mpirun 1/4 1 mpirun-prterun-node-17-1");
}

TEST(LaunchedRank, OfAnMpirunThatNamesNoJobIsOfItsParentProcess) {
  const auto rank = launched_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}});
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->job.rfind("mpirun-parent-", 0), 0U);
}

TEST(LaunchedRank, OfSrunIsOfTheStep) { EXPECT_EQ(in_words(launched_in(kSlurm)), "srun 2/4 2 srun-123-5"); }

TEST(LaunchedRank, IsAbsentInABatchScriptOrAShellOfSlurm) {
  EXPECT_EQ(in_words(launched_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "1"}})),
            "not launched");
  EXPECT_EQ(in_words(launched_in(with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}}))), "not launched");
}

TEST(LaunchedRank, IsThatOfTheInnermostLauncher) {
  EXPECT_EQ(in_words(launched_in(with(kSlurm, kOpenMpi))), "mpirun 1/4 1 mpirun-prterun-node-17-1");
  EXPECT_EQ(in_words(launched_in(
                with(kOpenMpi, {{"LANECAST_RANK", "0"}, {"LANECAST_RANKS", "2"}, {"LANECAST_JOB", "j"}}))),
            "lanecast 0/2 0 j");
}

TEST(LaunchedRank, TakesAJobsNameThatTheUserGives) {
  EXPECT_EQ(in_words(launched_in(with(kSlurm, {{"LANECAST_JOB", "mine"}}))), "srun 2/4 2 mine");
}

TEST(LaunchedRank, NamesTheJobInLettersThatAMeetingTakes) {
  const auto rank =
      launched_in(with(kOpenMpi, {{"PMIX_NAMESPACE", "../a b/\xc3\xa9" + std::string(100, 'x') + "@7"}}));
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->job, std::string(58, 'x') + "-7");
}

TEST(LaunchedRank, RefusesWhatIsNoNumber) {
  EXPECT_EQ(usage_error_of(with(kSlurm, {{"SLURM_PROCID", "2x"}})),
            "SLURM_PROCID is \"2x\"; that is no number\n  at the environment that srun made\n"
            "  mend: start the ranks by srun, or unset SLURM_PROCID");
}

TEST(LaunchedRank, RefusesARankOutsideOfTheWorld) {
  EXPECT_EQ(usage_error_of(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "4"}})).substr(0, 64),
            "rank 4 (rank 1 of this machine) is none of a job of 4 ranks\n  at");
}

TEST(LaunchedRank, RefusesRanksOnSeveralMachines) {
  EXPECT_EQ(usage_error_of(with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})).substr(0, 107),
            "the 4 ranks of this job are on several machines (2 on this one); ranks must share one machine "
            "only\n  at the");
  EXPECT_EQ(usage_error_of(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "2"}})).substr(0, 47),
            "the 4 ranks of this job are on several machines");
}

}  // namespace
}  // namespace lanecast
