#include "model/implementation/nccl/graph_search.hpp"

#include <algorithm>

namespace lanecast {
namespace {

// Steps that a search may take (facts.md A10).
constexpr long kGlobalSteps = 1L << 19;
constexpr long kSteps = 1L << 14;
constexpr long kStepsOfEqualChannels = 1L << 8;

constexpr long kSplitFrom = 25'000;      // a channel of this speed is split in two (thousandths of GB/s)
constexpr long kSplitManyFrom = 50'000;  // from sm_86, where there are more than 4 channels

/// A graph under construction; speeds in thousandths of GB/s.
struct Draft {
  GraphPattern pattern = GraphPattern::ring;
  int channels = 0;
  long speed = 0;
  PathType type = PathType::sys;
  bool same_channels = true;
  int hops = 0;
  std::vector<std::vector<std::size_t>> orders;  // of channels and the one being placed

  long bus() const { return channels * speed; }
};

enum class Order { open, tree, replay };  // which GPU may come next: any, the next of the tree, as before

class Searcher {
 public:
  Searcher(const NcclSystem& system, const SearchRules& rules)
      : system_(system), rules_(rules), gpus_(system.gpus().size()) {
    for (const NcclLink& link : system.links()) left_.push_back(link.milli_GBps);
  }

  /// One search with the draft's speed, type and pattern; `best` is replaced by what is better.
  /// @return steps left; 0 none, -1 everything wanted was found
  long run(Draft draft, int min_channels, int most_channels, Draft& best) {
    draft_ = std::move(draft);
    draft_.channels = 0;
    draft_.hops = 0;
    draft_.orders.clear();
    best_ = &best;
    min_channels_ = min_channels;
    most_channels_ = most_channels;
    steps_ = draft_.same_channels ? kStepsOfEqualChannels : kSteps;
    add_channel();
    return steps_;
  }

  static long budget(const Draft& draft) { return draft.same_channels ? kStepsOfEqualChannels : kSteps; }

 private:
  void add_channel() {
    used_.emplace_back(gpus_, false);
    draft_.orders.emplace_back(gpus_, 0);
    if (draft_.channels == 0) {
      start(Order::tree, 0);
    } else {
      start(Order::replay, draft_.orders[static_cast<std::size_t>(draft_.channels) - 1].front());
    }
    if (draft_.channels == 0 || !draft_.same_channels) {
      for (std::size_t g = 0; g < gpus_; ++g) start(Order::open, g);
    }
    draft_.orders.pop_back();
    used_.pop_back();
  }

  void start(Order order, std::size_t gpu) {
    used_.back()[gpu] = true;
    place(gpu, 0, order);
    used_.back()[gpu] = false;
  }

  void place(std::size_t gpu, std::size_t step, Order order) {
    if (steps_ <= 0) return;
    --steps_;
    draft_.orders.back()[step] = gpu;
    if (step + 1 < gpus_) {
      for (const std::size_t next : candidates(gpu, step, order)) go_on(gpu, next, step, order);
    } else if (draft_.pattern == GraphPattern::ring && gpus_ > 1) {
      close(gpu);
    } else {
      finish_channel();
    }
  }

  void go_on(std::size_t gpu, std::size_t next, std::size_t step, Order order) {
    if (!charge(gpu, next, 1)) return;
    used_.back()[next] = true;
    place(next, step + 1, order);
    used_.back()[next] = false;
    charge(gpu, next, -1);
  }

  void close(std::size_t last) {
    const std::size_t first = draft_.orders.back().front();
    if (!charge(last, first, 1)) return;
    if (steps_ > 0) {
      --steps_;
      finish_channel();
    }
    charge(last, first, -1);
  }

  void finish_channel() {
    if (steps_ > 0) --steps_;
    ++draft_.channels;
    if (better()) {
      *best_ = draft_;
      if (draft_.channels == most_channels_) steps_ = -1;
    }
    if (draft_.channels < most_channels_ && steps_ > 0) add_channel();
    --draft_.channels;
  }

  bool better() const {
    if (draft_.channels < min_channels_) return false;
    if (draft_.bus() != best_->bus()) return draft_.bus() > best_->bus();
    return draft_.pattern == best_->pattern && draft_.hops < best_->hops;
  }

  /// Takes a channel's speed off every link of the path (or gives it back); false, and nothing done, where
  /// the path is too far or a link has not enough left.
  bool charge(std::size_t from, std::size_t to, int sign) {
    const NcclPath& path = system_.path(from, to);
    if (path.links.empty() || (sign > 0 && path.type > draft_.type)) return false;
    const bool overhead = rules_.intel_overhead && path.type == PathType::phb && path.through_intel;
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      const auto link = static_cast<std::size_t>(path.links[i]);
      const long speed = cost(link, overhead);
      if (sign > 0 && left_[link] < speed) {
        while (i-- > 0) {
          const auto back = static_cast<std::size_t>(path.links[i]);
          left_[back] += cost(back, overhead);
        }
        return false;
      }
      left_[link] -= sign * speed;
    }
    draft_.hops += sign * static_cast<int>(path.links.size());
    return true;
  }

