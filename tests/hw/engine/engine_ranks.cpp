#include "tests/hw/engine/engine_ranks.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace lanecast {

using std::chrono::milliseconds;
using support::CollectiveCase;
using support::PretendedDevice;
using support::PretendedGpu;

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool has_blocks(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

/// Input and output of one rank with guards around them, both moved by `shift` bytes.
class CaseBuffers {
 public:
  CaseBuffers(const CollectiveCase& test, const std::vector<std::byte>& input, int rank, std::size_t shift)
      : input_bytes_(input.size()) {
    const std::size_t element = at(element_bytes(test.type));
    output_bytes_ = support::output_count(test.collective, test.count, test.ranks) * element;
    output_begin_ = input_begin_ = kGuard + shift;
    const std::size_t larger = std::max(input_bytes_, output_bytes_);
    if (!test.in_place) {
      output_begin_ += (larger + kGuard + 15) / 16 * 16;
    } else if (test.collective == Collective::all_gather) {
      input_begin_ += at(rank) * input_bytes_;
    } else if (test.collective == Collective::reduce_scatter) {
      output_begin_ += at(rank) * output_bytes_;
    }
    memory_.assign(output_begin_ + larger + 2 * kGuard, kPoison);
    std::copy(input.begin(), input.end(), memory_.begin() + static_cast<std::ptrdiff_t>(input_begin_));
    before_ = memory_;
  }

  const std::byte* input() const { return memory_.data() + input_begin_; }
  std::byte* output() { return memory_.data() + output_begin_; }
  std::vector<std::byte> result() const {
    const std::byte* begin = memory_.data() + output_begin_;
    return {begin, begin + output_bytes_};
  }
  bool only_output_changed() const {
    const auto begin = static_cast<std::ptrdiff_t>(output_begin_);
    const auto end = begin + static_cast<std::ptrdiff_t>(output_bytes_);
    return std::equal(memory_.begin(), memory_.begin() + begin, before_.begin()) &&
           std::equal(memory_.begin() + end, memory_.end(), before_.begin() + end);
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr std::byte kPoison{0xa5};  // ThreadCall's, which `mismatch` looks for

  std::size_t input_bytes_ = 0;
  std::size_t output_bytes_ = 0;
  std::size_t input_begin_ = 0;
  std::size_t output_begin_ = 0;
  std::vector<std::byte> memory_;
  std::vector<std::byte> before_;
};

Outcome& remember(Outcome& outcome, const Error& error) {
  outcome.failed = true;
  outcome.kind = error.kind();
  outcome.message = error.what();
  return outcome;
}

}  // namespace

EngineOptions patient_options() {
  EngineOptions options;
  options.channels = 2;
  options.timeout = milliseconds(20'000);
  return options;
}

PretendedGpu good_gpu(int index) {
  PretendedGpu gpu;
  gpu.index = index;
  return gpu;
}

Outcome live(const EngineJob& job, std::unique_ptr<Exchange> exchange, const RankBody& body) {
  const auto begin = std::chrono::steady_clock::now();
  const int rank = exchange->rank();
  PretendedGpu gpu = job.gpu ? job.gpu(rank) : good_gpu(rank);
  if (at(gpu.index) < job.nvlink_groups.size()) gpu.nvlink_group = job.nvlink_groups[at(gpu.index)];
  PretendedDevice device(std::move(gpu), job.nvlink_groups);
  Outcome outcome;
  try {
    Communicator communicator(std::move(exchange), device, job.options);
    EngineRank seen{rank, communicator, device, device.new_stream()};
    body(seen);
  } catch (const Error& error) {
    remember(outcome, error);
  }
  outcome.left_behind = device.memory().blocks() + device.memory().openings() + device.mappings();
  outcome.took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
  return outcome;
}

std::vector<Outcome> run_ranks(const EngineJob& job, const RankBody& body) {
  std::vector<std::unique_ptr<Exchange>> exchanges = thread_exchanges(job.ranks, job.meeting_timeout);
  std::vector<Outcome> outcomes(exchanges.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < exchanges.size(); ++rank)
    threads.emplace_back([&, rank] { outcomes[rank] = live(job, std::move(exchanges[rank]), body); });
  for (std::thread& each : threads) each.join();
  return outcomes;
}

Call call_of(const CollectiveCase& data) {
  Call call;
  call.collective = data.collective;
  call.size =
      Bytes(data.count * at(element_bytes(data.type)) * (has_blocks(data.collective) ? at(data.ranks) : 1));
  call.datatype = data.type;
  call.op = data.op;
  call.root = data.root;
  return call;
}

std::string describe(const EngineCase& test) {
  const CallChoice& choice = test.choice;
  return std::string(choice.algorithm ? to_string(*choice.algorithm) : "any algorithm") + " " +
         (choice.protocol ? to_string(*choice.protocol) : "any protocol") + " shift " +
         std::to_string(test.shift) + ": " + support::describe(test.data);
}

std::string problem_of(const EngineJob& job, const std::vector<EngineCase>& cases) {
  std::vector<support::ThreadCall> calls;
  std::vector<support::ThreadResult> results(cases.size());
  for (const EngineCase& test : cases) calls.push_back(support::make_call(test.data));
  for (support::ThreadResult& result : results) result.outputs.resize(at(job.ranks));
  std::vector<std::string> strays(at(job.ranks));

  std::vector<std::vector<CaseBuffers>> all_buffers(at(job.ranks));  // outlive the communicators
  const auto outcomes = run_ranks(job, [&](EngineRank& rank) {
    std::vector<CaseBuffers>& buffers = all_buffers[at(rank.rank)];
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::size_t shift = cases[i].shift * at(element_bytes(cases[i].data.type));
      buffers.emplace_back(cases[i].data, calls[i].inputs[at(rank.rank)], rank.rank, shift);
    }
    for (std::size_t i = 0; i < cases.size(); ++i)
      rank.communicator.run(call_of(cases[i].data), cases[i].choice, buffers[i].input(), buffers[i].output(),
                            rank.stream);
    rank.communicator.synchronize(rank.stream);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      results[i].outputs[at(rank.rank)] = buffers[i].result();
      if (!buffers[i].only_output_changed()) strays[at(rank.rank)] = "stray write: " + describe(cases[i]);
    }
  });
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].failed) return "rank " + std::to_string(rank) + ": " + outcomes[rank].message;
    if (outcomes[rank].left_behind != 0) return "rank " + std::to_string(rank) + " left something behind";
    if (!strays[rank].empty()) return strays[rank];
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string wrong = support::mismatch(calls[i], results[i]);
    if (!wrong.empty()) return describe(cases[i]) + ": " + wrong;
  }
  return "";
}

void check_until_error(const Communicator& communicator) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(20'000);
  while (std::chrono::steady_clock::now() < end) {
    communicator.check();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

std::string sum_of_ones(EngineRank& rank, std::uint64_t count, const CallChoice& choice) {
  std::vector<float> data(count, 1.0F);
  CollectiveCase all;
  all.ranks = rank.communicator.ranks();
  all.count = count;
  try {
    rank.communicator.run(call_of(all), choice, data.data(), data.data(), rank.stream);
    rank.communicator.synchronize(rank.stream);
  } catch (const Error&) {
    rank.device.drain();  // before the buffer goes
    throw;
  }
  for (const float value : data) {
    if (value != static_cast<float>(all.ranks)) return "a sum of ones is " + std::to_string(value);
  }
  return "";
}

}  // namespace lanecast
