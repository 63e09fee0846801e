#include "hw/engine/call_planner.hpp"

#include <algorithm>
#include <utility>

#include "hw/engine/way_choice.hpp"
#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/implementation/implementation.hpp"
#include "model/protocol/protocol.hpp"
#include "model/schedule/schedule.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr std::uint64_t kLeastCopyChunk = std::uint64_t{256} << 10;

/// Wire bytes of a slice in a FIFO: whole lines (LL), whole rows of a warp (LL128).
std::uint64_t wire_bytes(Protocol protocol, std::uint64_t payload) {
  switch (protocol) {
    case Protocol::ll:
      return round_up(ceil_div(payload, 8) * 16, 128);
    case Protocol::ll128:
      return ceil_div(payload, 480) * 512;
    case Protocol::simple:
      break;
  }
  return round_up(payload, 128);
}

/// Payload of the first, largest slice of a full chunk.
std::uint64_t largest_slice(const ChannelWork& work) {
  Chunk chunk;
  chunk.count = std::max(work.chunk_count, full_part_count(work) * parts_per_chunk(work));
  return slice_of(work, chunk, 0, 0, 0).count * static_cast<std::uint64_t>(work.element_bytes);
}

Implementation engine() {
  Implementation implementation;
  implementation.library = Library::lanecast;
  return implementation;
}

int digest(const ChosenWay& way) {
  std::uint64_t value = 1469598103934665603u;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(way.channels), static_cast<std::uint64_t>(way.threads), way.chunk.value(),
        way.buffsize.value(), static_cast<std::uint64_t>(way.fifo_slices)})
    value = (value ^ part) * 1099511628211u;
  return static_cast<int>(value >> 33);
}

/// Collects what the schedule does, for copy engines, which are told all of it beforehand.
class CollectedTurns {
 public:
  CollectedTurns(int channel, std::vector<CopyTurn>& turns) : channel_(channel), turns_(turns) {}

  void run(const Turn& turn, const Slice& slice) { turns_.push_back({channel_, turn, slice}); }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }

 private:
  int channel_;
  std::vector<CopyTurn>& turns_;
};
static_assert(SchedulePrimitives<CollectedTurns>);

/// The channels' turns side by side, so that one channel's copies fill the time in which another waits.
std::vector<CopyTurn> interleaved(const std::vector<ChannelWork>& works) {
  std::vector<std::vector<CopyTurn>> by_channel(works.size());
  std::size_t longest = 0;
  for (std::size_t channel = 0; channel < works.size(); ++channel) {
    CollectedTurns collected(static_cast<int>(channel), by_channel[channel]);
    run_schedule(collected, works[channel]);
    longest = std::max(longest, by_channel[channel].size());
  }
  std::vector<CopyTurn> turns;
  for (std::size_t i = 0; i < longest; ++i) {
    for (const std::vector<CopyTurn>& channel : by_channel) {
      if (i < channel.size()) turns.push_back(channel[i]);
    }
  }
  return turns;
}

}  // namespace

CallPlanner::CallPlanner(PlannerSetup setup) : setup_(std::move(setup)) {}

CallPlanner::Key CallPlanner::key_of(const Call& call, const CallChoice& choice) {
  const auto number = [](const auto& value) { return value ? static_cast<int>(*value) : -1; };
  const auto bytes = [](const std::optional<Bytes>& value) { return value ? value->value() : 0; };
  return {static_cast<int>(call.collective),
          call.size.value(),
          static_cast<int>(call.datatype),
          static_cast<int>(call.op),
          call.root,
          call.in_place,
          number(choice.algorithm),
          number(choice.protocol),
          number(choice.channels),
          number(choice.threads),
          bytes(choice.buffsize),
          bytes(choice.chunk),
          number(choice.staging)};
}

/// What counts of a call; how it runs is the choice's.
Call described_call(const Call& asked) {
  Call call;
  call.collective = asked.collective;
  call.size = asked.size;
  call.datatype = asked.datatype;
  call.op = asked.op;
  call.root = asked.root;
  call.in_place = asked.in_place;
  return call;
}