  long cost(std::size_t link, bool overhead) const {
    return overhead && system_.links()[link].pcie ? draft_.speed * 6 / 5 : draft_.speed;
  }

  std::vector<std::size_t> candidates(std::size_t gpu, std::size_t step, Order order) const {
    if (order == Order::tree) return {step + 1};
    if (order == Order::replay)
      return {draft_.orders[static_cast<std::size_t>(draft_.channels) - 1][step + 1]};
    std::vector<std::size_t> next;
    for (std::size_t i = 1; i < gpus_; ++i) {
      const std::size_t g = (gpu + i) % gpus_;
      if (!used_.back()[g] && !system_.path(gpu, g).links.empty()) next.push_back(g);
    }
    std::stable_sort(next.begin(), next.end(), [&](std::size_t a, std::size_t b) {
      const NcclPath& pa = system_.path(gpu, a);
      const NcclPath& pb = system_.path(gpu, b);
      const long ra = pa.milli_GBps / 1000;  // whole GB/s
      const long rb = pb.milli_GBps / 1000;
      return ra != rb ? ra > rb : pa.links.size() < pb.links.size();
    });
    return next;
  }

  const NcclSystem& system_;
  const SearchRules& rules_;
  std::size_t gpus_;
  std::vector<long> left_;
  std::vector<std::vector<bool>> used_;
  Draft draft_;
  Draft* best_ = nullptr;
  int min_channels_ = 1;
  int most_channels_ = 1;
  long steps_ = 0;
};

void split_fast_channels(Draft& draft, int min_sm, int most_channels) {
  if (draft.channels == 0 || draft.speed < kSplitFrom) return;
  if (min_sm > 80 && draft.speed < kSplitManyFrom && draft.channels > 4) return;
  const int wanted = std::min(draft.channels * 2, most_channels);
  const int times = (wanted + draft.channels - 1) / draft.channels;
  for (int c = draft.channels; c < wanted; ++c)
    draft.orders.push_back(draft.orders[static_cast<std::size_t>(c - draft.channels)]);
  draft.speed /= times;
  draft.channels = wanted;
}

/// Several groups of GPUs, each joined by NVLink, with something slower between them.
bool nvlink_islands(const NcclSystem& system) {
  const std::size_t gpus = system.gpus().size();
  std::vector<std::size_t> island(gpus);
  std::vector<int> size(gpus, 0);
  for (std::size_t g = 0; g < gpus; ++g) {
    island[g] = g;
    for (std::size_t p = 0; p < g && island[g] == g; ++p) {
      if (system.path(p, g).type <= PathType::nvl) island[g] = island[p];
    }
    ++size[island[g]];
  }
  const auto islands = std::count_if(size.begin(), size.end(), [](int n) { return n > 0; });
  return islands > 1 && std::all_of(size.begin(), size.end(), [](int n) { return n != 1; });
}

/// NCCL's course through the relaxations.
class Relaxation {
 public:
  Relaxation(const NcclSystem& system, const SearchRules& rules, GraphPattern pattern, int min_channels,
             int most_channels)
      : system_(system),
        rules_(rules),
        searcher_(system, rules),
        min_channels_(min_channels),
        most_channels_(most_channels) {
    nearest_ = PathType::dis;
    farthest_ = PathType::loc;
    const std::size_t gpus = system.gpus().size();
    for (std::size_t a = 0; a < gpus; ++a) {
      for (std::size_t b = 0; b < gpus; ++b) {
        if (a == b) continue;
        nearest_ = std::min(nearest_, system.path(a, b).type);
        farthest_ = std::max(farthest_, system.path(a, b).type);
      }
    }
    total_ = system.widest_gpu();
    ring_total_ = total_;
    if (pattern == GraphPattern::ring && rules.two_for_split_nvlink && nvlink_islands(system)) {
      min_channels_ = std::max(min_channels_, std::min(2, most_channels_));
    }
    if (pattern != GraphPattern::ring) {
      total_ = total_ * static_cast<long>(gpus) / static_cast<long>(gpus - 1);
    }
    best_.pattern = pattern;
    best_.type = nearest_;
    trial_ = best_;
  }

  Draft result() {
    first_pass();
    best_.orders.resize(static_cast<std::size_t>(best_.channels));
    if (rules_.ring_second_pass) split_fast_channels(best_, system_.min_sm(), most_channels_);
    if (rules_.ring_second_pass || best_.pattern != GraphPattern::ring) second_pass();
    if (!rules_.ring_second_pass) split_fast_channels(best_, system_.min_sm(), most_channels_);
    best_.orders.resize(static_cast<std::size_t>(best_.channels));
    return best_;
  }

 private:
  std::size_t first_speed(long bound, long channels) const {
    std::size_t i = 0;
    while ((rules_.speeds[i] > bound || rules_.speeds[i] * channels > total_) && i + 1 < rules_.speeds.size())
      ++i;
    return i;
  }

