#include "model/implementation/implementation.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "model/topology/routes.hpp"

namespace lanecast {

std::string Implementation::name() const {
  if (library == Library::lanecast) return "lanecast";
  return "nccl-" + std::to_string(major) + "." + std::to_string(minor);
}

Implementation implementation_from_string(const std::string& text) {
  Implementation implementation;
  if (text == "lanecast") {
    implementation.library = Library::lanecast;
    return implementation;
  }
  if (text == "nccl") return implementation;
  const std::string prefix = "nccl-2.";
  const std::string minor = text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : "";
  const std::string digits = minor.substr(0, minor.find('.'));
  const bool number = !digits.empty() && digits.size() <= 2 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && std::stoi(digits) >= 18 && std::stoi(digits) <= 30) {
    implementation.minor = std::stoi(digits);
    return implementation;
  }
  throw Error(ErrorKind::usage, "unknown implementation `" + text + "`", "--implementation",
              "take `nccl`, `nccl-2.18` to `nccl-2.30`, or `lanecast`");
}

Distance default_p2p_level(const Implementation& implementation, const Machine& machine) {
  if (implementation.library == Library::lanecast) return Distance::sys;
  const auto is = [&](const char* vendor) {
    return std::any_of(machine.cpus.begin(), machine.cpus.end(),
                       [&](const Cpu& cpu) { return cpu.vendor == vendor; });
  };
  if (implementation.minor >= 23) {
    const bool small_amd = is("amd") && !is("intel") && present_gpus(machine).size() <= 2;
    return small_amd ? Distance::sys : Distance::pxb;
  }
  return is("intel") || is("arm") || is("zhaoxin") ? Distance::pxb : Distance::sys;
}

std::vector<int> ring_order(const Machine& machine, const Call& call) {
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

}  // namespace lanecast
