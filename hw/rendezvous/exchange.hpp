#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lanecast {

/// An open file, closed at the end.
class OwnedFile {
 public:
  OwnedFile() = default;
  explicit OwnedFile(int descriptor) : descriptor_(descriptor) {}
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept;
  OwnedFile& operator=(OwnedFile&& other) noexcept;

  int descriptor() const { return descriptor_; }  // -1: none
  int release();

 private:
  int descriptor_ = -1;
};

/// A rank that ended without saying goodbye.
struct LostRank {
  int rank = 0;
  std::string how;  // "its process 4711 ended", "it gave up: out of memory on gpu2"
};

/// How the ranks of one communicator talk while they set up, and notice that one of them is gone. Not for
/// data.
///
/// Every rank calls the same functions in the same order, from one thread. All waits end after the time-out
/// that the exchange was opened with.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Everyone's contribution, by rank.
  /// @param what  what is exchanged, for the error: "memory handles"
  /// @throws Error  kind runtime, naming the ranks that ended, gave up, or did not come within the time-out
  virtual std::vector<std::string> all_gather(const std::string& mine, const std::string& what) = 0;

  /// The same for open files; each rank gets descriptors of its own (its own one too).
  virtual std::vector<OwnedFile> all_gather_files(int descriptor, const std::string& what) = 0;

  /// The first rank found gone. Never blocks; may be called from another thread than the rest.
  virtual std::optional<LostRank> lost() = 0;

  /// Tells the others why this rank gives up: their calls fail and `lost` names it. For errors in set-up.
  virtual void give_up(const std::string& why) = 0;

  /// Says goodbye: that this rank ends is no loss from now on.
  virtual void leave() = 0;
};

/// Ranks that are threads of this process: one object a rank, joined by the state that they share.
std::vector<std::unique_ptr<Exchange>> thread_exchanges(int ranks, std::chrono::milliseconds timeout);

/// Where processes meet: a Unix socket in a folder of mode 0700 that only this user can enter.
struct MeetingPoint {
  std::string name;  // of the job; jobs of other names never meet. Letters, digits, '-', '_' and '.'
  int rank = 0;
  int ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Ranks that are processes of this machine and user. Rank 0 listens, the others connect; the socket file is
/// removed as soon as all are there, and what a crashed job of the same name left is cleaned away.
///
/// @throws Error  kind usage: a rank out of range, a name with other characters, two ranks of one number;
///                kind runtime: ranks that did not come (named), a peer of another user, a job of the same
///                name that is alive, a folder that others may enter
std::unique_ptr<Exchange> meet(const MeetingPoint& point);

}  // namespace lanecast
