#include "hw/engine/mailboxes.hpp"

#include <cstring>

#include "hw/engine/fail_together.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::string rank_name(int rank) { return "rank " + std::to_string(rank); }

}  // namespace

Mailboxes::Mailboxes(Exchange& exchange, EngineDevice& device, const EnginePaths& paths,
                     const MailboxLayout& layout, std::uint64_t first_step)
    : device_(device),
      layout_(layout),
      rank_(exchange.rank()),
      host_(paths.size()),
      theirs_device_(paths.size()),
      theirs_host_seen_(paths.size()) {
  for (int peer = 0; peer < static_cast<int>(paths.size()); ++peer) {
    if (peer == rank_) continue;
    const bool staged = paths[at(rank_)][at(peer)].transport == Transport::shm;
    if (staged) staged_ |= 1u << peer;
    any_peer_ = any_peer_ || !staged;
  }
  try {
    open_device_memory(exchange);
    open_host_memory(exchange);
    together(exchange, "set the counters", [&] { set_counters(first_step); });
  } catch (...) {
    close();
    if (own_host_seen_ != nullptr) device_.unmap_host(static_cast<std::byte*>(host_[at(rank_)].data()));
    device_.free(own_device_);
    device_.free(private_);
    throw;
  }
}

Mailboxes::~Mailboxes() {
  close();
  if (own_host_seen_ != nullptr) device_.unmap_host(static_cast<std::byte*>(host_[at(rank_)].data()));
  device_.free(own_device_);
  device_.free(private_);
}

void Mailboxes::close() {
  for (int peer = 0; peer < static_cast<int>(theirs_device_.size()); ++peer) {
    if (theirs_device_[at(peer)] != nullptr) device_.close_memory(theirs_device_[at(peer)]);
    theirs_device_[at(peer)] = nullptr;
    if (theirs_host_seen_[at(peer)] != nullptr)
      device_.unmap_host(static_cast<std::byte*>(host_[at(peer)].data()));
    theirs_host_seen_[at(peer)] = nullptr;
  }
}

/// Ranks that need none still take part.
void Mailboxes::open_device_memory(Exchange& exchange) {
  std::string exported;
  together(exchange, "allocate the mailboxes", [&] {
    if (any_peer_) {
      own_device_ = device_.allocate(Bytes(device_bytes(layout_)), "the mailbox of " + rank_name(rank_));
      exported = device_.export_memory(own_device_);
    }
    const std::uint64_t states = sizeof(ConnectionState) * at(state_count(layout_));
    const std::uint64_t bases = sizeof(std::uint64_t) * (2 * kMostEngineChannels + 1);  // and the epoch
    private_ =
        device_.allocate(Bytes(states + bases + sizeof *broken_), "the counters of " + rank_name(rank_));
    copy_bases_ = reinterpret_cast<std::uint64_t*>(private_ + states);
    broken_ = reinterpret_cast<std::uint32_t*>(private_ + states + bases);
  });
  const std::vector<std::string> handles = exchange.all_gather(exported, "memory handles");
  together(exchange, "open the mailboxes", [&] {
    for (int peer = 0; peer < layout_.ranks; ++peer) {
      if (peer != rank_ && (staged_ >> peer & 1u) == 0)
        theirs_device_[at(peer)] = device_.open_memory(handles[at(peer)]);
    }
  });
}

void Mailboxes::open_host_memory(Exchange& exchange) {
  const Bytes size(host_bytes(layout_));
  SharedMemory own;
  together(exchange, "allocate host memory", [&] {
    own = SharedMemory::create(staged_ != 0 ? size.value() : 4096, "the mailbox of " + rank_name(rank_));
  });
  std::vector<OwnedFile> files = exchange.all_gather_files(own.descriptor(), "host memory");
  together(exchange, "map host memory", [&] {
    for (int peer = 0; peer < layout_.ranks; ++peer) {
      if (peer == rank_ || (staged_ >> peer & 1u) == 0) continue;
      host_[at(peer)] =
          SharedMemory::open(std::move(files[at(peer)]), size.value(), "the mailbox of " + rank_name(peer));
      theirs_host_seen_[at(peer)] = device_.map_host(static_cast<std::byte*>(host_[at(peer)].data()), size);
    }
    if (staged_ == 0) return;
    own.close_file();
    host_[at(rank_)] = std::move(own);
    own_host_seen_ = device_.map_host(static_cast<std::byte*>(host_[at(rank_)].data()), size);
  });
}

/// All counters begin with the same number: own tails and heads, and the steps of all connections.
void Mailboxes::set_counters(std::uint64_t first_step) {
  if (first_step == 0) return;
  std::vector<ConnectionState> states(at(state_count(layout_)));
  for (ConnectionState& state : states) state.step = first_step;
  device_.write(private_, states.data(), sizeof(ConnectionState) * states.size());
  const std::vector<std::uint64_t> bases(2 * kMostEngineChannels, first_step);
  device_.write(reinterpret_cast<std::byte*>(copy_bases_), bases.data(), 8 * bases.size());
  std::vector<std::uint64_t> flags(flag_bytes(layout_) / sizeof(std::uint64_t), first_step);
  if (own_device_ != nullptr) device_.write(own_device_, flags.data(), 8 * flags.size());
  if (own_host_seen_ == nullptr) return;
  auto* host = static_cast<std::byte*>(host_[at(rank_)].data());
  std::memcpy(host, flags.data(), 8 * flags.size());
  for (int channel = 0; channel < layout_.copy_channels; ++channel) {
    std::memcpy(host + copy_tail_offset(layout_, channel), &first_step, sizeof first_step);
    std::memcpy(host + copy_head_offset(layout_, channel), &first_step, sizeof first_step);
  }
}

void Mailboxes::fill(KernelCall& call) const {
  call.layout = layout_;
  call.places = places_of(layout_, call.protocol, takes_ring_connections(call));
  call.staged = staged_;
  call.own_device = own_device_;
  call.own_host = own_host_seen_;
  for (int peer = 0; peer < layout_.ranks; ++peer)
    call.theirs[peer] = (staged_ >> peer & 1u) != 0 ? theirs_host_seen_[at(peer)] : theirs_device_[at(peer)];
  call.states = reinterpret_cast<ConnectionState*>(private_);
  call.broken = broken_;
}

}  // namespace lanecast
