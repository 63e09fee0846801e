#include "hw/engine/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "hw/engine/communicator_parts.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Clock = std::chrono::steady_clock;

/// Size as nccl-tests counts it.
Bytes size_of(Collective collective, std::uint64_t count, Datatype type, int ranks) {
  const bool blocks = collective == Collective::all_gather || collective == Collective::reduce_scatter;
  return Bytes(count * at(element_bytes(type)) * (blocks ? at(ranks) : 1));
}

Call call_of(Collective collective, std::uint64_t count, Datatype type, ReduceOp op, int root, int ranks) {
  Call call;
  call.collective = collective;
  call.size = size_of(collective, count, type, ranks);
  call.datatype = type;
  call.op = op;
  call.root = root;
  return call;
}

/// Elements of one rank's block, or of the buffer.
std::uint64_t count_of(const Call& call, int ranks) {
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  return call.size.value() / at(element_bytes(call.datatype)) / (blocks ? at(ranks) : 1);
}

bool is_in_place(const Call& call, const void* input, const void* output, int rank, int ranks) {
  const std::uint64_t block = count_of(call, ranks) * at(element_bytes(call.datatype));
  const auto* in = static_cast<const std::byte*>(input);
  const auto* out = static_cast<const std::byte*>(output);
  if (call.collective == Collective::all_gather) return in == out + block * at(rank);
  if (call.collective == Collective::reduce_scatter) return out == in + block * at(rank);
  return in == out;
}

void check_alignment(const void* pointer, const char* name, Datatype type) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (address % at(element_bytes(type)) == 0) return;
  throw Error(ErrorKind::usage,
              std::string("the ") + name + " buffer is not aligned to its elements of " +
                  std::to_string(element_bytes(type)) + " B",
              name, "pass a pointer to a whole element");
}

}  // namespace

Communicator::Communicator(std::unique_ptr<Exchange> exchange, EngineDevice& device,
                           const EngineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(exchange), device, options)) {}
Communicator::~Communicator() = default;

int Communicator::rank() const { return impl_->exchange->rank(); }
int Communicator::ranks() const { return impl_->exchange->ranks(); }
const std::vector<RankDevice>& Communicator::devices() const { return impl_->devices; }

Transport Communicator::transport(int from_rank, int to_rank) const {
  return impl_->paths.at(at(from_rank)).at(at(to_rank)).transport;
}
std::string Communicator::path(int from_rank, int to_rank) const {
  return impl_->paths.at(at(from_rank)).at(at(to_rank)).name();
}
std::string Communicator::path_reason(int from_rank, int to_rank) const {
  return impl_->paths.at(at(from_rank)).at(at(to_rank)).reason;
}

void Communicator::all_reduce(const void* input, void* output, std::uint64_t count, Datatype type,
                              ReduceOp op, Stream stream) {
  run(call_of(Collective::all_reduce, count, type, op, 0, ranks()), {}, input, output, stream);
}
void Communicator::reduce_scatter(const void* input, void* output, std::uint64_t count, Datatype type,
                                  ReduceOp op, Stream stream) {
  run(call_of(Collective::reduce_scatter, count, type, op, 0, ranks()), {}, input, output, stream);
}
void Communicator::all_gather(const void* input, void* output, std::uint64_t count, Datatype type,
                              Stream stream) {
  run(call_of(Collective::all_gather, count, type, ReduceOp::sum, 0, ranks()), {}, input, output, stream);
}
void Communicator::broadcast(const void* input, void* output, std::uint64_t count, Datatype type, int root,
                             Stream stream) {
  run(call_of(Collective::broadcast, count, type, ReduceOp::sum, root, ranks()), {}, input, output, stream);
}
void Communicator::reduce(const void* input, void* output, std::uint64_t count, Datatype type, ReduceOp op,
                          int root, Stream stream) {
  run(call_of(Collective::reduce, count, type, op, root, ranks()), {}, input, output, stream);
}

namespace {

/// One rank: its own data are the result.
void run_alone(EngineDevice& device, const Call& call, const void* input, void* output, Stream stream) {
  if (input != output && call.size.value() > 0) device.copy(output, input, call.size.value(), stream);
}

/// Before a call is planned: what no plan can mend. Ranks that differ here are told by the status board.
void check_arguments(const Call& call, const void* input, const void* output, int rank, int ranks) {
  if (call.root < 0 || call.root >= ranks)
    throw Error(ErrorKind::usage, "root " + std::to_string(call.root) + " is not a rank", "root",
                "take 0 to " + std::to_string(ranks - 1));
  check_alignment(input, "input", call.datatype);
  check_alignment(output, "output", call.datatype);
  if (call.size.value() == 0) return;
  const bool needs_input = call.collective != Collective::broadcast || rank == call.root;
  const bool needs_output = call.collective != Collective::reduce || rank == call.root;
  if ((needs_input && input == nullptr) || (needs_output && output == nullptr))
    throw Error(ErrorKind::usage,
                std::string("no ") + (needs_input && input == nullptr ? "input" : "output") + " buffer",
                to_string(call.collective), "pass device memory of this rank's GPU");
}

}  // namespace

