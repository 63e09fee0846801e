#include "sim/event_simulation.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "model/error.hpp"
#include "model/predict/ring_symmetry.hpp"
#include "sim/fair_share.hpp"
#include "sim/loop_folding.hpp"
#include "sim/platform.hpp"
#include "sim/strand.hpp"
#include "sim/undisturbed_rates.hpp"

namespace lanecast {
namespace {

/// One slice of a strand's part.
struct Step {
  int kind = 0;
  double payload_bytes = 0;
};

/// What `run_schedule` has a strand do: all loops but the last are alike.
struct Program {
  std::uint64_t loops = 0;
  std::vector<Step> full;
  std::vector<Step> last;

  const std::vector<Step>& of(std::uint64_t loop) const { return loop + 1 == loops ? last : full; }
};

/// Writes down the first and the last loop.
class Recorder {
 public:
  Recorder(Program& program, int element_bytes) : program_(program), element_bytes_(element_bytes) {}

  void run(const Turn& turn, const Slice& slice) {
    steps_->push_back({turn.kind, static_cast<double>(slice.count) * element_bytes_});
  }
  std::uint64_t next_loop(std::uint64_t loop, std::uint64_t loops) {
    const std::uint64_t next = loop == 0 || loop >= loops ? loop : loops - 1;
    steps_ = next + 1 == loops ? &program_.last : &program_.full;
    return next;
  }
  std::uint64_t next_step(std::uint64_t, std::uint64_t step, std::uint64_t) { return step; }

 private:
  Program& program_;
  double element_bytes_;
  std::vector<Step>* steps_ = nullptr;
};
static_assert(SchedulePrimitives<Recorder>);

Program record(const ChannelWork& work) {
  Program program;
  program.loops = loop_count(work);
  Recorder recorder(program, work.element_bytes);
  run_schedule(recorder, work);
  return program;
}

class EventLoop {
 public:
  EventLoop(const SchedulePlan& plan, bool exact, bool accounts)
      : plan_(plan),
        share_(plan.network, deciding_resources(plan.network, demand(plan))),
        context_(plan, shared_lanes()),
        works_(all_strands(plan)) {
    context_.accounts = accounts;
    bool coupled = false;
    for (const bool shared : context_.shared_lanes) coupled = coupled || shared;
    folding_ = fold_loops(plan, coupled, exact);
    left_out_.resize(folding_.folders.size());
    context_.wake = [this](int strand) { runnable_.push_back(strand); };
    runners_.reserve(works_.size());
    for (std::size_t i = 0; i < works_.size(); ++i) {
      const bool same_channel = i > 0 && works_[i - 1].channel == works_[i].channel;
      runners_.push_back({Strand(context_, works_[i], static_cast<int>(i)),
                          record(works_[i]),
                          same_channel ? runners_.back().actor + 1 : 0,
                          0,
                          0,
                          0,
                          false,
                          0.0,
                          {}});
      runnable_.push_back(static_cast<int>(i));
    }
  }

  ScheduleSimulation run() {
    while (finished_ < runners_.size()) {
      while (!runnable_.empty()) {
        const int strand = runnable_.back();
        runnable_.pop_back();
        go_on(strand);
      }
      if (finished_ == runners_.size()) break;
      next_event();
    }
    ScheduleSimulation result;
    result.time = Seconds(end_);
    result.folded = folded_;
    result.foldable = !folding_.folders.empty();
    result.transfers = context_.transfers;
    result.account = end_account_;
    return result;
  }

 private:
  struct Runner {
    Strand strand;
    Program program;
    int actor = 0;  // among those of its channel
    std::uint64_t loop = 0;
    std::size_t step = 0;
    int flows = 0;  // under way
    bool begun = false;
    double settled_at = 0;  // when the second loop began, and where that time came from
    TimeAccount settled;
  };

  /// Where the time that a folder left out would have gone.
  struct LeftOut {
    double seconds = 0;
    TimeAccount account;
  };

  std::vector<bool> shared_lanes() const {
    std::vector<bool> shared;
    for (std::size_t l = 0; l < plan_.network.lanes.size(); ++l)
      shared.push_back(share_.shared(static_cast<int>(l)));
    return shared;
  }

  void go_on(int number) {
    Runner& runner = runners_[static_cast<std::size_t>(number)];
    if (!runner.begun) {
      runner.begun = true;
      begin_loop(number, 0);
      if (!take_step(runner)) return finish(number);
    }
    while (true) {
      switch (runner.strand.go_on(clock_)) {
        case Strand::Wait::nothing:
          if (!next_step(number)) return;
          break;
        case Strand::Wait::post:
          return;
        case Strand::Wait::clock:
          timers_.emplace(runner.strand.until(), number);
          return;
        case Strand::Wait::flows:
          put_flows(number);
          return;
      }
    }
  }

  /// @return  false after the last
  bool next_step(int number) {
    Runner& runner = runners_[static_cast<std::size_t>(number)];
    if (++runner.step == runner.program.of(runner.loop).size()) begin_loop(number, runner.loop + 1);
    if (take_step(runner)) return true;
    finish(number);
    return false;
  }

