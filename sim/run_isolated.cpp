#include "sim/run_isolated.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "model/error.hpp"

namespace lanecast {
namespace {

enum class Tag : char { result = 'r', error = 'e' };

constexpr std::size_t kLastWords = 2000;  // of a child's standard error

struct Child {
  std::size_t number = 0;
  pid_t pid = -1;
  int result = -1;  // pipe ends
  int errors = -1;
  std::string result_bytes;
  std::string error_bytes;
};

void write_all(int fd, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(3);
    done += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void run_child(pid_t parent, std::size_t number, int result, int errors,
                            const std::function<std::string(std::size_t)>& task) {
  // a command that is killed leaves nothing running
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  ::dup2(errors, STDERR_FILENO);
  ::dup2(errors, STDOUT_FILENO);  // a library's chatter must not reach the result
  std::string answer;
  try {
    answer = std::string(1, static_cast<char>(Tag::result)) + task(number);
  } catch (const Error& error) {
    answer = std::string(1, static_cast<char>(Tag::error)) +
             static_cast<char>('0' + static_cast<int>(error.kind())) + error.what();
  } catch (const std::exception& error) {
    answer = std::string(1, static_cast<char>(Tag::error)) + '1' + error.what();
  }
  write_all(result, answer);
  ::_exit(0);  // no destructors: SimGrid's engine is not meant to be torn down twice
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::runtime, what + ": " + std::strerror(errno), "starting a simulation",
              "free memory or processes, or use fewer --jobs");
}

Child start(std::size_t number, const std::function<std::string(std::size_t)>& task) {
  int result[2];
  int errors[2];
  if (::pipe(result) != 0) refuse("no pipe");
  if (::pipe(errors) != 0) refuse("no pipe");
  std::fflush(nullptr);
  Child child;
  child.number = number;
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid < 0) refuse("no child process");
  if (child.pid == 0) {
    ::close(result[0]);
    ::close(errors[0]);
    run_child(parent, number, result[1], errors[1], task);
  }
  ::close(result[1]);
  ::close(errors[1]);
  child.result = result[0];
  child.errors = errors[0];
  return child;
}

/// False at the end of the pipe.
bool drain(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EINTR;
  into.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

/// Reads from all children until one has closed both its pipes; returns its index.
std::size_t wait_for_one(std::vector<Child>& children) {
  while (true) {
    std::vector<pollfd> fds;
    for (const Child& child : children) {
      fds.push_back({child.result, POLLIN, 0});
      fds.push_back({child.errors, POLLIN, 0});
    }
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) refuse("poll");
    for (std::size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      if (fds[2 * i].revents != 0 && child.result >= 0 && !drain(child.result, child.result_bytes)) {
        ::close(child.result);
        child.result = -1;
      }
      if (fds[2 * i + 1].revents != 0 && child.errors >= 0 && !drain(child.errors, child.error_bytes)) {
        ::close(child.errors);
        child.errors = -1;
      }
      if (child.result < 0 && child.errors < 0) return i;
    }
  }
}

std::string end_of(const std::string& text) {
  return text.size() <= kLastWords ? text : text.substr(text.size() - kLastWords);
}

/// What a child that has ended gave, or the error it ended with.
std::string collect(Child& child, std::optional<Error>& error) {
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string& bytes = child.result_bytes;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !bytes.empty()) {
    if (bytes[0] == static_cast<char>(Tag::result)) return bytes.substr(1);
    if (bytes.size() >= 2) {
      error.emplace(static_cast<ErrorKind>(bytes[1] - '0'), bytes.substr(2));
      return "";
    }
  }
  const std::string how = WIFSIGNALED(status)
                              ? std::string("was ended by signal ") + strsignal(WTERMSIG(status))
                              : "ended with status " + std::to_string(WEXITSTATUS(status));
  error.emplace(ErrorKind::runtime, "a simulation " + how, "call " + std::to_string(child.number),
                child.error_bytes.empty() ? "nothing was printed; memory may have run out"
                                          : "it last said: " + end_of(child.error_bytes));
  return "";
}

}  // namespace

std::vector<std::string> run_isolated(std::size_t count, int jobs,
                                      const std::function<std::string(std::size_t)>& task) {
  const std::size_t at_a_time = jobs > 0 ? static_cast<std::size_t>(jobs)
                                         : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::string> results(count);
  std::map<std::size_t, Error> errors;
  std::vector<Child> running;
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && running.size() < at_a_time && errors.empty())
      running.push_back(start(next++, task));
    if (running.empty()) break;
    const std::size_t ended = wait_for_one(running);
    std::optional<Error> error;
    results[running[ended].number] = collect(running[ended], error);
    if (error) errors.emplace(running[ended].number, *error);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(ended));
  }
  if (!errors.empty()) throw errors.begin()->second;
  return results;
}

}  // namespace lanecast