void Communicator::run(const Call& asked, const CallChoice& choice, const void* input, void* output,
                       Stream stream) {
  Impl& impl = *impl_;
  impl.check();
  Call call = asked;
  check_arguments(call, input, output, rank(), ranks());
  if (ranks() == 1) return run_alone(impl.device, call, input, output, stream);
  call.in_place = is_in_place(call, input, output, rank(), ranks());
  impl.refuse_closed();
  CallEntry entry;
  if (call.size.value() == 0) {  // nothing to do, but the others must have the same nothing
    entry.collective = static_cast<std::int32_t>(call.collective);
    impl.board->enter(entry);
    return;
  }
  const CallPlan& plan = impl.planner->plan(call, choice);
  entry = plan.entry;
  entry.count = count_of(call, ranks());
  KernelCall kernel = plan.call;
  impl.mailboxes->fill(kernel);
  kernel.input = input;
  kernel.output = output;
  auto& seen = *reinterpret_cast<StatusPage*>(impl.page_seen);
  kernel.abort = reinterpret_cast<const std::uint32_t*>(&seen.abort);
  kernel.fault = &seen.fault;
  kernel.timeout_ns = static_cast<std::uint64_t>(impl.options.timeout.count()) * 1'000'000;
  kernel.recording = impl.recording;
  impl.recorded_blocks = plan.way.blocks;
  kernel.call = impl.board->enter(entry);
  if (plan.way.staging == Staging::copy_engines) {
    if (impl.proxy == nullptr)
      throw Error(ErrorKind::usage, "this device has no copy engines", "--staging", "take sm");
    impl.proxy->enqueue(plan, kernel, impl.device.capturing(stream), stream);
  } else {
    impl.device.launch(kernel, plan.way.threads, stream);
  }
}

ChosenWay Communicator::way(const Call& call, const CallChoice& choice) const {
  return impl_->planner->plan(call, choice).way;
}

void Communicator::record(std::uint32_t slices) {
  Impl& impl = *impl_;
  impl.recording = {};
  if (slices == 0) return;
  const std::uint64_t blocks = 2 * kMostEngineChannels;
  const std::uint64_t records = blocks * slices * sizeof(SliceRecord);
  std::byte* memory = impl.device.allocate(Bytes(records + blocks * sizeof(std::uint32_t)), "the recording");
  impl.recording.records = reinterpret_cast<SliceRecord*>(memory);
  impl.recording.counts = reinterpret_cast<std::uint32_t*>(memory + records);
  impl.recording.most = slices;
  impl.recordings.push_back(memory);
}

std::vector<SliceRecord> Communicator::recorded() const {
  const Impl& impl = *impl_;
  if (impl.recording.records == nullptr)
    throw Error(ErrorKind::usage, "nothing was recorded", "Communicator::recorded",
                "call `record` before the call");
  std::vector<std::uint32_t> counts(at(impl.recorded_blocks));
  impl.device.read(counts.data(), reinterpret_cast<const std::byte*>(impl.recording.counts),
                   counts.size() * sizeof(std::uint32_t));
  std::vector<SliceRecord> all;
  for (std::size_t block = 0; block < counts.size(); ++block) {
    std::vector<SliceRecord> records(std::min(counts[block], impl.recording.most));
    impl.device.read(records.data(),
                     reinterpret_cast<const std::byte*>(impl.recording.records + block * impl.recording.most),
                     records.size() * sizeof(SliceRecord));
    all.insert(all.end(), records.begin(), records.end());
  }
  return all;
}

void Communicator::check() const {
  impl_->watch->look();
  impl_->explain_abort();
  impl_->check();
}

/// A stream may hold anything, and take long. Once something is wrong its kernels give up: one that is not
/// done long after that hangs for another reason.
void Communicator::synchronize(Stream stream) {
  const auto longest = impl_->options.timeout + std::chrono::seconds(30);
  std::optional<Clock::time_point> wrong;
  for (int turn = 0; !impl_->device.done(stream); ++turn) {
    if (!wrong && impl_->board->own().abort != 0) wrong = Clock::now();
    if (wrong && Clock::now() - *wrong > longest) {
      impl_->watch->report("rank " + std::to_string(rank()) + "'s stream did not end\n  at rank " +
                           std::to_string(rank()) +
                           "\n  mend: look for other work on this stream that waits");
      break;
    }
    if (turn > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  impl_->watch->look();
  impl_->explain_abort();
  impl_->check();
}

void Communicator::barrier() {
  impl_->check();
  try {
    impl_->exchange->all_gather("", "a barrier");
  } catch (const Error&) {
    check();  // why the others did not come
    throw;
  }
  check();  // now that everyone's calls are known
}

}  // namespace lanecast
