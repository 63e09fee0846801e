#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "hw/engine/communicator.hpp"
#include "model/measured/reference_values.hpp"

namespace lanecast {

struct CheckTally;  // counters on the GPU

/// Elements that are not what they must be.
struct WrongElements {
  std::uint64_t count = 0;
  std::string first;  // "element 17 of the output is 3, not 2.5"; empty: none
};

/// Fills memory with what must not be there afterwards.
inline constexpr int kPoison = 0xa5;
inline constexpr std::uint64_t kGuardBytes = 256;

/// Fills and checks buffers on the current GPU: every element, by kernels
/// (model/measured/reference_values.hpp says with which values). All functions but the constructor act in the
/// order of the stream; those that return something wait for it.
class ValueCheck {
 public:
  explicit ValueCheck(Stream stream);
  ~ValueCheck();
  ValueCheck(const ValueCheck&) = delete;
  ValueCheck& operator=(const ValueCheck&) = delete;

  /// `elements` of a rank's input, from its element 0 on.
  void fill_input(void* to, const ReferenceCall& call, int rank, std::uint64_t elements);
  void poison(void* to, std::uint64_t bytes);

  /// Compares, and adds to what was found since `begin`.
  void begin();
  void compare_output(const void* from, const ReferenceCall& call, int rank, std::uint64_t elements);
  void compare_input(const void* from, const ReferenceCall& call, int rank, std::uint64_t elements);
  /// @param what  of the message: "byte 3 before the output was overwritten"
  void compare_poison(const void* from, std::uint64_t bytes, const std::string& what);
  WrongElements found() const { return found_; }

 private:
  void compare(const void* from, const ReferenceCall& call, int rank, std::uint64_t elements, bool output);

  Stream stream_;
  CheckTally* tally_ = nullptr;  // on the GPU
  WrongElements found_;
};

}  // namespace lanecast
