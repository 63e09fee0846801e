#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/rendezvous/exchange.hpp"

namespace lanecast {

/// What a kernel could not wait for any longer. Written by the device, read by the host; plain words, since
/// both see them through mapped host memory.
struct KernelFault {
  enum What : std::uint32_t { nothing = 0, data = 1, credit = 2, drain = 3 };
  std::uint32_t what = nothing;  // written last
  std::int32_t peer = -1;        // rank that it waited for
  std::int32_t channel = 0;
  std::int32_t step = 0;
  std::uint64_t loop = 0;
  std::int32_t slice = 0;
  std::uint32_t aborted = 0;  // 1: it gave up because of the abort flag, not of the time-out
  std::uint64_t call = 0;     // number of the call in its communicator
};

/// A call as its rank entered it: ranks must agree about everything here.
struct CallEntry {
  std::uint64_t number = 0;  // from 1; 0: an empty entry
  std::uint64_t count = 0;   // elements
  std::int32_t collective = 0;
  std::int32_t datatype = 0;
  std::int32_t op = 0;
  std::int32_t root = -1;
  std::int32_t algorithm = 0;
  std::int32_t protocol = 0;
  std::int32_t staging = 0;
  std::int32_t shape = 0;  // digest of channels, threads, chunk and buffer

  bool operator==(const CallEntry&) const = default;
};

/// How far a rank has come in ending its communicator.
enum class EndStage : std::uint32_t {
  open,          // calls may be running
  calls_ended,   // none of its kernels runs any more
  memory_closed  // it has closed the memory of the others
};

/// One rank's page: 4 KiB of memory that all ranks, and its own device, see.
struct StatusPage {
  static constexpr std::size_t kEntries = 32;

  alignas(128) std::atomic<std::uint32_t> abort{0};  // 1: kernels give up; polled by the device
  alignas(128) KernelFault fault;                    // the first of this rank's device
  alignas(128) std::atomic<std::uint64_t> calls{0};  // how many this rank has entered
  std::array<CallEntry, kEntries> entries{};         // call n at n % kEntries; complete once `calls` >= n
  alignas(128) std::atomic<EndStage> stage{EndStage::open};
};
static_assert(sizeof(StatusPage) <= 4096);

/// The pages of all ranks of a communicator, in shared memory that has no name and so leaves nothing behind.
class StatusBoard {
 public:
  /// Collective: all ranks at once. @throws Error  as Exchange, or kind runtime: no memory
  explicit StatusBoard(Exchange& exchange);
  ~StatusBoard();
  StatusBoard(const StatusBoard&) = delete;
  StatusBoard& operator=(const StatusBoard&) = delete;

  static constexpr std::size_t kPageBytes = 4096;
  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(pages_.size()); }
  StatusPage& page(int rank) { return *pages_.at(static_cast<std::size_t>(rank)); }
  const StatusPage& page(int rank) const { return *pages_.at(static_cast<std::size_t>(rank)); }
  StatusPage& own() { return page(rank_); }

  /// Enters the next call of this rank (its `number` is set here); returns the number.
  std::uint64_t enter(CallEntry call);

  /// Raises the abort flag of every rank.
  void abort_all();

 private:
  int rank_;
  std::vector<StatusPage*> pages_;
};

/// The first call in which ranks differ, in words: "ranks disagree about call 7: rank 0 calls all_reduce of
/// 1024 float (sum, ring, simple), rank 1 all_reduce of 2048 float ..."; absent: none that is still on the
/// board.
std::optional<std::string> disagreement(const StatusBoard& board);

}  // namespace lanecast
