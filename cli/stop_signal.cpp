#include "cli/stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace lanecast {
namespace {

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

extern "C" void keep_signal(int number) { last_signal = number; }

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  last_signal = 0;
  for (const int number : {SIGINT, SIGTERM}) handle(number, &keep_signal, SA_RESETHAND | SA_RESTART);
}

StopSignal::~StopSignal() {
  for (const int number : {SIGINT, SIGTERM}) handle(number, SIG_DFL, 0);
}

bool StopSignal::came() { return last_signal != 0; }

std::string StopSignal::name() {
  if (last_signal == 0) return "";
  return last_signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace lanecast
