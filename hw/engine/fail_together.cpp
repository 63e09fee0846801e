#include "hw/engine/fail_together.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "model/error.hpp"

namespace lanecast {
namespace {

/// How a step went on one rank, as it travels: the kind's digit and the message; empty: it went well.
std::string outcome_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.kind())) + error.what();
  } catch (const std::exception& error) {
    return std::to_string(static_cast<int>(ErrorKind::runtime)) + error.what();
  }
  return "";
}

}  // namespace

void together(Exchange& exchange, const std::string& what, const std::function<void()>& step) {
  const std::vector<std::string> outcomes = exchange.all_gather(outcome_of(step), what);
  std::string message;
  std::string last;
  char kind = 0;
  int failed = 0;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].empty()) continue;
    ++failed;
    kind = kind == 0 || kind == outcomes[rank][0] ? outcomes[rank][0] : '1';
    const std::string text = outcomes[rank].substr(1);
    if (text == last) continue;  // often the same on all ranks
    message += (message.empty() ? "" : "\n") + std::string("rank ") + std::to_string(rank) + ": " + text;
    last = text;
  }
  if (failed != 0) throw Error(static_cast<ErrorKind>(kind - '0'), message);
}

}  // namespace lanecast
