#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hw/engine/engine_device.hpp"
#include "hw/engine/engine_paths.hpp"
#include "hw/engine/kernel_call.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/shared_memory.hpp"

namespace lanecast {

/// A rank's memory that others write into, and its view of theirs: device memory where any pair uses peer
/// memory, host memory where any two meet there.
class Mailboxes {
 public:
  /// Collective. @throws Error  kind runtime, on every rank: no memory, a handle that can't be opened
  Mailboxes(Exchange& exchange, EngineDevice& device, const EnginePaths& paths, const MailboxLayout& layout,
            std::uint64_t first_step);
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  const MailboxLayout& layout() const { return layout_; }

  /// Addresses and counters of a call.
  void fill(KernelCall& call) const;

  std::byte* own_host() const { return own_host_seen_; }
  std::byte* theirs_host(int rank) const { return theirs_host_seen_.at(static_cast<std::size_t>(rank)); }
  std::uint64_t* copy_bases() const { return copy_bases_; }  // out by channel, then in by channel

  std::uint64_t* copy_epoch() const { return copy_bases_ + 2 * kMostEngineChannels; }

  /// Closes others' memory; own memory is freed by the destructor. Between the two all ranks should meet.
  void close();

 private:
  void open_device_memory(Exchange& exchange);
  void open_host_memory(Exchange& exchange);
  void set_counters(std::uint64_t first_step);

  EngineDevice& device_;
  MailboxLayout layout_;
  int rank_;
  std::uint32_t staged_ = 0;
  bool any_peer_ = false;
  std::byte* own_device_ = nullptr;
  std::byte* private_ = nullptr;  // counters that this rank alone uses
  std::uint64_t* copy_bases_ = nullptr;
  std::uint32_t* broken_ = nullptr;
  std::byte* own_host_seen_ = nullptr;
  std::vector<SharedMemory> host_;  // of each rank; host-staged pairs only
  std::vector<std::byte*> theirs_device_;
  std::vector<std::byte*> theirs_host_seen_;
};

}  // namespace lanecast
