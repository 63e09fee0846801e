#include "hw/rendezvous/watch.hpp"

#include <utility>

#include "hw/rendezvous/call_text.hpp"
#include "hw/rendezvous/rank_words.hpp"
#include "hw/rendezvous/roster.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPeriod{2};
constexpr int kUnexplainedLooks = 50;  // that an abort flag may be up before its reason is seen
constexpr int kLooksForPlace = 25;     // that kernels have to say where they were when they were ended

std::string whole(const std::string& what, const std::string& where, const std::string& mend) {
  return Error(ErrorKind::runtime, what, where, mend).what();
}

/// "in call 7: all_reduce of 1024 float (sum, ring, simple)".
std::string call_of(const StatusPage& page, std::uint64_t number) {
  std::string words = "in call " + std::to_string(number);
  if (const std::optional<CallEntry> call = entered_call(page, number)) words += ": " + call_in_words(*call);
  return words;
}

std::string last_call_of(const StatusPage& page) {
  const std::uint64_t calls = page.calls.load(std::memory_order_acquire);
  return calls == 0 ? "before its first call" : call_of(page, calls);
}

std::string place(const StatusBoard& board, const std::string& where) {
  return "rank " + std::to_string(board.rank()) + " of " + std::to_string(board.ranks()) + ", " + where;
}

/// The fault that a rank's device wrote.
std::optional<KernelFault> any_fault_of(StatusPage& page) {
  // The device writes `what` last, after a fence over the whole system.
  const std::uint32_t what = std::atomic_ref<std::uint32_t>(page.fault.what).load(std::memory_order_acquire);
  if (what == KernelFault::nothing) return std::nullopt;
  return page.fault;
}

/// The same, unless it only gave up because it was told to.
std::optional<KernelFault> fault_of(StatusPage& page) {
  const std::optional<KernelFault> fault = any_fault_of(page);
  return fault && fault->aborted == 0 ? fault : std::nullopt;
}

std::string awaited(const KernelFault& fault) {
  const std::string peer = "rank " + std::to_string(fault.peer);
  switch (fault.what) {
    case KernelFault::data:
      return "data of " + peer;
    case KernelFault::credit:
      return peer + " to free a place in its buffer";
    case KernelFault::drain:
      return peer + " to take the last data";
    default:
      return peer;
  }
}

/// The data that a rank waited for come from the peer; those whose room or delivery it waited for go there.
std::string path_of(const KernelFault& fault, int rank, const Watch::PathName& path) {
  return fault.what == KernelFault::data ? path(fault.peer, rank) : path(rank, fault.peer);
}

/// "data of rank 1 at step 3 of loop 0 (channel 0, slice 1; call 7) over host memory".
std::string wait_in_words(const StatusBoard& board, int rank, const KernelFault& fault,
                          const Watch::PathName& path) {
  std::string words = awaited(fault) + " at step " + std::to_string(fault.step) + " of loop " +
                      std::to_string(fault.loop) + " (channel " + std::to_string(fault.channel) + ", slice " +
                      std::to_string(fault.slice) + "; call " + std::to_string(fault.call) + ")";
  if (fault.peer >= 0 && fault.peer < board.ranks()) words += " over " + path_of(fault, rank, path);
  return words;
}

/// Whom the awaited rank itself waited for, and so on, to the one that has no such excuse: "; rank 2 waited
/// for data of rank 1 at ...".
/// @param last  in: the rank that was waited for; out: the last of the chain
std::string chain_in_words(StatusBoard& board, std::uint64_t call, const Watch::PathName& path, int& last) {
  std::string words;
  for (int link = 0; link < board.ranks() && last >= 0 && last < board.ranks(); ++link) {
    const std::optional<KernelFault> fault = any_fault_of(board.page(last));
    if (!fault || fault->call != call) break;
    words += "; rank " + std::to_string(last) + " waited for " + wait_in_words(board, last, *fault, path);
    last = fault->peer;
  }
  return words;
}

