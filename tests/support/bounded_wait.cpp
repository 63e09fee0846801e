#include "tests/support/bounded_wait.hpp"

#include <string>

#include "model/error.hpp"

namespace lanecast::support {

void BoundedWait::give_up(const char* why, const char* what) const {
  throw Error(ErrorKind::runtime, std::string(why) + what + " from position " + std::to_string(peer_),
              "rank " + std::to_string(waiter_.rank) + ", channel " + std::to_string(waiter_.channel) +
                  ", strand " + std::to_string(waiter_.strand) + ", loop " + std::to_string(loop_) +
                  ", step " + std::to_string(step_) + ", slice " + std::to_string(slice_),
              "look for the rank that failed first, or raise ThreadCall::deadline on a loaded machine");
}

}  // namespace lanecast::support
