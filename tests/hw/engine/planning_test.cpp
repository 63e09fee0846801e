#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "hw/engine/call_planner.hpp"
#include "hw/engine/way_choice.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/predict/algorithm.hpp"
#include "model/schedule/schedule.hpp"
#include "tests/hw/engine/engine_ranks.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

/// The message of the usage error that a task throws; another kind's begins with "not usage".
std::string refusal_of(const std::function<void()>& task) {
  try {
    task();
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::usage ? "" : "not usage: ") + std::string(error.what());
  }
  return "no error";
}

enum class Wiring { pcie, nvlink, nvlink_pairs };

/// A communicator of so many ranks with connections as by default.
PlannerSetup setup_of(int ranks, int rank, Wiring wiring, Transport transport = Transport::p2p) {
  PlannerSetup setup;
  setup.rank = rank;
  EnginePath path;
  path.transport = transport;
  setup.paths.assign(at(ranks), std::vector<EnginePath>(at(ranks), path));
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to)
      setup.paths[at(from)][at(to)].nvlink =
          wiring == Wiring::nvlink || (wiring == Wiring::nvlink_pairs && from / 2 == to / 2);
  }
  std::vector<RankDevice> devices;
  for (int each = 0; each < ranks; ++each) {
    RankDevice device;
    device.rank = device.device = each;
    device.sm = 90;
    devices.push_back(device);
  }
  setup.machine = engine_machine(devices, setup.paths);
  setup.layout.ranks = ranks;
  setup.layout.channels = 8;
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    if (protocol == Protocol::ll128 && transport == Transport::shm) continue;
    const std::size_t p = at(static_cast<int>(protocol));
    setup.layout.ring_bytes[p] = round_up(protocol_traits(protocol).default_buffsize.value(), 128);
    setup.layout.any_bytes[p] = round_up(engine_buffsize(protocol, Algorithm::one_shot)->value(), 128);
    setup.most_blocks[p] = 132;
  }
  return setup;
}

Call all_reduce_of(Bytes size) {
  Call call;
  call.size = size;
  return call;
}

/// What a rank does in one turn with one slice, peers by rank.
struct Done {
  std::vector<int> from;
  std::vector<int> to;
  Own own = Own::nothing;
  bool keeps = false;
  bool finishes = false;
  std::uint64_t offset = 0;
  std::uint64_t block_offset = 0;
  std::uint64_t count = 0;
  bool operator==(const Done&) const = default;
};

class CollectDone {
 public:
  explicit CollectDone(const std::vector<int>& order) : order_(order) {}
  void run(const Turn& turn, const Slice& slice) {
    Done step{{}, {}, turn.own, turn.keeps, turn.finishes, 0, 0, slice.count};
    if (slice.count > 0) step.offset = slice.offset, step.block_offset = slice.block_offset;
    for (int i = 0; i < turn.from.count; ++i) step.from.push_back(order_[at(turn.from.at(i))]);
    for (int i = 0; i < turn.to.count; ++i) step.to.push_back(order_[at(turn.to.at(i))]);
    done.push_back(step);
  }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t) const { return loop; }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) const { return step; }

  std::vector<Done> done;

 private:
  const std::vector<int>& order_;
};

std::vector<Done> done_by(ChannelWork work, const std::vector<int>& order) {
  CollectDone collected(order);
  const int strands = strand_count(work);
  for (work.strand = 0; work.strand < strands; ++work.strand) run_schedule(collected, work);
  return collected.done;
}

/// The work of a block's channel, as the kernels make it from the call.
ChannelWork kernels_work(const KernelCall& call, int channel) {
  ChannelWork work = call.work;
  work.channel = channel;
  work.offset = share_begin(call, channel);
  work.count = share_count(call, channel);
  work.chunk_count = chunk_count(call, channel);
  work.tree = call.trees[channel % 2];
  return work;
}

