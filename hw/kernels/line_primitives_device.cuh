#pragma once
#include "hw/kernels/lines_device.cuh"
#include "hw/kernels/turn_context_device.cuh"

namespace lanecast::device {

/// LL and LL128 on kernels: data and flag travel in one line, so that there is no fence and no flag of a
/// slice. What a line is, `Lines` says: how a thread takes and puts its part of one.
///
/// Every thread takes and puts lines of its own, the same ones for all turns about the same slice; the block
/// meets after each slice that was taken only where its slot is given back at once, and where the next turn
/// may be cut otherwise.
template <class T, bool Sum, KernelShape Shape, class Lines>
class LinePrimitives : public TurnContext<T, Sum, Shape> {
  using Base = TurnContext<T, Sum, Shape>;
  static constexpr bool kRing = Shape == KernelShape::ring;

 public:
  using Base::Base;

  __device__ void run(const Turn& turn, const Slice& slice) {
    this->record_begin();
    const bool going = wait_for_credit(turn, slice);
    if (going && slice.count > 0) move(turn, slice);
    this->record_end(turn, slice);
    this->sent_.advance(turn.to, this->slots());
    give_back(turn);
  }

 private:
  /// All threads look at what one of them read last; only where that is not enough, the block meets.
  __device__ bool wait_for_credit(const Turn& turn, const Slice& slice) {
    this->each(turn.to, [&](int peer) {
      End& end = this->ends_.out[peer];
      const std::uint64_t step = this->step_out(peer);
      if (this->has_credit(end.credit, step)) return;
      __syncthreads();  // everyone has seen the old credit
      if (threadIdx.x == 0) read_credit(end, step, peer, slice);
      __syncthreads();
    });
    return !Lines::any(this->wait_.gave_up());
  }

  __device__ void read_credit(End& end, std::uint64_t step, int peer, const Slice& slice) {
    if (this->wait_.gave_up()) return;
    std::uint64_t head = end.credit;
    this->wait_.until(
        [&] {
          head = load_counter(end.awaits);
          return this->has_credit(head, step);
        },
        KernelFault::credit, peer, this->place(slice));
    end.credit = head;
  }

  __device__ void move(const Turn& turn, const Slice& slice) {
    const std::uint64_t bytes = slice.count * sizeof(T);
    const bool aligned = is_aligned(this->own_share(turn, slice), 8) &&
                         (!turn.keeps || is_aligned(this->kept_share(slice), 8));
    const bool single = Lines::units(bytes) <= Lines::stride(this->threads_);  // a small slice: no loop
    if (turn.from.count == 0) {
      single ? each_line<1, false>(turn, slice, bytes, aligned)
             : each_line<Lines::unroll, false>(turn, slice, bytes, aligned);
    } else {
      single ? each_line<1, true>(turn, slice, bytes, aligned)
             : each_line<Lines::unroll, true>(turn, slice, bytes, aligned);
    }
  }

  /// @tparam Count  lines in flight a thread
  template <int Count, bool Takes>
  __device__ void each_line(const Turn& turn, const Slice& slice, std::uint64_t bytes, bool aligned) {
    const std::uint64_t units = Lines::units(bytes);
    const std::uint64_t stride = Lines::stride(this->threads_);
    for (std::uint64_t first = Lines::first(); first < units; first += Count * stride) {
      typename Lines::Part parts[Count];
      bool good = true;
      if (kRing || turn.from.count <= 1) {
        good = one_source<Count, Takes>(turn, slice, bytes, aligned, first, stride, parts);
      } else {
        for (int u = 0; u < Count; ++u) {
          if (first + u * stride < units)
            good = good && many_sources(turn, slice, bytes, aligned, first + u * stride, parts[u]);
        }
      }
      if (!good) return;
#pragma unroll
      for (int u = 0; u < Count; ++u) {
        const std::uint64_t unit = first + u * stride;
        if (unit < units) put(turn, slice, bytes, aligned, unit, parts[u]);
      }
    }
  }