const CallPlan& CallPlanner::plan(const Call& asked, const CallChoice& choice) {
  const Call call = described_call(asked);
  std::unique_ptr<CallPlan>& plan = plans_[key_of(call, choice)];
  if (plan == nullptr) plan = std::make_unique<CallPlan>(make(call, choice));
  return *plan;
}

namespace {

PathSummary summary_of(const PlannerSetup& setup) {
  PathSummary summary;
  summary.ranks = setup.layout.ranks;
  summary.exchanges = setup.layout.any_bytes[0] != 0;
  summary.copy_engines = setup.layout.copy_channels != 0;
  for (int from = 0; from < summary.ranks; ++from) {
    for (int to = 0; to < summary.ranks; ++to) {
      if (from == to) continue;
      const EnginePath& path = setup.paths[at(from)][at(to)];
      summary.any_staged = summary.any_staged || path.transport == Transport::shm;
      summary.all_nvlink = summary.all_nvlink && path.nvlink;
    }
  }
  return summary;
}

std::uint64_t usual_buffsize(Protocol protocol, Algorithm algorithm) {
  return engine_buffsize(protocol, algorithm).value_or(protocol_traits(protocol).default_buffsize).value();
}

/// Channels whose blocks all run at once; a tree's all-reduce has two blocks in each.
int most_channels(const PlannerSetup& setup, Algorithm algorithm, Protocol protocol, Collective collective) {
  const bool two_strands = schedule_of(algorithm) == Schedule::tree && collective == Collective::all_reduce;
  const int blocks = setup.most_blocks[static_cast<std::size_t>(protocol)];
  return std::min(setup.layout.channels, two_strands ? blocks / 2 : blocks);
}

/// What the model is asked: the caller's and the engine's choices, within what the communicator has.
Call asked_call(const PlannerSetup& setup, const Call& call, const CallChoice& choice) {
  Call asked = call;
  asked.algorithm = choice.algorithm;
  asked.protocol = choice.protocol;
  asked.threads = choice.threads;
  asked.chunk = choice.chunk;
  // Groups of a hierarchy are runs of consecutive ranks here: a kernel knows no other place of a rank
  asked.order_given = schedule_of(*choice.algorithm) == Schedule::hierarchical;
  const bool ring = *choice.algorithm == Algorithm::ring;
  const auto protocol = static_cast<std::size_t>(*choice.protocol);
  const std::uint64_t has = ring ? setup.layout.ring_bytes[protocol] : setup.layout.any_bytes[protocol];
  if (choice.buffsize && choice.buffsize->value() > has) {
    throw Error(ErrorKind::usage,
                "a buffer of " + std::to_string(choice.buffsize->value()) +
                    " B; the connections of this "
                    "communicator have " +
                    std::to_string(has) + " B",
                "--buffsize", "open the communicator with larger buffers");
  }
  asked.buffsize = choice.buffsize;
  if (!choice.buffsize && (choice.chunk || has < usual_buffsize(*choice.protocol, *choice.algorithm)))
    asked.buffsize = Bytes(has);  // the chunk has to fit a communicator's small connections
  const int most = most_channels(setup, *choice.algorithm, *choice.protocol, call.collective);
  if (choice.channels && *choice.channels > most) {
    throw Error(ErrorKind::usage,
                std::to_string(*choice.channels) + " channels; at most " + std::to_string(most) +
                    " of this communicator run at once",
                "--channels", "take fewer, or open the communicator with more");
  }
  asked.channels = choice.channels;
  return asked;
}

void check_threads(const CallChoice& choice) {
  if (!choice.threads || *choice.threads % 32 == 0) return;
  throw Error(ErrorKind::usage, std::to_string(*choice.threads) + " threads", "--threads",
              "take a multiple of 32");
}

/// The caller's number of channels as it is; else the model's, as far as they fit.
ResolvedCall resolved_within(const PlannerSetup& setup, const Call& asked) {
  ResolvedCall resolved = resolve_call(setup.machine, engine(), asked);
  const int most = most_channels(setup, resolved.algorithm, resolved.protocol, asked.collective);
  if (resolved.channels <= most) return resolved;
  Call narrower = asked;
  narrower.channels = std::max(1, most);
  return resolve_call(setup.machine, engine(), narrower);
}

void set_geometry(const ResolvedCall& resolved, const MailboxLayout& layout, CallPlan& plan) {
  KernelCall& call = plan.call;
  const ChannelWork& work = resolved.work.front().front();
  call.slot_bytes = wire_bytes(resolved.protocol, largest_slice(work));
  const auto protocol = static_cast<std::size_t>(resolved.protocol);
  const std::uint64_t has =
      std::min(resolved.buffsize.value(),
               takes_ring_connections(call) ? layout.ring_bytes[protocol] : layout.any_bytes[protocol]);
  call.fifo_slices = static_cast<int>(std::min<std::uint64_t>(has / call.slot_bytes, kMostSlots));
  if (call.fifo_slices <= resolved.slices_per_chunk || resolved.store_and_forward) {
    throw Error(ErrorKind::usage,
                "chunks of " + std::to_string(resolved.chunk.value()) +
                    " B leave no room in connections of " + std::to_string(has) +
                    " B: ranks would wait for each other for ever",
                "--chunk", "take a smaller chunk, or open the communicator with larger buffers");
  }
}

/// A channel's tree, where every second channel may have the ranks at other positions than the first.
TreeNode tree_by_rank(const ResolvedCall& resolved, std::size_t channel, int rank) {
  const std::vector<int>& order = resolved.ring(channel).order;
  const auto position = std::find(order.begin(), order.end(), rank) - order.begin();
  TreeNode node = resolved.work[channel][static_cast<std::size_t>(position)].tree;
  if (node.up >= 0) node.up = order[at(node.up)];
  if (node.down.modulo != 0) return node;  // a star's, which all channels have alike
  for (int i = 0; i < node.down.count; ++i) node.down.named[i] = order[at(node.down.named[i])];
  return node;
}

KernelShape shape_of(Algorithm algorithm) {
  if (algorithm == Algorithm::ring) return KernelShape::ring;
  return schedule_of(algorithm) == Schedule::one_shot ? KernelShape::one_shot : KernelShape::any;
}

/// Kernels are told one share for all channels, and two sizes of chunks.
void check_share(const KernelCall& call, const ChannelWork& work) {
  if (work.offset == share_begin(call, work.channel) && work.count == share_count(call, work.channel) &&
      work.chunk_count == chunk_count(call, work.channel))
    return;
  throw Error(
      ErrorKind::runtime,
      "channel " + std::to_string(work.channel) + " has a share or chunk that kernels are not told of",
      "planning a call", "report this as a fault of lanecast");
}

void set_work(const ResolvedCall& resolved, int rank, CallPlan& plan) {
  KernelCall& call = plan.call;
  call.work = resolved.work.front()[at(rank)];
  call.channels = static_cast<int>(resolved.work.size());
  for (const std::size_t parity : {0u, 1u})
    call.trees[parity] = tree_by_rank(resolved, parity % resolved.work.size(), rank);
  call.strands = 1;
  for (ChannelWork work = call.work; const TreeNode& tree : call.trees) {
    work.tree = tree;
    call.strands = std::max(call.strands, strand_count(work));
  }
  for (int channel = 0; channel < call.channels; ++channel) {
    const ChannelWork& work = resolved.work[at(channel)][at(rank)];
    plan.works.push_back(work);
    call.total += work.count;
  }
  call.share = call.work.count;
  call.odd_chunk_count = plan.works[plan.works.size() > 1 ? 1 : 0].chunk_count;
  for (const ChannelWork& work : plan.works) check_share(call, work);
  for (const ChannelWork& work : plan.works) {
    const std::uint64_t turns = loop_count(work) * at(step_count(work));
    call.most_slices = std::max(call.most_slices, turns * at(work.slices_per_chunk));
  }
  call.protocol = static_cast<int>(resolved.protocol);
  call.datatype = static_cast<int>(resolved.call.datatype);
  call.op = static_cast<int>(resolved.call.op);
  call.shape = shape_of(resolved.algorithm);
}

/// Copy engines: few channels of large slices, which are whole chunks.
void plan_copies(const PlannerSetup& setup, const Call& call, const CallChoice& choice, CallPlan& plan) {
  const MailboxLayout& layout = setup.layout;
  Call asked = call;
  asked.algorithm = Algorithm::ring;
  asked.protocol = Protocol::simple;
  const int channels = choice.channels.value_or(layout.copy_channels);
  if (channels < 1 || channels > layout.copy_channels) {
    throw Error(ErrorKind::usage, std::to_string(channels) + " channels of copy engines", "--channels",
                "take 1 to " + std::to_string(layout.copy_channels));
  }
  const std::uint64_t share = call.size.value() / static_cast<std::uint64_t>(2 * layout.ranks * channels);
  asked.channels = channels;
  asked.chunk = choice.chunk.value_or(
      Bytes(std::clamp(round_up(share, 64 << 10), kLeastCopyChunk, layout.copy_slot_bytes)));
  if (asked.chunk->value() > layout.copy_slot_bytes) {
    throw Error(ErrorKind::usage,
                "a chunk of " + std::to_string(asked.chunk->value()) + " B for copy engines", "--chunk",
                "take at most " + std::to_string(layout.copy_slot_bytes) + " B");
  }
  asked.buffsize = Bytes(asked.chunk->value() * 4);
  const ResolvedCall resolved = resolve_call(setup.machine, engine(), asked);
  set_work(resolved, setup.rank, plan);
  for (ChannelWork& work : plan.works) {
    work.slices_per_chunk = 1;
    work.min_slice_count = 1;
  }
  plan.copy_turns = interleaved(plan.works);
  plan.call.slot_bytes = layout.copy_slot_bytes;
  plan.call.fifo_slices = layout.copy_slots;
  plan.way.chunk = *asked.chunk;
  plan.way.channels = static_cast<int>(plan.works.size());
  plan.way.threads = 0;
  plan.way.blocks = 0;
  plan.way.slices_per_chunk = 1;
  plan.way.buffsize = Bytes(layout.copy_slot_bytes * static_cast<std::uint64_t>(layout.copy_slots));
}

void plan_kernels(const PlannerSetup& setup, const Call& call, const CallChoice& choice, CallPlan& plan) {
  const ResolvedCall resolved = resolved_within(setup, asked_call(setup, call, choice));
  set_work(resolved, setup.rank, plan);
  set_geometry(resolved, setup.layout, plan);
  plan.way.chunk = resolved.chunk;
  plan.way.channels = plan.call.channels;
  plan.way.threads = resolved.threads;
  plan.way.blocks = plan.call.channels * plan.call.strands;
  plan.way.slices_per_chunk = resolved.slices_per_chunk;
  plan.way.buffsize = resolved.buffsize;
}

/// One rank's own data are the result: no kernel of the engine.
CallPlan copy_plan() {
  CallPlan plan;
  plan.way.threads = 0;
  plan.way.blocks = 0;
  return plan;
}

}  // namespace

