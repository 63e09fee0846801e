#include "model/advice/ring_order_search.hpp"

#include <utility>

namespace lanecast {
namespace {

/// Goes down the tree of orders depth first, ranks in the order of their indices.
class AllOrders {
 public:
  AllOrders(const RingHops& hops, const std::vector<std::size_t>& twins)
      : ranks_(hops.ranks()), twins_(twins), tally_(hops), placed_(hops.ranks(), false) {
    order_.push_back(0);
    placed_[0] = true;
  }

  FoundOrders run() {
    extend();
    return std::move(found_);
  }

 private:
  void extend() {
    if (order_.size() == ranks_) {
      close();
      return;
    }
    std::vector<bool> tried(ranks_, false);  // [smallest twin]
    for (std::size_t next = 1; next < ranks_; ++next) {
      if (placed_[next] || tried[twins_[next]]) continue;
      tried[twins_[next]] = true;
      place(next);
    }
  }

  void place(std::size_t next) {
    const std::size_t last = order_.back();
    const bool has_both_neighbours = order_.size() > 1;
    const std::size_t before = has_both_neighbours ? order_[order_.size() - 2] : last;
    if (has_both_neighbours) tally_.add(before, last, next);
    order_.push_back(next);
    placed_[next] = true;
    extend();
    placed_[next] = false;
    order_.pop_back();
    if (has_both_neighbours) tally_.remove(before, last, next);
  }

  void close() {
    const std::size_t last = order_.back();
    const std::size_t before = order_[order_.size() - 2];
    tally_.add(before, last, order_[0]);
    tally_.add(last, order_[0], order_[1]);
    found_.look_at(order_, tally_.score());
    tally_.remove(last, order_[0], order_[1]);
    tally_.remove(before, last, order_[0]);
  }

  std::size_t ranks_;
  const std::vector<std::size_t>& twins_;
  RingTally tally_;
  std::vector<bool> placed_;
  RankOrder order_;
  FoundOrders found_;
};

}  // namespace

void FoundOrders::look_at(const RankOrder& order, const RingScore& score) {
  ++looked_at;
  if (best.empty() || score < best_score || (score == best_score && order < best)) {
    best = order;
    best_score = score;
  }
  if (worst.empty() || score > worst_score || (score == worst_score && order < worst)) {
    worst = order;
    worst_score = score;
  }
}

FoundOrders search_all_orders(const RingHops& hops, const std::vector<std::size_t>& twins) {
  return AllOrders(hops, twins).run();
}

}  // namespace lanecast