  /// What came from one peer, combined with the own where the turn does so; loads of several lines at once.
  template <int Count, bool Takes>
  __device__ bool one_source(const Turn& turn, const Slice& slice, std::uint64_t bytes, bool aligned,
                             std::uint64_t first, std::uint64_t stride,
                             typename Lines::Part (&parts)[Count]) {
    const std::uint64_t units = Lines::units(bytes);
    typename Lines::Part own[Count];
    if (turn.own != Own::nothing) {
      const std::byte* share = this->own_share(turn, slice);
#pragma unroll
      for (int u = 0; u < Count; ++u) {
        if (first + u * stride < units)
          own[u] = Lines::template load<sizeof(T)>(share, first + u * stride, bytes, aligned);
      }
    }
    if constexpr (!Takes) {
#pragma unroll
      for (int u = 0; u < Count; ++u) parts[u] = own[u];
      return true;
    } else {
      const int peer = this->first_of(turn.from);
      const std::uint64_t step = this->step_in(peer);
      const std::byte* slot = this->slot_in(peer);
      const bool came = this->wait_.until(
          [&] {
            bool all = true;
#pragma unroll
            for (int u = 0; u < Count; ++u) {
              if (first + u * stride < units)
                all = Lines::take(slot, first + u * stride, step, parts[u]) && all;
            }
            return Lines::all_agree(all);
          },
          KernelFault::data, peer, this->place(slice), [](bool over) { return Lines::any(over); });
      if (!came) return false;
      this->record_ready();
      if (turn.own == Own::nothing) return true;
      const bool own_first = this->work_.position < peer;
#pragma unroll
      for (int u = 0; u < Count; ++u) {
        parts[u] = own_first ? combined_parts(own[u], parts[u]) : combined_parts(parts[u], own[u]);
        finish(turn, parts[u]);
      }
      return true;
    }
  }

  /// What came from several, and the own, in the order of positions.
  __device__ bool many_sources(const Turn& turn, const Slice& slice, std::uint64_t bytes, bool aligned,
                               std::uint64_t unit, typename Lines::Part& sum) {
    const Contributors contributors(turn, this->work_.position, this->work_.ranks);
    for (int k = 0; k < contributors.count(); ++k) {
      const int peer = contributors.at(k);
      typename Lines::Part part;
      if (peer < 0) {
        part = Lines::template load<sizeof(T)>(this->own_share(turn, slice), unit, bytes, aligned);
      } else {
        const std::uint64_t step = this->step_in(peer);
        const std::byte* slot = this->slot_in(peer);
        const bool came = this->wait_.until(
            [&] { return Lines::all_agree(Lines::take(slot, unit, step, part)); }, KernelFault::data, peer,
            this->place(slice), [](bool over) { return Lines::any(over); });
        if (!came) return false;
      }
      sum = k == 0 ? part : combined_parts(sum, part);
    }
    this->record_ready();
    finish(turn, sum);
    return true;
  }

  __device__ typename Lines::Part combined_parts(const typename Lines::Part& a,
                                                 const typename Lines::Part& b) {
    typename Lines::Part sum;
#pragma unroll
    for (int i = 0; i < Lines::Part::words; ++i) sum.at[i] = this->combine(a.at[i], b.at[i]);
    return sum;
  }
  __device__ void finish(const Turn& turn, typename Lines::Part& part) {
#pragma unroll
    for (int i = 0; i < Lines::Part::words; ++i) part.at[i] = this->finished(turn, part.at[i]);
  }

  __device__ void put(const Turn& turn, const Slice& slice, std::uint64_t bytes, bool aligned,
                      std::uint64_t unit, const typename Lines::Part& part) {
    this->each(turn.to, [&](int peer) {
      const std::uint64_t step = this->step_out(peer);
      Lines::put(this->slot_out(peer), unit, step, part);
    });
    if (turn.keeps) Lines::template store<sizeof(T)>(this->kept_share(slice), unit, bytes, aligned, part);
  }

  __device__ void give_back(const Turn& turn) {
    if (turn.from.count == 0) return;
    // All lines of the slot have been read. Rings and one-shots are about a region in the same slices each
    // time; in other schedules a thread's next turn may read what another one has kept in this.
    if (gives_back(this->call_) || Shape == KernelShape::any) __syncthreads();
    if (gives_back(this->call_)) {
      if (threadIdx.x == 0 && !this->wait_.gave_up()) {
        this->each(turn.from,
                   [&](int peer) { store_counter(this->ends_.in[peer].posts, this->step_in(peer) + 1); });
      }
    }
    this->taken_.advance(turn.from, this->slots());
  }
};

}  // namespace lanecast::device
