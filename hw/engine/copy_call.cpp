#include "hw/engine/copy_call.hpp"

#include <vector>

#include "hw/rendezvous/status_board.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Lane = CopyEngines::Lane;

/// One call while it is issued. Connections are those of a ring: in from the previous rank, out to the next.
class CopyIssue {
 public:
  CopyIssue(const CallPlan& plan, const KernelCall& call, const Mailboxes& mailboxes, CopyEngines& engines)
      : plan_(plan),
        call_(call),
        layout_(mailboxes.layout()),
        engines_(engines),
        mailboxes_(mailboxes),
        sent_(plan.works.size()),
        taken_(plan.works.size()),
        scratch_use_(plan.works.size() * at(layout_.copy_slots), -1) {
    const ChannelWork& work = plan.works.front();
    next_ = (work.position + 1) % work.ranks;
    previous_ = (work.position + work.ranks - 1) % work.ranks;
  }

  void run(std::uint64_t* done, const std::uint64_t* epoch, const std::function<bool()>& stopped) {
    engines_.begin();
    for (const CopyTurn& entry : plan_.copy_turns) {
      if (stopped()) return;
      turn(entry);
    }
    BaseAdvance advance;
    advance.bases = mailboxes_.copy_bases();
    advance.count = 2 * kMostEngineChannels;
    for (std::size_t channel = 0; channel < sent_.size(); ++channel) {
      advance.by[channel] = sent_[channel];
      advance.by[kMostEngineChannels + channel] = taken_[channel];
    }
    engines_.end(advance, done, epoch, call_.broken);
  }

 private:
  static Lane in_lane(int channel) { return channel % 2 == 0 ? CopyEngines::in_even : CopyEngines::in_odd; }
  static Lane out_lane(int channel) {
    return channel % 2 == 0 ? CopyEngines::out_even : CopyEngines::out_odd;
  }
  const std::uint64_t* base_out(int channel) const { return mailboxes_.copy_bases() + channel; }
  const std::uint64_t* base_in(int channel) const {
    return mailboxes_.copy_bases() + kMostEngineChannels + channel;
  }
  std::size_t bytes_of(const Slice& slice) const {
    return slice.count * static_cast<std::size_t>(call_.work.element_bytes);
  }
  static std::uint64_t* counter(std::byte* mailbox, std::uint64_t offset) {
    return reinterpret_cast<std::uint64_t*>(mailbox + offset);
  }

  /// All-gather's input and reduce-scatter's output are one rank's block.
  const std::byte* own_share(const Turn& turn, const Slice& slice) const {
    if (turn.own == Own::output) return kept_share(slice);
    const bool block = call_.work.collective == Collective::all_gather;
    return static_cast<const std::byte*>(call_.input) +
           (block ? slice.block_offset : slice.offset) * at(call_.work.element_bytes);
  }
  std::byte* kept_share(const Slice& slice) const {
    const bool block = call_.work.collective == Collective::reduce_scatter;
    return static_cast<std::byte*>(call_.output) +
           (block ? slice.block_offset : slice.offset) * at(call_.work.element_bytes);
  }

  CopyWait wait_of(const CopyTurn& entry, std::uint32_t what, int peer) const {
    CopyWait wait;
    wait.what = what;
    wait.peer = peer;
    wait.channel = entry.channel;
    wait.step = entry.slice.step;
    wait.loop = entry.slice.loop;
    wait.slice = entry.slice.slice;
    return wait;
  }

  void turn(const CopyTurn& entry) {
    const Turn& turn = entry.turn;
    const std::byte* value = own_or_null(turn, entry.slice);
    int ready = -1;  // mark behind which `value` is there
    int scratch = -1;
    if (turn.from.count > 0) {
      if (turn.own != Own::nothing)
        scratch = entry.channel * layout_.copy_slots + slot_of(taken_[at(entry.channel)]);
      std::byte* place = scratch < 0 ? kept_share(entry.slice) : scratch_at(scratch);
      ready = take(entry, place, scratch);
      value = place;
      if (scratch >= 0) {
        value = sum(entry, place);
        ready = engines_.mark(in_lane(entry.channel));
      }
    } else if (turn.keeps && bytes_of(entry.slice) > 0) {
      engines_.copy(in_lane(entry.channel), kept_share(entry.slice), value, bytes_of(entry.slice));
    }
    if (turn.to.count > 0) ready = give(entry, value, ready);
    if (scratch >= 0) scratch_use_[at(scratch)] = ready;
  }

