#include "model/predict/call.hpp"

#include <array>
#include <utility>

namespace lanecast {
namespace {

template <class Enum, std::size_t N>
std::optional<Enum> by_name(const std::array<std::pair<const char*, Enum>, N>& names,
                            const std::string& text) {
  for (const auto& [name, value] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

// nccl-tests' names first (they are what we print), then common spellings.
constexpr std::array<std::pair<const char*, Datatype>, 15> kDatatypes{{{"float", Datatype::float32},
                                                                       {"half", Datatype::float16},
                                                                       {"bfloat16", Datatype::bfloat16},
                                                                       {"double", Datatype::float64},
                                                                       {"int32", Datatype::int32},
                                                                       {"int64", Datatype::int64},
                                                                       {"uint8", Datatype::uint8},
                                                                       {"float32", Datatype::float32},
                                                                       {"f32", Datatype::float32},
                                                                       {"float16", Datatype::float16},
                                                                       {"f16", Datatype::float16},
                                                                       {"bf16", Datatype::bfloat16},
                                                                       {"float64", Datatype::float64},
                                                                       {"f64", Datatype::float64},
                                                                       {"int", Datatype::int32}}};

constexpr std::array<std::pair<const char*, ReduceOp>, 5> kOps{{{"sum", ReduceOp::sum},
                                                                {"prod", ReduceOp::prod},
                                                                {"max", ReduceOp::max},
                                                                {"min", ReduceOp::min},
                                                                {"avg", ReduceOp::avg}}};

constexpr std::array<std::pair<const char*, Collective>, 5> kCollectives{
    {{"all_reduce", Collective::all_reduce},
     {"reduce_scatter", Collective::reduce_scatter},
     {"all_gather", Collective::all_gather},
     {"broadcast", Collective::broadcast},
     {"reduce", Collective::reduce}}};

template <class Enum, std::size_t N>
const char* name_of(const std::array<std::pair<const char*, Enum>, N>& names, Enum wanted) {
  for (const auto& [name, value] : names) {
    if (value == wanted) return name;
  }
  return "?";
}

}  // namespace

int element_bytes(Datatype type) {
  switch (type) {
    case Datatype::float64:
    case Datatype::int64:
      return 8;
    case Datatype::float32:
    case Datatype::int32:
      return 4;
    case Datatype::float16:
    case Datatype::bfloat16:
      return 2;
    case Datatype::uint8:
      return 1;
  }
  return 4;
}

const char* to_string(Datatype type) { return name_of(kDatatypes, type); }
const char* to_string(ReduceOp op) { return name_of(kOps, op); }
const char* to_string(Collective c) { return name_of(kCollectives, c); }
const char* to_string(Transport t) { return t == Transport::p2p ? "p2p" : "shm"; }
const char* to_string(Launch launch) { return launch == Launch::graph ? "graph" : "stream"; }
const char* to_string(Registration r) {
  switch (r) {
    case Registration::automatic:
      return "auto";
    case Registration::on:
      return "on";
    case Registration::off:
      return "off";
  }
  return "?";
}

std::optional<Datatype> datatype_from_string(const std::string& text) { return by_name(kDatatypes, text); }
std::optional<ReduceOp> reduce_op_from_string(const std::string& text) { return by_name(kOps, text); }
std::optional<Collective> collective_from_string(const std::string& text) {
  return by_name(kCollectives, text);
}

double busbw_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
      return (n - 1.0) / n;
    case Collective::broadcast:
    case Collective::reduce:
      return 1.0;
  }
  return 1.0;
}

}  // namespace lanecast
