#include "cli/measure_lists.hpp"

#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 30;

/// Choices by name, with `auto` for what the engine chooses; `all` is every one but `auto`.
template <class T>
std::vector<std::optional<T>> named_list(const std::string& text, const std::string& flag,
                                         const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::optional<T>> all;
  std::vector<std::pair<std::string, std::optional<T>>> with_auto{{"auto", std::nullopt}};
  for (const auto& [name, value] : choices) {
    all.push_back(value);
    with_auto.emplace_back(name, value);
  }
  return read_list<std::optional<T>>(text, all, [&](const std::string& word) {
    return read_choice<std::optional<T>>(word, flag, with_auto);
  });
}

/// The same where there is no `auto`, by a function that knows the names.
template <class T, class FromString>
std::vector<T> known_list(const std::string& text, const std::string& flag, const std::vector<T>& all,
                          FromString from_string) {
  return read_list<T>(text, all, [&](const std::string& word) {
    if (const std::optional<T> value = from_string(word)) return *value;
    std::vector<std::string> names;
    for (const T& each : all) names.emplace_back(to_string(each));
    names.emplace_back("all");
    throw unknown_choice(word, flag, names);
  });
}

}  // namespace

std::vector<Collective> read_collectives(const std::string& text) {
  if (text == "none") return {};
  return known_list<Collective>(text, "--collective",
                                {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                 Collective::broadcast, Collective::reduce},
                                collective_from_string);
}

std::vector<Datatype> read_datatypes(const std::string& text) {
  return known_list<Datatype>(text, "--datatype",
                              {Datatype::float32, Datatype::float16, Datatype::bfloat16, Datatype::float64,
                               Datatype::int32, Datatype::int64, Datatype::uint8},
                              datatype_from_string);
}

std::vector<ReduceOp> read_ops(const std::string& text) {
  return known_list<ReduceOp>(text, "--op",
                              {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min, ReduceOp::avg},
                              reduce_op_from_string);
}

std::vector<std::optional<Algorithm>> read_algorithms(const std::string& text) {
  std::vector<std::pair<std::string, Algorithm>> choices;
  for (const Algorithm algorithm : simulated_algorithms())
    choices.emplace_back(to_string(algorithm), algorithm);
  if (text == "all") return named_list(text, "--algorithm", choices);
  choices.emplace_back("direct", Algorithm::direct);
  choices.emplace_back("hierarchical", Algorithm::hierarchical);
  return named_list(text, "--algorithm", choices);
}

std::vector<std::optional<Protocol>> read_protocols(const std::string& text) {
  return named_list<Protocol>(
      text, "--protocol", {{"simple", Protocol::simple}, {"ll", Protocol::ll}, {"ll128", Protocol::ll128}});
}

std::vector<std::optional<Transport>> read_transports(const std::string& text) {
  return named_list<Transport>(text, "--transport", {{"p2p", Transport::p2p}, {"shm", Transport::shm}});
}

std::vector<std::optional<Staging>> read_stagings(const std::string& text) {
  return named_list<Staging>(text, "--staging", {{"sm", Staging::kernels}, {"ce", Staging::copy_engines}});
}

std::vector<std::optional<int>> read_counts(const std::string& text, const std::string& flag, int high) {
  return read_list<std::optional<int>>(text, {}, [&](const std::string& word) -> std::optional<int> {
    if (word == "auto") return std::nullopt;
    return static_cast<int>(read_integer(word, flag, 1, high));
  });
}

std::vector<std::optional<Bytes>> read_byte_sizes(const std::string& text, const std::string& flag) {
  return read_list<std::optional<Bytes>>(text, {}, [&](const std::string& word) -> std::optional<Bytes> {
    if (word == "auto") return std::nullopt;
    const Bytes size = read_size(word, flag + " " + printable(word));
    if (size.value() != 0 && size.value() <= kLargestBuffer) return size;
    throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(word) + "`", flag,
                "take a size from 1 to 1G, or leave it out");
  });
}

}  // namespace lanecast