  bool take_step(Runner& runner) {
    if (runner.loop >= runner.program.loops) return false;
    const Step& step = runner.program.of(runner.loop)[runner.step];
    runner.strand.begin(step.kind, step.payload_bytes);
    return true;
  }

  void begin_loop(int number, std::uint64_t loop) {
    Runner& runner = runners_[static_cast<std::size_t>(number)];
    const int channel = works_[static_cast<std::size_t>(number)].channel;
    runner.loop = loop;
    runner.step = 0;
    Folder* folder = folding_.folder(channel);
    if (folder == nullptr) return;
    const int place = folding_.place_in_group[static_cast<std::size_t>(channel)];
    if (loop == 1) {
      runner.settled_at = runner.strand.now();
      runner.settled = runner.strand.account();
    }
    runner.loop = folder->advance(place, runner.actor, loop, runner.strand.now());
    folded_ = folded_ || runner.loop > loop;
    if (context_.accounts) share_out(runner, *folder, folding_.group_of[static_cast<std::size_t>(channel)]);
  }

  /// What is left out is taken to go where the time of the loops before went.
  void share_out(const Runner& runner, const Folder& folder, std::size_t group) {
    LeftOut& left_out = left_out_[group];
    const double fresh = folder.offset() - left_out.seconds;
    if (fresh <= 0) return;
    left_out.seconds = folder.offset();
    TimeAccount seen = runner.strand.account();
    seen += runner.settled * -1.0;
    for (double* share : {&seen.latency, &seen.protocol, &seen.wire, &seen.waiting})
      *share = std::max(*share, 0.0);
    if (seen.sum() > 0) left_out.account += seen * (fresh / seen.sum());
  }

  void finish(int number) {
    Runner& runner = runners_[static_cast<std::size_t>(number)];
    const int channel = works_[static_cast<std::size_t>(number)].channel;
    double left_out = 0;
    if (Folder* folder = folding_.folder(channel)) {
      folder->finish(folding_.place_in_group[static_cast<std::size_t>(channel)]);
      left_out = folder->offset();
    }
    if (const double end = runner.strand.now() + left_out; end > end_) {
      end_ = end;
      end_account_ = runner.strand.account();
      if (left_out > 0)
        end_account_ += left_out_[folding_.group_of[static_cast<std::size_t>(channel)]].account;
    }
    ++finished_;
  }

  void put_flows(int number) {
    Runner& runner = runners_[static_cast<std::size_t>(number)];
    for (const FlowCost& flow : runner.strand.part().flows) {
      if (flow.lane < 0 || !share_.shared(flow.lane) || flow.rate.value() <= 0) continue;
      share_.add(flow.lane, flow.rate.value() * runner.strand.factor(),
                 runner.strand.payload_bytes() * flow.wire_per_payload, number);
      ++runner.flows;
    }
  }

  void next_event() {
    const double flows_last = share_.idle() ? kNever : share_.next_end();
    const double flows_end = clock_ + flows_last;
    const double timer = timers_.empty() ? kNever : timers_.top().first;
    if (flows_end == kNever && timer == kNever) {
      throw Error(ErrorKind::runtime, "strands of the schedule wait for each other", "event simulation",
                  "this is a fault of lanecast: please report the call");
    }
    const double next = std::min(flows_end, timer);
    ended_.clear();
    if (!share_.idle()) share_.advance(flows_end <= timer ? flows_last : next - clock_, ended_);
    clock_ = std::max(clock_, next);
    while (!timers_.empty() && timers_.top().first <= clock_) {
      runnable_.push_back(timers_.top().second);
      timers_.pop();
    }
    for (const int owner : ended_) {
      if (--runners_[static_cast<std::size_t>(owner)].flows == 0) runnable_.push_back(owner);
    }
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  using Timer = std::pair<double, int>;

  const SchedulePlan& plan_;
  FairShare share_;
  StrandContext context_;
  std::vector<ChannelWork> works_;
  LoopFolding folding_;
  std::vector<Runner> runners_;
  std::vector<int> runnable_;
  std::vector<int> ended_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::size_t finished_ = 0;
  double clock_ = 0;
  double end_ = 0;
  TimeAccount end_account_;
  std::vector<LeftOut> left_out_;  // [folder]
  bool folded_ = false;
};

}  // namespace

ScheduleSimulation simulate_events(const SchedulePlan& plan, bool exact, bool accounts) {
  if (plan.resolved.work.empty()) return {};
  const std::vector<Lane>& lanes = plan.network.lanes;
  if (accounts && !lanes.empty() && lanes.front().undisturbed.value() == 0) {
    SchedulePlan rated = plan;
    set_undisturbed_rates(rated);
    return simulate_events(rated, exact, accounts);
  }
  if (exact) return EventLoop(plan, exact, accounts).run();
  const std::optional<SchedulePlan> reduced = reduce_by_rotation(plan, rotation_period(plan));
  return EventLoop(reduced ? *reduced : plan, exact, accounts).run();
}

}  // namespace lanecast