CallPlan CallPlanner::make(const Call& call, const CallChoice& fixed) const {
  check_threads(fixed);
  if (setup_.layout.ranks == 1) return copy_plan();
  const PathSummary summary = summary_of(setup_);
  const CallChoice choice = chosen_way(call, fixed, summary);
  CallPlan plan;
  plan.way.algorithm = *choice.algorithm;
  plan.way.protocol = *choice.protocol;
  plan.way.transport = summary.any_staged ? Transport::shm : Transport::p2p;
  plan.way.staging = *choice.staging;
  if (*choice.staging == Staging::copy_engines) {
    plan_copies(setup_, call, choice, plan);
  } else {
    plan_kernels(setup_, call, choice, plan);
  }
  plan.way.fifo_slices = plan.call.fifo_slices;
  plan.call.alone = setup_.alone;
  plan.entry.collective = static_cast<std::int32_t>(call.collective);
  plan.entry.datatype = static_cast<std::int32_t>(call.datatype);
  plan.entry.op = static_cast<std::int32_t>(call.op);
  plan.entry.root = call.root;
  plan.entry.algorithm = static_cast<std::int32_t>(plan.way.algorithm);
  plan.entry.protocol = static_cast<std::int32_t>(plan.way.protocol);
  plan.entry.staging = static_cast<std::int32_t>(plan.way.staging);
  plan.entry.shape = digest(plan.way);
  return plan;
}

}  // namespace lanecast
