#include "cli/measure_run.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::no_hardware, "this lanecast was built without CUDA, which `measure` runs on",
              "the build: nvcc was not found",
              "put nvcc on the PATH or set CUDACXX, and configure and build again");
}

}  // namespace

int number_of_ranks(std::optional<int>) { refuse(); }

void check_launcher(std::optional<int>, RanksAs) {}

void run_measurement(const MeasureRequest&, const MeasureOptions&, const Session&) { refuse(); }

std::vector<std::string> planned_micro(const std::string& suite, int) {
  return {"micro-benchmarks of --suite " + suite + ": a build with CUDA lists them"};
}

}  // namespace lanecast
