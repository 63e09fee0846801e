#include "tests/support/collective_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "model/schedule/tree_shape.hpp"

namespace lanecast::support {
namespace {

using Buffer = std::vector<std::byte>;

template <class T>
T element(const Buffer& buffer, std::uint64_t index) {
  T value;
  std::memcpy(&value, buffer.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
long double to_real(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<long double>(value);
  } else {
    return static_cast<long double>(to_float(value));
  }
}

template <class T>
T from_real(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_from_float(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return bfloat16_from_float(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, Half>) return 11;
  if constexpr (std::is_same_v<T, Bfloat16>) return 8;
  return std::numeric_limits<T>::digits;
}

template <class T>
T draw(std::mt19937_64& random, ReduceOp op) {
  const std::uint64_t bits = random();
  if constexpr (std::is_integral_v<T>) {
    return op == ReduceOp::avg ? static_cast<T>(bits % 8) : static_cast<T>(bits);
  } else {
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
    if (op == ReduceOp::prod) return from_real<T>((0.75 + 0.5 * unit) * ((bits & 1U) != 0 ? 1.0 : -1.0));
    return from_real<T>(2.0 * unit - 1.0);
  }
}

Buffer draw_buffer(Datatype type, ReduceOp op, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return visit_datatype(type, [&](auto zero) {
    using T = decltype(zero);
    Buffer buffer(count * sizeof(T));
    for (std::uint64_t i = 0; i < count; ++i) {
      const T value = draw<T>(random, op);
      std::memcpy(buffer.data() + i * sizeof(T), &value, sizeof(T));
    }
    return buffer;
  });
}

/// The contribution of each rank to one element of the result.
template <class T>
std::vector<T> contributions(const ThreadCall& call, std::uint64_t index) {
  std::vector<T> values;
  for (const Buffer& input : call.inputs) values.push_back(element<T>(input, index));
  return values;
}

template <class T>
bool extreme_is(const std::vector<T>& values, ReduceOp op, T got) {
  const auto less = [](T a, T b) { return to_real(a) < to_real(b); };
  const T want = op == ReduceOp::max ? *std::max_element(values.begin(), values.end(), less)
                                     : *std::min_element(values.begin(), values.end(), less);
  return to_real(got) == to_real(want);
}

template <class T>
bool integer_is(const std::vector<T>& values, ReduceOp op, T got) {
  if (op == ReduceOp::avg) {  // drawn so small that nothing overflows
    long long sum = 0;
    for (const T value : values) sum += static_cast<long long>(value);
    return got == static_cast<T>(sum / static_cast<long long>(values.size()));
  }
  std::uint64_t result = op == ReduceOp::prod ? 1 : 0;
  for (const T value : values) {
    const auto factor = static_cast<std::uint64_t>(value);
    result = op == ReduceOp::prod ? result * factor : result + factor;
  }
  return got == static_cast<T>(result);
}

template <class T>
bool float_is(const std::vector<T>& values, ReduceOp op, T got) {
  const auto n = static_cast<long double>(values.size());
  const long double roundings = n * std::ldexp(1.0L, -significand_bits<T>());
  const long double gamma = roundings / (1 - roundings);
  long double result = op == ReduceOp::prod ? 1 : 0;
  long double magnitude = result;
  for (const T value : values) {
    result = op == ReduceOp::prod ? result * to_real(value) : result + to_real(value);
    magnitude = op == ReduceOp::prod ? std::fabs(result) : magnitude + std::fabs(to_real(value));
  }
  const long double divisor = op == ReduceOp::avg ? n : 1;
  return std::fabs(to_real(got) - result / divisor) <= gamma * magnitude / divisor;
}

template <class T>
bool reduction_is(const std::vector<T>& values, ReduceOp op, T got) {
  if (op == ReduceOp::max || op == ReduceOp::min) return extreme_is(values, op, got);
  if constexpr (std::is_integral_v<T>) {
    return integer_is(values, op, got);
  } else {
    return float_is(values, op, got);
  }
}

std::string reduction_mismatch(const ThreadCall& call, const Buffer& output, std::uint64_t input_begin) {
  return visit_datatype(call.type, [&](auto zero) -> std::string {
    using T = decltype(zero);
    for (std::uint64_t i = 0; i < call.count; ++i) {
      const T got = element<T>(output, i);
      if (!reduction_is(contributions<T>(call, input_begin + i), call.op, got)) {
        return "element " + std::to_string(i) + " is " + std::to_string(to_real(got));
      }
    }
    return "";
  });
}

std::string copy_mismatch(const Buffer& output, const Buffer& want) {
  return output == want ? "" : "the output is not the exact copy it should be";
}

Buffer concatenation(const std::vector<Buffer>& inputs) {
  Buffer all;
  for (const Buffer& input : inputs) all.insert(all.end(), input.begin(), input.end());
  return all;
}

std::string rank_mismatch(const ThreadCall& call, const Buffer& output, int rank) {
  const ChannelWork& work = call.plan.works[0][0];
  const auto r = static_cast<std::size_t>(rank);
  switch (work.collective) {
    case Collective::all_reduce:
      return reduction_mismatch(call, output, 0);
    case Collective::reduce_scatter:
      return reduction_mismatch(call, output, r * call.count);
    case Collective::all_gather:
      return copy_mismatch(output, concatenation(call.inputs));
    case Collective::broadcast:
      return copy_mismatch(output, call.inputs[static_cast<std::size_t>(call.root)]);
    case Collective::reduce:
      break;
  }
  if (rank == call.root) return reduction_mismatch(call, output, 0);
  return copy_mismatch(output, work.in_place ? call.inputs[r] : Buffer(output.size(), call.poison));
}

/// Two complementary trees, of half the data each.
bool is_double(const ScheduleShape& shape) {
  if (shape.schedule == Schedule::tree)
    return shape.tree == TreeShape::binary || shape.tree == TreeShape::nodes;
  return shape.schedule == Schedule::hierarchical && shape.outer_tree;
}

}  // namespace

std::string describe(const CollectiveCase& c) {
  return std::string(to_string(c.collective)) + ", " + describe(c.shape) + ", " + std::to_string(c.ranks) +
         " ranks, " + to_string(c.protocol) + ", " + to_string(c.type) + " " + to_string(c.op) + ", count " +
         std::to_string(c.count) + ", root " + std::to_string(c.root) + (c.in_place ? ", in place" : "") +
         ", " + std::to_string(c.channels) + " channels" + (c.shuffled ? " shuffled" : "") + ", chunk " +
         std::to_string(c.geometry.chunk_count) + " in " + std::to_string(c.geometry.slices_per_chunk) +
         " slices, depth " + std::to_string(c.fifo_depth) + ", seed " + std::to_string(c.seed);
}

std::vector<RankOrder> orders_of(const CollectiveCase& c) {
  const int node_ranks = c.shape.group_ranks == 1 ? c.ranks : c.shape.group_ranks;
  std::vector<RankOrder> orders;
  for (int channel = 0; channel < c.channels; ++channel) {
    const std::uint64_t seed = c.seed + static_cast<std::uint64_t>(channel);
    orders.push_back(c.shuffled ? shuffled_within_nodes(c.ranks, node_ranks, seed) : plain_order(c.ranks));
    if (is_double(c.shape) && channel % 2 == 1)
      orders.back() = complement_order(orders[orders.size() - 2], c.shape.group_ranks);
  }
  const bool rooted = c.collective == Collective::broadcast || c.collective == Collective::reduce;
  if (!rooted || c.shape.schedule != Schedule::tree || c.shape.tree == TreeShape::star) return orders;
  for (RankOrder& order : orders)
    std::iter_swap(order.begin(), std::find(order.begin(), order.end(), c.root));
  return orders;
}

ThreadCall make_call(const CollectiveCase& c) {
  ShareSplit split;
  split.collective = c.collective;
  split.shape = c.shape;
  split.orders = orders_of(c);
  split.root = c.root;
  split.in_place = c.in_place;
  split.element_bytes = element_bytes(c.type);
  split.count = c.count;
  split.geometry = c.geometry;

  ThreadCall call;
  call.protocol = c.protocol;
  call.type = c.type;
  call.op = c.op;
  call.count = c.count;
  call.root = c.root;
  call.plan = split_evenly(split);
  call.fifo_depth = c.fifo_depth;
  for (int rank = 0; rank < c.ranks; ++rank) {
    call.inputs.push_back(draw_buffer(c.type, c.op, input_count(c.collective, c.count, c.ranks),
                                      c.seed * 1000 + static_cast<std::uint64_t>(rank)));
  }
  return call;
}

std::string mismatch(const ThreadCall& call, const ThreadResult& result) {
  const bool same_everywhere = call.plan.works[0][0].collective == Collective::all_reduce;
  for (std::size_t rank = 0; rank < result.outputs.size(); ++rank) {
    const std::string wrong = rank_mismatch(call, result.outputs[rank], static_cast<int>(rank));
    if (!wrong.empty()) return "rank " + std::to_string(rank) + ": " + wrong;
    if (same_everywhere && result.outputs[rank] != result.outputs[0])
      return "rank " + std::to_string(rank) + " has other bits than rank 0";
  }
  return "";
}

}  // namespace lanecast::support
