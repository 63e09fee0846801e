#pragma once
#include <cstddef>
#include <cstdint>

#include "hw/kernels/turn_context_device.cuh"

namespace lanecast::device {

/// Simple on kernels: plain data in the slots, one counter as the flag of a whole slice. A warp of its own
/// behind the workers sees to the flags, so that its fence does not hold them up (facts.md A4).
template <class T, bool Sum, KernelShape Shape>
class SimplePrimitives : public TurnContext<T, Sum, Shape> {
  using Base = TurnContext<T, Sum, Shape>;
  static constexpr bool kRing = Shape == KernelShape::ring;
  static constexpr int kWorkersMeet = 1;  // barriers of the block; 0 is __syncthreads
  static constexpr int kAllMeet = 2;
  static constexpr int kUnroll = 4;  // packs in flight a thread

 public:
  using Base::Base;  // threads: of the workers

  __device__ void run(const Turn& turn, const Slice& slice) {
    if (static_cast<int>(threadIdx.x) < this->threads_) {
      this->record_begin();
      wait_for_peers(turn, slice);
      block_barrier(kWorkersMeet, this->threads_);
      this->record_ready();
      if (slice.count > 0 && !this->wait_.gave_up()) move(turn, slice);
      this->record_end(turn, slice);
      block_barrier(kAllMeet, this->threads_ + 32);
    } else {
      block_barrier(kAllMeet, this->threads_ + 32);
      if (!this->wait_.gave_up()) post(turn);
    }
    this->sent_.advance(turn.to, this->slots());
    this->taken_.advance(turn.from, this->slots());
  }

 private:
  /// Each of the first threads waits for one counter.
  __device__ void wait_for_peers(const Turn& turn, const Slice& slice) {
    if (this->wait_.gave_up()) return;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < turn.from.count) {
      const int peer = kRing ? turn.from.named[0] : turn.from.at(thread);
      const std::uint64_t step = this->step_in(peer);
      const std::uint64_t* tail = this->ends_.in[peer].awaits;
      this->wait_.until([&] { return load_counter(tail) > step; }, KernelFault::data, peer,
                        this->place(slice));
    }
    const int receiver =
        thread - (this->threads_ > 32 ? 32 : kMostEngineRanks);  // another warp, if there is one
    if (receiver >= 0 && receiver < turn.to.count) {
      const int peer = kRing ? turn.to.named[0] : turn.to.at(receiver);
      const std::uint64_t step = this->step_out(peer);
      End& end = this->ends_.out[peer];
      std::uint64_t head = end.credit;
      if (this->has_credit(head, step)) return;
      this->wait_.until(
          [&] {
            head = load_counter(end.awaits);
            return this->has_credit(head, step);
          },
          KernelFault::credit, peer, this->place(slice));
      end.credit = head;
    }
  }

