// Each line of the input is a `--set` and a size: both are taken or refused with an Error, and a refused
// `--set` leaves the machine as it was.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "configs/machine_paths.hpp"
#include "configs/machine_reader.hpp"
#include "configs/machine_writer.hpp"
#include "configs/quantity.hpp"
#include "model/error.hpp"

namespace {

const char* const box = R"(lanecast: 1
machine: box
cpus: [{name: cpu0}, {name: cpu1, socket: 1}]
roots: [{name: root0, cpu: cpu0}]
switches: [{name: sw0}]
gpus: [{name: gpu0}, {name: gpu.1}]
nvswitches: [{name: nvsw0}]
nics: [{name: nic0, rate: 25 GB/s}]
links:
  - {name: uplink0, from: root0, to: sw0, rate: gen3, width: x8, max_rate: gen4, max_width: x16}
  - {name: gpu0, from: sw0, to: gpu0, rate: gen3, width: x16}
  - {name: gpu.1, from: sw0, to: gpu.1, rate: gen3, width: x16}
  - {name: nic0, from: sw0, to: nic0, rate: gen3, width: x16}
  - {name: nv0, kind: nvlink, from: gpu0, to: nvsw0, count: 6}
  - {name: upi0, kind: socket, from: cpu0, to: cpu1}
)";

template <class Action>
bool taken(Action&& action) {
  try {
    action();
    return true;
  } catch (const lanecast::Error&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lanecast::Machine untouched = lanecast::read_machine_text(box, "box.yaml");
  lanecast::Machine machine = untouched;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  std::string before = lanecast::write_machine(machine);
  int lines_left = 16;  // more lines only make the fuzzer slow
  for (std::string line; lines_left-- > 0 && std::getline(lines, line);) {
    taken([&] { lanecast::read_size(line, "-b"); });
    const bool set = taken([&] { lanecast::apply_set(machine, line); });
    std::string after = lanecast::write_machine(machine);
    if (!set && after != before) std::abort();
    before = std::move(after);
  }
  if (!taken([&] { lanecast::apply_sets(machine, {}); })) return 0;  // the changes made no sound machine
  if (lanecast::write_machine(lanecast::read_machine_text(before, "again.yaml")) != before) std::abort();
  return 0;
}
