#include "model/implementation/implementation.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {
namespace {

constexpr int kOldest = 18;  // NCCL 2.x
constexpr int kNewest = 30;
constexpr int kRcclFollows = 21;  // RCCL of October 2024

}  // namespace

std::string Implementation::name() const {
  if (library == Library::lanecast) return "lanecast";
  if (library == Library::rccl) return "rccl";
  return (own_cost_model ? "nccl-model-2." : "nccl-2.") + std::to_string(minor);
}

Implementation implementation_from_string(const std::string& text) {
  Implementation implementation;
  if (text == "lanecast" || text == "rccl") {
    implementation.library = text == "rccl" ? Library::rccl : Library::lanecast;
    if (text == "rccl") implementation.minor = kRcclFollows;
    return implementation;
  }
  std::string rest = text;
  if (rest.rfind("nccl-model", 0) == 0) {
    implementation.own_cost_model = true;
    rest = "nccl" + rest.substr(std::string("nccl-model").size());
  }
  if (rest == "nccl") return implementation;
  const std::string prefix = "nccl-2.";
  const std::string minor = rest.rfind(prefix, 0) == 0 ? rest.substr(prefix.size()) : "";
  const std::string digits = minor.substr(0, minor.find('.'));
  const bool number = !digits.empty() && digits.size() <= 2 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && std::stoi(digits) >= kOldest && std::stoi(digits) <= kNewest) {
    implementation.minor = std::stoi(digits);
    return implementation;
  }
  throw Error(ErrorKind::usage, "unknown implementation `" + text + "`", "--implementation",
              "take `nccl`, `nccl-2.18` to `nccl-2.30`, `nccl-model` (its own estimates), `rccl` or "
              "`lanecast`");
}

Distance distance_of(PathType level) {
  if (level >= PathType::sys) return Distance::sys;
  if (level >= PathType::p2c) return Distance::node;
  if (level == PathType::pxb) return Distance::pxb;
  if (level == PathType::pix) return Distance::pix;
  return level == PathType::loc ? Distance::loc : Distance::nvl;
}

Distance default_p2p_level(const Implementation& implementation, const Machine& machine, int gpus) {
  if (implementation.library == Library::lanecast) return Distance::sys;
  const std::string vendor = machine.cpus.empty() ? "unknown" : machine.cpus.front().vendor;
  return distance_of(default_p2p_level(nccl_rules(implementation.version()), vendor, gpus));
}

std::vector<int> call_ranks(const Machine& machine, const Call& call) {
  std::vector<int> order = call.ranks.empty() ? present_gpus(machine) : call.ranks;
  const auto where = "--ranks";
  std::vector<bool> seen(machine.gpus.size(), false);
  for (const int rank : order) {
    const std::string name = "GPU " + std::to_string(rank);
    if (rank < 0 || static_cast<std::size_t>(rank) >= machine.gpus.size()) {
      throw Error(ErrorKind::usage,
                  name + " does not exist: `" + machine.name + "` has " +
                      std::to_string(machine.gpus.size()) + " GPUs",
                  where, "take indices from 0 to " + std::to_string(machine.gpus.size() - 1));
    }
    if (!machine.gpus[static_cast<std::size_t>(rank)].present) {
      throw Error(ErrorKind::usage, name + " is not present (gpus.NAME.present: false)", where,
                  "leave it out");
    }
    if (seen[static_cast<std::size_t>(rank)]) {
      throw Error(ErrorKind::usage, name + " is named twice", where, "name each GPU once");
    }
    seen[static_cast<std::size_t>(rank)] = true;
  }
  if (order.empty()) {
    throw Error(ErrorKind::usage, "`" + machine.name + "` has no GPU that is present", "gpus",
                "set one present");
  }
  if (!call.order_given) std::sort(order.begin(), order.end());
  return order;
}

const Connection& ResolvedCall::connection(int from_gpu, int to_gpu) const {
  const auto at = std::lower_bound(connections.begin(), connections.end(), std::pair(from_gpu, to_gpu),
                                   [](const Connection& c, const std::pair<int, int>& pair) {
                                     return std::pair(c.from_gpu, c.to_gpu) < pair;
                                   });
  return *at;
}

}  // namespace lanecast
