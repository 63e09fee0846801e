#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/option_values.hpp"
#include "hw/engine/staging.hpp"
#include "model/predict/call.hpp"

namespace lanecast {

/// A list of an option, such as `simple,ll`: each value once, in the order given.
/// @param one   reads one value; throws Error, kind usage, for what is none
/// @param all   what the word `all` stands for
template <class T>
std::vector<T> read_list(const std::string& text, const std::vector<T>& all,
                         const std::function<T(const std::string&)>& one) {
  if (text == "all" && !all.empty()) return all;
  std::vector<T> values;
  for (const std::string& piece : split(text, ',')) {
    const T value = one(piece);
    bool known = false;
    for (const T& each : values) known = known || each == value;
    if (!known) values.push_back(value);
  }
  return values;
}

/// Lists of what a call can be. Absent: `auto`, the engine's choice.
/// @throws Error  kind usage: a word that is none, naming the choices
std::vector<Collective> read_collectives(const std::string& text);  // "none" is no collective
std::vector<Datatype> read_datatypes(const std::string& text);
std::vector<ReduceOp> read_ops(const std::string& text);
std::vector<std::optional<Algorithm>> read_algorithms(const std::string& text);
std::vector<std::optional<Protocol>> read_protocols(const std::string& text);
std::vector<std::optional<Transport>> read_transports(const std::string& text);
std::vector<std::optional<Staging>> read_stagings(const std::string& text);
std::vector<std::optional<int>> read_counts(const std::string& text, const std::string& flag, int high);
std::vector<std::optional<Bytes>> read_byte_sizes(const std::string& text, const std::string& flag);

}  // namespace lanecast
