#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace lanecast {

/// How ranks are started that are processes of their own.
struct RankProgram {
  std::string file;                // "/proc/self/exe"
  std::vector<std::string> words;  // behind the program's name
  std::string job;                 // name under which the ranks meet
  int ranks = 2;
};

/// A name that no other job has.
std::string new_job_name();

/// Ranks 1, 2, ... of a job, started by rank 0: the same command, told its place by LANECAST_RANK,
/// LANECAST_RANKS and LANECAST_JOB. They write where this process writes.
class StartedRanks {
 public:
  /// @throws Error  kind runtime: a process can't be started; those that were are ended
  explicit StartedRanks(const RankProgram& program);

  /// Ends those that still run: by SIGTERM, and half a second later by SIGKILL.
  ~StartedRanks();
  StartedRanks(const StartedRanks&) = delete;
  StartedRanks& operator=(const StartedRanks&) = delete;

  const std::map<int, pid_t>& processes() const { return processes_; }  // by rank, as they were started

  /// Waits until all have ended, but no longer than `most`; those that still run then are ended.
  /// @return  what went wrong: "rank 2 (process 4711) was ended by signal 9 (Killed)"; empty: nothing
  std::vector<std::string> finish(std::chrono::milliseconds most);

 private:
  bool all_ended();
  void end(int signal);

  std::map<int, pid_t> processes_;
  std::map<int, pid_t> running_;
  std::vector<std::string> problems_;
};

}  // namespace lanecast