std::string fault_message(StatusBoard& board, int rank, const KernelFault& fault, const Watch::PathName& path,
                          milliseconds timeout) {
  std::string what = "rank " + std::to_string(rank) + " waited " + time_in_words(timeout) + " for " +
                     wait_in_words(board, rank, fault, path);
  int last = fault.peer;
  what += chain_in_words(board, fault.call, path, last);
  std::string peer = "the other ranks";
  if (last >= 0 && last < board.ranks()) {
    peer = "rank " + std::to_string(last);
    const std::uint64_t calls = board.page(last).calls.load(std::memory_order_acquire);
    if (calls < fault.call)
      what += "; " + peer + " has entered " + std::to_string(calls) + (calls == 1 ? " call" : " calls");
  }
  return whole(
      what, place(board, call_of(board.page(rank), fault.call)),
      "see what " + peer + " does and whether the path works; if it is only slow, take a longer time-out");
}

}  // namespace

Watch::Watch(Exchange& exchange, StatusBoard& board, PathName path, milliseconds timeout)
    : exchange_(exchange), board_(board), path_(std::move(path)), timeout_(timeout) {
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  stop_.store(true);
  thread_.join();
}

std::optional<std::string> Watch::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

void Watch::run() {
  int unexplained = 0;
  while (!stop_.load()) {
    look();
    const bool aborted = board_.own().abort.load(std::memory_order_acquire) != 0;
    if (aborted && !problem() && ++unexplained == kUnexplainedLooks) {
      keep(whole("another rank ended the communicator's calls and did not say why",
                 place(board_, last_call_of(board_.own())), "see the output of the other ranks"));
    }
    std::this_thread::sleep_for(kPeriod);
  }
}

void Watch::look() {
  if (problem()) return;
  if (const std::optional<std::string> message = found()) keep(*message);
}

void Watch::report(const std::string& message) {
  exchange_.give_up(first_line(message));  // so that the others learn why they are aborted
  keep(message);
}

void Watch::keep(const std::string& message) {
  const std::scoped_lock lock(mutex_);
  if (!problem_) problem_ = message;
  board_.abort_all();  // before anyone can see the problem
}

/// Ends everyone's kernels, and gives them a moment to say where they were waiting.
void Watch::end_waits() {
  board_.abort_all();
  for (int looks = 0; looks < kLooksForPlace; ++looks) {
    int waiting = 0;
    for (int rank = 0; rank < board_.ranks(); ++rank) waiting += any_fault_of(board_.page(rank)) ? 1 : 0;
    if (waiting == board_.ranks()) return;
    std::this_thread::sleep_for(kPeriod);
  }
}

std::optional<std::string> Watch::found() {
  const std::optional<LostRank> lost = exchange_.lost();
  const std::string here = place(board_, last_call_of(board_.own()));
  if (const std::optional<std::string> words = disagreement(board_)) {
    return whole(*words, here,
                 "let every rank make the same calls in the same order, with the same counts and settings");
  }
  for (int i = 0; i < board_.ranks(); ++i) {  // this rank first
    const int rank = (board_.rank() + i) % board_.ranks();
    const std::optional<KernelFault> fault = fault_of(board_.page(rank));
    if (!fault) continue;
    end_waits();
    return (i == 0 ? "" : "rank " + std::to_string(rank) + " reports: ") +
           fault_message(board_, rank, *fault, path_, timeout_);
  }
  if (!lost) return std::nullopt;
  const std::string who = "rank " + std::to_string(lost->rank);
  std::string what = who + " is gone: " + lost->how + ", while this rank was " + last_call_of(board_.own());
  end_waits();
  if (const std::optional<KernelFault> place = any_fault_of(board_.own()))
    what += " and waited for " + wait_in_words(board_, board_.rank(), *place, path_);
  return whole(what, here, "mend what ended " + who + " (see its own output), then start all ranks again");
}

}  // namespace lanecast