/// How the plans of all ranks differ from what the model predicts; empty: not at all.
std::string difference_from_model(int ranks, Wiring wiring, const Call& call, const CallChoice& choice) {
  std::vector<int> plain;
  for (int rank = 0; rank < ranks; ++rank) plain.push_back(rank);
  for (int rank = 0; rank < ranks; ++rank) {
    const PlannerSetup setup = setup_of(ranks, rank, wiring);
    CallPlanner planner(setup);
    const CallPlan& plan = planner.plan(call, choice);
    Call asked = call;
    asked.algorithm = plan.way.algorithm;
    asked.protocol = plan.way.protocol;
    asked.channels = plan.way.channels;
    Implementation engine;
    engine.library = Library::lanecast;
    const ResolvedCall model = resolve_call(setup.machine, engine, asked);
    if (model.chunk != plan.way.chunk) return "the chunk";
    if (model.channels != plan.call.channels) return "the number of channels";
    if (plan.call.work.order != nullptr) return "an order that a kernel cannot see";
    for (std::size_t channel = 0; channel < model.work.size(); ++channel) {
      const std::vector<int>& order = model.rings[model.ring_index(channel)].order;
      std::size_t position = 0;
      while (order[position] != rank) ++position;
      if (done_by(model.work[channel][position], order) !=
          done_by(kernels_work(plan.call, static_cast<int>(channel)), plain))
        return "channel " + std::to_string(channel) + " of rank " + std::to_string(rank);
    }
  }
  return "";
}

TEST(EnginePlan, IsTheScheduleThatTheModelPredicts) {
  for (const Algorithm algorithm : simulated_algorithms()) {
    if (pulls(algorithm)) continue;
    for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                        Collective::all_gather, Collective::broadcast, Collective::reduce}) {
      for (const int ranks : {2, 3, 4, 8}) {
        if (!has_form(algorithm, collective, ranks)) continue;
        for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
          Call call = all_reduce_of(Bytes(std::uint64_t{5} * 7 * 48 * 4096));
          call.collective = collective;
          call.root = ranks - 1;
          CallChoice choice;
          choice.algorithm = algorithm;
          choice.protocol = protocol;
          for (const Wiring wiring : {Wiring::pcie, Wiring::nvlink, Wiring::nvlink_pairs})
            EXPECT_EQ(difference_from_model(ranks, wiring, call, choice), "")
                << to_string(algorithm) << " " << to_string(collective) << " " << ranks << " ranks "
                << to_string(protocol);
        }
      }
    }
  }
}

TEST(EnginePlan, GivesAllRanksTheSameEntry) {
  for (const std::uint64_t size : {4u, 4096u, 1u << 20, 64u << 20}) {
    CallPlanner first(setup_of(4, 0, Wiring::nvlink));
    const CallEntry entry = first.plan(all_reduce_of(Bytes(size)), {}).entry;
    for (int rank = 1; rank < 4; ++rank) {
      CallPlanner planner(setup_of(4, rank, Wiring::nvlink));
      EXPECT_EQ(planner.plan(all_reduce_of(Bytes(size)), {}).entry, entry);
    }
  }
}

TEST(EnginePlan, LeavesRoomForMoreThanAChunkInEveryConnection) {
  for (const Algorithm algorithm : simulated_algorithms()) {
    if (pulls(algorithm)) continue;
    for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
      CallChoice choice;
      choice.algorithm = algorithm;
      choice.protocol = protocol;
      const PlannerSetup setup = setup_of(8, 0, Wiring::nvlink);
      CallPlanner planner(setup);
      const CallPlan& plan = planner.plan(all_reduce_of(Bytes(32u << 20)), choice);
      const std::size_t p = at(static_cast<int>(protocol));
      const std::uint64_t has =
          takes_ring_connections(plan.call) ? setup.layout.ring_bytes[p] : setup.layout.any_bytes[p];
      EXPECT_GT(plan.call.fifo_slices, plan.way.slices_per_chunk);
      EXPECT_LE(static_cast<std::uint64_t>(plan.call.fifo_slices) * plan.call.slot_bytes, has);
      EXPECT_EQ(plan.call.slot_bytes % 128, 0u);
      EXPECT_LE(plan.way.blocks, setup.most_blocks[p]);
    }
  }
}

TEST(EnginePlan, TakesNoMoreBlocksThanTheGpusHold) {
  PlannerSetup setup = setup_of(4, 0, Wiring::nvlink);
  for (int& blocks : setup.most_blocks) blocks = 3;
  CallPlanner planner(setup);
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::two_shot}) {
    CallChoice choice;
    choice.algorithm = algorithm;
    EXPECT_LE(planner.plan(all_reduce_of(Bytes(64u << 20)), choice).way.blocks, 3);
  }
}

// --- refusals
// ------------------------------------------------------------------------------------------------