  const std::byte* own_or_null(const Turn& turn, const Slice& slice) const {
    return turn.own == Own::nothing ? nullptr : own_share(turn, slice);
  }
  int slot_of(std::uint32_t step) const {
    return static_cast<int>(step % static_cast<unsigned>(layout_.copy_slots));
  }
  std::byte* scratch_at(int index) {
    return engines_.scratch(copy_scratch_bytes(layout_)) + layout_.copy_slot_bytes * at(index);
  }

  /// Host memory of this rank into its device memory, and the slot back to its sender.
  int take(const CopyTurn& entry, std::byte* to, int scratch) {
    const Lane lane = in_lane(entry.channel);
    std::uint32_t& taken = taken_[at(entry.channel)];
    if (scratch >= 0 && scratch_use_[at(scratch)] >= 0) engines_.follow(lane, scratch_use_[at(scratch)]);
    CopyWait wait = wait_of(entry, KernelFault::data, previous_);
    wait.counter = counter(mailboxes_.own_host(), copy_tail_offset(layout_, entry.channel));
    wait.base = base_in(entry.channel);
    wait.relative = taken + 1;
    engines_.wait(lane, call_, wait);
    if (bytes_of(entry.slice) > 0) {
      const std::byte* slot =
          mailboxes_.own_host() + copy_slot_offset(layout_, entry.channel, slot_of(taken));
      engines_.copy(lane, to, slot, bytes_of(entry.slice));
    }
    ++taken;
    std::byte* sender = mailboxes_.theirs_host(previous_);
    engines_.post(lane, counter(sender, copy_head_offset(layout_, entry.channel)), base_in(entry.channel),
                  taken, call_.broken);
    return engines_.mark(lane);
  }

  /// What came and the own, in the order of positions, into the output or back into the scratch.
  std::byte* sum(const CopyTurn& entry, std::byte* came) {
    const Turn& turn = entry.turn;
    std::byte* to = turn.keeps ? kept_share(entry.slice) : came;
    if (entry.slice.count == 0) return to;
    const std::byte* own = own_share(turn, entry.slice);
    const bool own_first = call_.work.position < previous_;
    const auto op = static_cast<ReduceOp>(call_.op);
    const int finish = turn.finishes && op == ReduceOp::avg ? call_.work.ranks : 0;
    engines_.combine(in_lane(entry.channel), static_cast<Datatype>(call_.datatype), op, to,
                     own_first ? own : came, own_first ? came : own, entry.slice.count, finish);
    return to;
  }

  /// Device memory of this rank into the next one's slot, as soon as that is free.
  int give(const CopyTurn& entry, const std::byte* value, int ready) {
    const Lane lane = out_lane(entry.channel);
    std::uint32_t& sent = sent_[at(entry.channel)];
    if (ready >= 0) engines_.follow(lane, ready);
    CopyWait wait = wait_of(entry, KernelFault::credit, next_);
    wait.counter = counter(mailboxes_.own_host(), copy_head_offset(layout_, entry.channel));
    wait.base = base_out(entry.channel);
    const auto slots = static_cast<std::uint32_t>(layout_.copy_slots);
    wait.relative =
        sent < slots ? 0 : sent + 1 - slots;  // slots are counted from the call's begin: all free then
    engines_.wait(lane, call_, wait);
    std::byte* receiver = mailboxes_.theirs_host(next_);
    if (bytes_of(entry.slice) > 0) {
      std::byte* slot = receiver + copy_slot_offset(layout_, entry.channel, slot_of(sent));
      engines_.copy(lane, slot, value, bytes_of(entry.slice));
    }
    ++sent;
    engines_.post(lane, counter(receiver, copy_tail_offset(layout_, entry.channel)), base_out(entry.channel),
                  sent, call_.broken);
    return engines_.mark(lane);
  }

  const CallPlan& plan_;
  const KernelCall& call_;
  const MailboxLayout& layout_;
  CopyEngines& engines_;
  const Mailboxes& mailboxes_;
  std::vector<std::uint32_t> sent_;   // by channel
  std::vector<std::uint32_t> taken_;  // by channel
  std::vector<int> scratch_use_;      // mark behind which a place is free again; -1: it is
  int next_ = 0;
  int previous_ = 0;
};

}  // namespace

std::size_t copy_scratch_bytes(const MailboxLayout& layout) {
  return layout.copy_slot_bytes * at(layout.copy_channels * layout.copy_slots);
}

void issue_copies(const CallPlan& plan, const KernelCall& call, const Mailboxes& mailboxes,
                  CopyEngines& engines, std::uint64_t* done, const std::uint64_t* epoch,
                  const std::function<bool()>& stopped) {
  CopyIssue(plan, call, mailboxes, engines).run(done, epoch, stopped);
}

}  // namespace lanecast
