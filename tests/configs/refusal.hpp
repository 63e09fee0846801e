#pragma once
#include <string>
#include <utility>

#include "configs/machine_reader.hpp"
#include "model/error.hpp"

namespace lanecast {

/// What `action` throws as an Error of kind usage; other exceptions pass, and "" means that nothing was
/// thrown.
template <class Action>
std::string refusal(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::usage ? error.what() : std::string("not kind usage: ") + error.what();
  }
  return "";
}

/// What the reader says about a faulty machine file named box.yaml.
inline std::string refusal_of_text(const std::string& text) {
  return refusal([&] { read_machine_text(text, "box.yaml"); });
}

}  // namespace lanecast
