#include "hw/measure/call_buffers.hpp"

#include <cuda_runtime_api.h>

#include "hw/measure/cuda_require.hpp"
#include "model/measured/measured_run.hpp"

namespace lanecast {
namespace {

std::byte* allocated(std::uint64_t bytes, const char* what) {
  void* memory = nullptr;
  require_cuda(cudaMalloc(&memory, bytes),
               "allocate " + std::to_string(bytes) + " bytes for the " + std::string(what));
  return static_cast<std::byte*>(memory);
}

std::uint64_t bytes_of(const Call& call, std::uint64_t elements) {
  return elements * static_cast<std::uint64_t>(element_bytes(call.datatype));
}

}  // namespace

CallBuffers::CallBuffers(Bytes span, Bytes offset) : span_(span), offset_(offset) {
  const std::uint64_t bytes = span.value() + offset.value() + 2 * kGuardBytes;
  input_ = allocated(bytes, "input");
  try {
    output_ = allocated(bytes, "output");
  } catch (...) {
    cudaFree(input_);
    throw;
  }
}

CallBuffers::~CallBuffers() {
  cudaFree(input_);
  cudaFree(output_);
}

CallPlace CallBuffers::place(const Call& call, int rank, int ranks, std::uint64_t rotated) const {
  CallPlace place{first_input() + rotated, first_output() + rotated};
  if (!call.in_place) return place;
  const std::uint64_t block =
      bytes_of(call, counted_elements(call, ranks)) * static_cast<std::uint64_t>(rank);
  place.input = place.output;
  if (call.collective == Collective::all_gather) place.input += block;
  if (call.collective == Collective::reduce_scatter) place.output += block;
  return place;
}

Bytes touched_bytes(const Call& call, int ranks) {
  if (call.in_place) return call.size;
  const std::uint64_t block = bytes_of(call, counted_elements(call, ranks));
  const bool blocks =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  return Bytes(call.size.value() + (blocks ? block : call.size.value()));
}

void prepare_first(const CallBuffers& buffers, const Call& call, const ReferenceCall& reference, int rank,
                   ValueCheck& check) {
  const std::uint64_t around = call.size.value() + 2 * kGuardBytes;
  check.poison(buffers.first_output() - kGuardBytes, around);
  if (!call.in_place) check.poison(buffers.first_input() - kGuardBytes, around);
  const CallPlace place = buffers.place(call, rank, reference.ranks, 0);
  check.fill_input(place.input, reference, rank, input_elements(reference, rank));
}

WrongElements check_first(const CallBuffers& buffers, const Call& call, const ReferenceCall& reference,
                          int rank, ValueCheck& check) {
  const CallPlace place = buffers.place(call, rank, reference.ranks, 0);
  const std::uint64_t output = output_elements(reference, rank);
  const std::uint64_t input = input_elements(reference, rank);
  std::byte* const region = buffers.first_output();
  check.begin();
  check.compare_output(place.output, reference, rank, output);
  if (!call.in_place) {
    check.compare_input(place.input, reference, rank, input);
  } else if (output == 0) {  // in place, and this rank only gives
    check.compare_input(place.input, reference, rank, input);
  }
  // What the region holds: in place input or output, whichever is longer, and out of place the output.
  const std::uint64_t used = call.in_place ? call.size.value() : bytes_of(call, output);
  check.compare_poison(region - kGuardBytes, kGuardBytes, "of the 256 before the output was overwritten");
  check.compare_poison(region + used, call.size.value() - used + kGuardBytes,
                       "behind the output was overwritten");
  return check.found();
}

}  // namespace lanecast
