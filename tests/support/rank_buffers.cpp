#include "tests/support/rank_buffers.hpp"

#include <algorithm>

namespace lanecast::support {

RankBuffers::RankBuffers(Collective collective, bool in_place, const std::vector<std::byte>& input,
                         std::size_t output_bytes, int block, std::byte poison)
    : in_place_(in_place), input_before_(input), output_bytes_(output_bytes) {
  const std::size_t buffer_bytes = in_place ? std::max(input.size(), output_bytes) : output_bytes;
  memory_.assign(guard_bytes + buffer_bytes + guard_bytes, poison);
  if (in_place) {
    const auto rank = static_cast<std::size_t>(block);
    if (collective == Collective::all_gather) input_begin_ += rank * input.size();
    if (collective == Collective::reduce_scatter) output_begin_ += rank * output_bytes;
    std::copy(input.begin(), input.end(), memory_.data() + input_begin_);
  } else {
    input_copy_ = input;
  }
  memory_before_ = memory_;
}

std::vector<std::byte> RankBuffers::take_output() const {
  const std::byte* begin = memory_.data() + output_begin_;
  return {begin, begin + output_bytes_};
}

bool RankBuffers::only_output_changed() const {
  const std::byte* now = memory_.data();
  const std::byte* before = memory_before_.data();
  const std::size_t output_end = output_begin_ + output_bytes_;
  return std::equal(now, now + output_begin_, before) &&
         std::equal(now + output_end, now + memory_.size(), before + output_end) &&
         (in_place_ || input_copy_ == input_before_);
}

}  // namespace lanecast::support