  bool enough() const { return best_.bus() >= ring_total_; }

  /// @return true where the search is over
  bool try_once() {
    global_ -= Searcher::budget(trial_);
    steps_ = searcher_.run(trial_, min_channels_, most_channels_, best_);
    return steps_ == -1 || enough();
  }

  bool may_differ() const { return !(rules_.ring_second_pass && rules_.amd && trial_.type == PathType::sys); }

  bool try_types() {
    const GraphPattern pattern = trial_.pattern;
    for (;;) {
      trial_.same_channels = true;
      if (try_once()) return true;
      if (may_differ()) {
        trial_.same_channels = false;
        if (try_once()) return true;
        trial_.same_channels = true;
      }
      if (steps_ != -1) global_ += std::max(steps_, 0L);
      if (global_ < 0 && best_.channels > 0) return true;
      if (system_.min_sm() >= 90 && trial_.pattern == GraphPattern::balanced_tree) {
        trial_.pattern = GraphPattern::tree;
        continue;
      }
      trial_.pattern = pattern;
      const bool farther = trial_.type < farthest_ && (best_.channels == 0 || trial_.type < best_.type);
      if (!farther) break;
      trial_.type = static_cast<PathType>(static_cast<int>(trial_.type) + 1);
    }
    trial_.type = nearest_;
    return false;
  }

  void first_pass() {
    std::size_t speed = first_speed(system_.fastest_path(), min_channels_);
    for (;;) {
      trial_.speed = rules_.speeds[speed];
      if (try_types()) return;
      const bool slower = speed + 1 < rules_.speeds.size() &&
                          (best_.channels == 0 || 100 * rules_.speeds[speed + 1] > 49 * best_.speed);
      if (!slower) return;
      ++speed;
    }
  }

  /// The same number of channels, faster.
  void second_pass() {
    if (best_.channels == 0) return;
    trial_ = best_;
    std::size_t speed = 0;
    while (rules_.speeds[speed] > best_.speed && speed + 1 < rules_.speeds.size()) ++speed;
    min_channels_ = best_.channels;
    const long first = best_.speed;
    while (speed > 0) {
      trial_.speed = rules_.speeds[--speed];
      steps_ = searcher_.run(trial_, min_channels_, most_channels_, best_);
      if (steps_ == -1 || steps_ == 0 || enough()) break;
      // chains go on only while each step up succeeds, to less than twice the speed
      const bool on = best_.speed == trial_.speed && trial_.speed < 2 * first;
      if (best_.pattern != GraphPattern::ring && !on) break;
    }
  }

  const NcclSystem& system_;
  const SearchRules& rules_;
  Searcher searcher_;
  int min_channels_;
  int most_channels_;
  PathType nearest_;
  PathType farthest_;
  long total_ = 0;
  long ring_total_ = 0;
  long global_ = kGlobalSteps;
  long steps_ = 0;
  Draft best_;
  Draft trial_;
};

}  // namespace

NcclGraph plain_order(const std::vector<int>& gpus, GraphPattern pattern) {
  NcclGraph graph;
  graph.pattern = pattern;
  graph.channels = 1;
  graph.speed_intra = 0.1;
  graph.type_intra = PathType::sys;
  graph.fallback = true;
  graph.orders.push_back(gpus);
  return graph;
}

NcclGraph search_graph(const NcclSystem& system, const SearchRules& rules, GraphPattern pattern,
                       int min_channels, int most_channels) {
  if (system.gpus().size() < 2) return plain_order(system.gpus(), pattern);
  const Draft draft = Relaxation(system, rules, pattern, min_channels, most_channels).result();
  if (draft.channels == 0) return plain_order(system.gpus(), pattern);
  NcclGraph graph;
  graph.pattern = draft.pattern;
  graph.channels = draft.channels;
  graph.speed_intra = static_cast<double>(draft.speed) / 1000;
  graph.type_intra = draft.type;
  graph.same_channels = draft.same_channels;
  graph.hops = draft.hops;
  for (const auto& order : draft.orders) {
    std::vector<int> gpus;
    for (const std::size_t g : order) gpus.push_back(system.gpus()[g]);
    graph.orders.push_back(std::move(gpus));
  }
  return graph;
}

NcclGraph nvls_graph(const NcclSystem& system, const SearchRules& rules) {
  NcclGraph graph;
  graph.pattern = GraphPattern::nvls;
  graph.type_intra = PathType::nvl;
  const auto gpus = static_cast<long>(system.gpus().size());
  if (system.nvswitch_milli_GBps() == 0 || gpus < 3 || system.min_sm() < 90) return graph;
  for (const long speed : rules.speeds) {
    if (speed * (gpus + 1) > system.nvswitch_milli_GBps()) continue;  // a head's own link counts twice
    graph.channels = static_cast<int>(gpus);
    graph.speed_intra = static_cast<double>(speed) / 1000;
    break;
  }
  for (const int head : system.gpus()) graph.orders.push_back({head});
  return graph;
}

}  // namespace lanecast