  /// The last warp: what has been stored is made visible, then said to be there; what has been read is given
  /// back.
  __device__ void post(const Turn& turn) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < turn.from.count && gives_back(this->call_)) {
      const int peer = kRing ? turn.from.named[0] : turn.from.at(lane);
      store_counter(this->ends_.in[peer].posts, this->step_in(peer) + 1);
    }
    if (lane < turn.to.count) {
      const int peer = kRing ? turn.to.named[0] : turn.to.at(lane);
      fence_system();
      store_counter(this->ends_.out[peer].posts, this->step_out(peer) + 1);
    }
  }

  /// Where the data of a slice come from and go to.
  struct Places {
    const std::byte* own = nullptr;   // null: not used
    const std::byte* came = nullptr;  // slot of the one source
    std::byte* kept = nullptr;
    std::byte* sent = nullptr;  // slot towards the one destination
    bool own_first = false;
  };

  __device__ void move(const Turn& turn, const Slice& slice) {
    Places places;
    if (turn.own != Own::nothing) places.own = this->own_share(turn, slice);
    if (turn.keeps) places.kept = this->kept_share(slice);
    const std::uint64_t bytes = slice.count * sizeof(T);
    if (!kRing && (turn.from.count > 1 || turn.to.count > 1)) {
      move_among_many(turn, places, bytes);
      return;
    }
    if (turn.from.count == 1) {
      const int peer = this->first_of(turn.from);
      places.came = this->slot_in(peer);
      places.own_first = this->work_.position < peer;
    }
    if (turn.to.count == 1) {
      const int peer = this->first_of(turn.to);
      places.sent = this->slot_out(peer);
    }
    move_as(turn, places, bytes);
  }

  /// One loop for each thing that a turn can do, without a question inside.
  __device__ void move_as(const Turn& turn, const Places& places, std::uint64_t bytes) {
    switch (action_of(turn)) {
      case TurnAction::send:
        return move_packs<false, true, false, true>(turn, places, bytes);
      case TurnAction::keep_send:
        return move_packs<false, true, true, true>(turn, places, bytes);
      case TurnAction::reduce_send:
        return move_packs<true, true, false, true>(turn, places, bytes);
      case TurnAction::reduce_keep_send:
        return move_packs<true, true, true, true>(turn, places, bytes);
      case TurnAction::reduce_keep:
        return move_packs<true, true, true, false>(turn, places, bytes);
      case TurnAction::copy_send:
        return move_packs<true, false, true, true>(turn, places, bytes);
      case TurnAction::copy:
        return move_packs<true, false, true, false>(turn, places, bytes);
    }
  }

  template <bool Came, bool OwnIn, bool Kept, bool Sent>
  __device__ void move_packs(const Turn& turn, const Places& places, std::uint64_t bytes) {
    const bool aligned = (!OwnIn || is_aligned(places.own, 16)) && (!Kept || is_aligned(places.kept, 16));
    const auto workers = static_cast<std::uint64_t>(this->threads_);
    std::uint64_t done = 0;
    if (aligned) {
      const std::uint64_t packs = bytes / 16;
      std::uint64_t i = threadIdx.x;
      for (; i + (kUnroll - 1) * workers < packs; i += kUnroll * workers)
        some_packs<kUnroll, Came, OwnIn, Kept, Sent>(turn, places, i, workers);
      for (; i < packs; i += workers) some_packs<1, Came, OwnIn, Kept, Sent>(turn, places, i, workers);
      done = packs * 16;
    }
    for (std::uint64_t at = done + threadIdx.x * sizeof(T); at < bytes; at += workers * sizeof(T))
      one_element<Came, OwnIn, Kept, Sent>(turn, places, at);
  }

  template <int Count, bool Came, bool OwnIn, bool Kept, bool Sent>
  __device__ void some_packs(const Turn& turn, const Places& places, std::uint64_t first,
                             std::uint64_t stride) {
    Pack value[Count];
    Pack own[Count];
#pragma unroll
    for (int u = 0; u < Count; ++u) {
      const std::uint64_t at = (first + u * stride) * 16;
      if constexpr (Came) value[u] = load_shared_pack(places.came + at);
      if constexpr (OwnIn) own[u] = *reinterpret_cast<const Pack*>(places.own + at);
    }
#pragma unroll
    for (int u = 0; u < Count; ++u) {
      const std::uint64_t at = (first + u * stride) * 16;
      if constexpr (Came && OwnIn) {
        value[u] = sum_of(turn, own[u], value[u], places.own_first);
      } else if constexpr (OwnIn) {
        value[u] = own[u];
      }
      if constexpr (Kept) *reinterpret_cast<Pack*>(places.kept + at) = value[u];
      if constexpr (Sent) *reinterpret_cast<Pack*>(places.sent + at) = value[u];
    }
  }

  __device__ Pack sum_of(const Turn& turn, const Pack& own, const Pack& came, bool own_first) const {
    return {sum_of(turn, own.low, came.low, own_first), sum_of(turn, own.high, came.high, own_first)};
  }

  /// Values are chosen from, not places: a choice of two places would put both packs into local memory.
  __device__ std::uint64_t sum_of(const Turn& turn, std::uint64_t own, std::uint64_t came,
                                  bool own_first) const {
    const std::uint64_t a = own_first ? own : came;
    const std::uint64_t b = own_first ? came : own;
    return this->finished(turn, this->combine(a, b));
  }

  using Bits = typename BitsOf<sizeof(T)>::type;
  static __device__ std::uint64_t element_of(const std::byte* from) {
    return *reinterpret_cast<const volatile Bits*>(from);
  }
  static __device__ void put_element(std::byte* to, std::uint64_t word) {
    *reinterpret_cast<Bits*>(to) = static_cast<Bits>(word);
  }

  template <bool Came, bool OwnIn, bool Kept, bool Sent>
  __device__ void one_element(const Turn& turn, const Places& places, std::uint64_t at) {
    std::uint64_t value = 0;
    if constexpr (Came && OwnIn) {
      const std::uint64_t own = element_of(places.own + at);
      const std::uint64_t came = element_of(places.came + at);
      value = this->finished(turn, places.own_first ? this->combine(own, came) : this->combine(came, own));
    } else {
      value = element_of((Came ? places.came : places.own) + at);
    }
    if constexpr (Kept) put_element(places.kept + at, value);
    if constexpr (Sent) put_element(places.sent + at, value);
  }

  /// Several sources or destinations: packs while they fit and are aligned, then elements.
  __device__ void move_among_many(const Turn& turn, const Places& places, std::uint64_t bytes) {
    const bool aligned = (places.own == nullptr || is_aligned(places.own, 16)) &&
                         (places.kept == nullptr || is_aligned(places.kept, 16));
    const auto workers = static_cast<std::uint64_t>(this->threads_);
    const std::uint64_t packs = aligned ? bytes / 16 : 0;
    for (std::uint64_t i = threadIdx.x; i < packs; i += workers) pack_among_many(turn, places, i * 16);
    for (std::uint64_t at = packs * 16 + threadIdx.x * sizeof(T); at < bytes; at += workers * sizeof(T))
      element_among_many(turn, places, at);
  }

  __device__ void pack_among_many(const Turn& turn, const Places& places, std::uint64_t at) {
    const Contributors contributors(turn, this->work_.position, this->work_.ranks);
    Pack sum{0, 0};
    for (int k = 0; k < contributors.count(); ++k) {
      const int peer = contributors.at(k);
      const Pack part = peer < 0 ? *reinterpret_cast<const Pack*>(places.own + at)
                                 : load_shared_pack(this->slot_in(peer) + at);
      sum = k == 0 ? part : Pack{this->combine(sum.low, part.low), this->combine(sum.high, part.high)};
    }
    sum = {this->finished(turn, sum.low), this->finished(turn, sum.high)};
    if (places.kept != nullptr) *reinterpret_cast<Pack*>(places.kept + at) = sum;
    for (int i = 0; i < turn.to.count; ++i) {
      const int peer = turn.to.at(i);
      *reinterpret_cast<Pack*>(this->slot_out(peer) + at) = sum;
    }
  }

  __device__ void element_among_many(const Turn& turn, const Places& places, std::uint64_t at) {
    const Contributors contributors(turn, this->work_.position, this->work_.ranks);
    std::uint64_t sum = 0;
    for (int k = 0; k < contributors.count(); ++k) {
      const int peer = contributors.at(k);
      const std::uint64_t part = element_of((peer < 0 ? places.own : this->slot_in(peer)) + at);
      sum = k == 0 ? part : this->combine(sum, part);
    }
    sum = this->finished(turn, sum);
    if (places.kept != nullptr) put_element(places.kept + at, sum);
    for (int i = 0; i < turn.to.count; ++i) {
      const int peer = turn.to.at(i);
      put_element(this->slot_out(peer) + at, sum);
    }
  }
};

}  // namespace lanecast::device