std::string plan_refusal(const Call& call, const std::function<void(CallChoice&)>& fix) {
  CallChoice choice;
  choice.algorithm = Algorithm::ring;
  choice.protocol = Protocol::simple;
  fix(choice);
  CallPlanner planner(setup_of(4, 0, Wiring::pcie));
  return refusal_of([&] { planner.plan(call, choice); });
}

TEST(EnginePlan, TakesCopyEnginesWithAsManyChannelsAsTheyHave) {
  PlannerSetup setup = setup_of(2, 0, Wiring::pcie, Transport::shm);
  setup.layout.copy_channels = 4;
  setup.layout.copy_slots = 2;
  setup.layout.copy_slot_bytes = 8u << 20;
  CallChoice choice;
  choice.staging = Staging::copy_engines;
  for (const int channels : {-1, 0, 5}) {
    choice.channels = channels;
    CallPlanner planner(setup);
    EXPECT_TRUE(
        has(refusal_of([&] { planner.plan(all_reduce_of(Bytes(1u << 20)), choice); }), "take 1 to 4"));
  }
}

TEST(EnginePlan, DependsOnTheDescribedPartOfACallAlone) {
  CallPlanner planner(setup_of(4, 0, Wiring::nvlink));
  const Call plain = all_reduce_of(Bytes(64u << 20));
  Call other = plain;
  other.transport = Transport::shm;
  other.channels = 1;
  other.order_given = true;
  const CallPlan& first = planner.plan(other, {});
  EXPECT_EQ(&first, &planner.plan(plain, {}));
  EXPECT_EQ(first.entry, CallPlanner(setup_of(4, 0, Wiring::nvlink)).plan(plain, {}).entry);
}

TEST(EnginePlan, SaysWhyAShapeCannotBe) {
  const Call call = all_reduce_of(Bytes(64u << 20));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.threads = 33; }), "33 threads"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.threads = 33; }), "take a multiple of 32"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.threads = 0; }), "--threads"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.threads = 4096; }), "--threads"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.channels = 9; }),
                  "9 channels; at most 8 of this communicator run at once"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.channels = 0; }), "--channels"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.buffsize = Bytes(5u << 20); }),
                  "a buffer of 5242880 B; the connections of this communicator have 4194304 B"));
  EXPECT_TRUE(has(plan_refusal(call, [](CallChoice& c) { c.chunk = Bytes(4u << 20); }),
                  "ranks would wait for each other for ever"));
  EXPECT_TRUE(
      has(plan_refusal(call, [](CallChoice& c) { c.chunk = Bytes(4u << 20); }), "take a smaller chunk"));
  Call broadcast = call;
  broadcast.collective = Collective::broadcast;
  EXPECT_TRUE(has(plan_refusal(broadcast, [](CallChoice& c) { c.algorithm = Algorithm::one_shot; }),
                  "one_shot has no broadcast of 4 ranks"));
}

TEST(EngineArguments, AreCheckedBeforeAnythingIsDone) {
  EngineJob job;
  job.options = patient_options();
  std::vector<std::vector<float>> buffers(2, std::vector<float>(16, 1.0F));
  const auto outcomes = run_ranks(job, [&](EngineRank& rank) {
    Communicator& all = rank.communicator;
    float* data = buffers[at(rank.rank)].data();
    auto* odd = reinterpret_cast<std::byte*>(data) + 2;
    const auto type = Datatype::float32;
    const auto refused = [&](const auto& task) { return refusal_of(task); };
    EXPECT_TRUE(
        has(refused([&] { all.broadcast(data, data, 4, type, 2, rank.stream); }), "root 2 is not a rank"));
    EXPECT_TRUE(has(refused([&] { all.reduce(data, data, 4, type, ReduceOp::sum, -1, rank.stream); }),
                    "take 0 to 1"));
    EXPECT_TRUE(has(refused([&] { all.all_gather(odd, data, 1, type, rank.stream); }),
                    "the input buffer is not aligned to its elements of 4 B"));
    EXPECT_TRUE(has(refused([&] { all.all_gather(data, odd, 1, type, rank.stream); }), "the output buffer"));
    EXPECT_TRUE(has(refused([&] { all.all_reduce(nullptr, data, 4, type, ReduceOp::sum, rank.stream); }),
                    "no input buffer"));
    EXPECT_TRUE(has(refused([&] { all.all_reduce(data, nullptr, 4, type, ReduceOp::sum, rank.stream); }),
                    "no output buffer"));
    EXPECT_EQ(sum_of_ones(rank), "");  // refusals are no failures
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

}  // namespace
}  // namespace lanecast
