#include "cli/measure_ranks.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "model/error.hpp"

extern char** environ;

namespace lanecast {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr std::chrono::milliseconds kToEndGracefully{500};

/// This process's environment without an older place in a job, and with the new one.
std::vector<std::string> environment_of(const RankProgram& program, int rank) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string variable = *each;
    const bool older = variable.rfind("LANECAST_RANK", 0) == 0 || variable.rfind("LANECAST_JOB=", 0) == 0;
    if (!older) variables.push_back(variable);
  }
  variables.push_back("LANECAST_RANK=" + std::to_string(rank));
  variables.push_back("LANECAST_RANKS=" + std::to_string(program.ranks));
  variables.push_back("LANECAST_JOB=" + program.job);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What a wait status says; empty: it ended well.
std::string ending_of(int rank, pid_t process, int status) {
  const std::string who = "rank " + std::to_string(rank) + " (process " + std::to_string(process) + ")";
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return who + " was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code == 0 ? "" : who + " ended with exit code " + std::to_string(code);
}

}  // namespace

std::string new_job_name() {
  static constexpr char kLetters[] = "0123456789abcdefghijklmnopqrstuv";
  std::random_device random;
  std::string name = "measure-";
  for (int i = 0; i < 16; ++i) name += kLetters[random() % 32];
  return name;
}

StartedRanks::StartedRanks(const RankProgram& program) {
  for (int rank = 1; rank < program.ranks; ++rank) {
    std::vector<std::string> words{"lanecast"};
    words.insert(words.end(), program.words.begin(), program.words.end());
    std::vector<std::string> environment = environment_of(program, rank);
    pid_t process = -1;
    const int problem = posix_spawn(&process, program.file.c_str(), nullptr, nullptr,
                                    pointers_to(words).data(), pointers_to(environment).data());
    if (problem != 0) {
      finish(std::chrono::milliseconds(0));
      throw Error(ErrorKind::runtime,
                  "rank " + std::to_string(rank) + " can't be started: " + strerror(problem), program.file,
                  "make room for more processes (`ulimit -u`), or start fewer ranks");
    }
    processes_[rank] = process;
    running_[rank] = process;
  }
}

StartedRanks::~StartedRanks() { finish(std::chrono::milliseconds(0)); }

bool StartedRanks::all_ended() {
  for (auto each = running_.begin(); each != running_.end();) {
    int status = 0;
    const pid_t ended = waitpid(each->second, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
      ++each;
      continue;
    }
    const std::string ending = ended < 0 ? "" : ending_of(each->first, each->second, status);
    if (!ending.empty()) problems_.push_back(ending);
    each = running_.erase(each);
  }
  return running_.empty();
}

void StartedRanks::end(int signal) {
  for (const auto& [rank, process] : running_) kill(process, signal);
}

std::vector<std::string> StartedRanks::finish(std::chrono::milliseconds most) {
  const auto wait_until = [this](Clock::time_point end) {
    while (!all_ended()) {
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(kBetweenLooks);
    }
    return true;
  };
  if (wait_until(Clock::now() + most)) return problems_;
  for (const auto& [rank, process] : running_) {
    problems_.push_back("rank " + std::to_string(rank) + " (process " + std::to_string(process) +
                        ") did not end by itself");
  }
  end(SIGTERM);
  if (wait_until(Clock::now() + kToEndGracefully)) return problems_;
  end(SIGKILL);
  wait_until(Clock::now() + kToEndGracefully);
  running_.clear();
  return problems_;
}

}  // namespace lanecast
