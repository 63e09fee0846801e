#include "tests/hw/rendezvous/rank_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::chrono::seconds kPatience{20};

std::string last_word(const RankProcess::Body& body, const RankProcess::Say& say) {
  try {
    return body(say);
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::usage ? "usage: " : "runtime: ") + std::string(error.what());
  } catch (const std::exception& error) {
    return std::string("unexpected: ") + error.what();
  }
}

void write_word(int descriptor, const std::string& word) {
  // With its closing zero. Short enough for a pipe to take it whole.
  if (write(descriptor, word.c_str(), word.size() + 1) < 0) _exit(1);
}

}  // namespace

RankProcess::RankProcess(const Body& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    const int mouth = ends[1];
    const Say say = [mouth](const std::string& word) { write_word(mouth, word); };
    say(last_word(body, say));
    _exit(0);
  }
  close(ends[1]);
  ear_ = OwnedFile(ends[0]);
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), ear_(std::move(other.ear_)) {}

RankProcess::~RankProcess() { kill(); }

std::string RankProcess::hear() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string word;
  while (std::chrono::steady_clock::now() < end) {
    pollfd file{ear_.descriptor(), POLLIN, 0};
    if (poll(&file, 1, 100) <= 0) continue;
    char letter = 0;
    if (read(ear_.descriptor(), &letter, 1) != 1) break;
    if (letter == '\0') return word;
    word += letter;
  }
  return "(nothing)";
}

void RankProcess::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

void wait_to_be_killed() { poll(nullptr, 0, 30'000); }

OwnRuntimeFolder::OwnRuntimeFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "rendezvous-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the test");
  path_ = pattern;
  setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
}

OwnRuntimeFolder::~OwnRuntimeFolder() {
  unsetenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool OwnRuntimeFolder::appears(const std::string& name) const {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (std::filesystem::exists(meeting_file(name))) return true;
    std::this_thread::yield();
  }
  return false;
}

int OwnRuntimeFolder::files() const {
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator(path_ + "/lanecast")) {
    count += each.exists() ? 1 : 0;
  }
  return count;
}

}  // namespace lanecast
