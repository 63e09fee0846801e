#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hw/measure/call_buffers.hpp"
#include "hw/measure/check.hpp"
#include "hw/measure/cuda_require.hpp"
#include "model/measured/measured_run.hpp"

namespace lanecast {
namespace {

/// One rank alone: its output is its input, whatever the operation.
class CheckOnGpu : public testing::TestWithParam<Datatype> {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU here";
  }

  static Call call_of(Datatype type, bool in_place) {
    Call call;
    call.datatype = type;
    call.size = Bytes(1001U * static_cast<unsigned>(element_bytes(type)));
    call.in_place = in_place;
    return call;
  }
  static ReferenceCall reference_of(const Call& call) {
    ReferenceCall reference;
    reference.type = call.datatype;
    reference.count = counted_elements(call, 1);
    return reference;
  }
  static void copy(void* to, const void* from, std::uint64_t bytes) {
    require_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy");
  }
};

TEST_P(CheckOnGpu, FindsNothingWrongInACopyOutOfPlaceAndInPlace) {
  ValueCheck check(nullptr);
  for (const bool in_place : {false, true}) {
    const Call call = call_of(GetParam(), in_place);
    CallBuffers buffers(call.size, Bytes(static_cast<unsigned>(element_bytes(call.datatype))));
    prepare_first(buffers, call, reference_of(call), 0, check);
    const CallPlace place = buffers.place(call, 0, 1, 0);
    if (!in_place) copy(place.output, place.input, call.size.value());
    const WrongElements wrong = check_first(buffers, call, reference_of(call), 0, check);
    EXPECT_EQ(wrong.count, 0U) << wrong.first;
  }
}

TEST_P(CheckOnGpu, FindsOutputThatWasNeverWritten) {
  ValueCheck check(nullptr);
  const Call call = call_of(GetParam(), false);
  CallBuffers buffers(call.size, Bytes(0));
  prepare_first(buffers, call, reference_of(call), 0, check);
  const WrongElements wrong = check_first(buffers, call, reference_of(call), 0, check);
  // Of bytes, one in 256 may be what poison is.
  EXPECT_GT(wrong.count, 900U);
  EXPECT_NE(wrong.first.find("of the output is"), std::string::npos) << wrong.first;
}

TEST_P(CheckOnGpu, FindsOneWrongElementAndNamesIt) {
  ValueCheck check(nullptr);
  const Call call = call_of(GetParam(), false);
  CallBuffers buffers(call.size, Bytes(0));
  prepare_first(buffers, call, reference_of(call), 0, check);
  const CallPlace place = buffers.place(call, 0, 1, 0);
  copy(place.output, place.input, call.size.value());
  const auto bytes = static_cast<std::uint64_t>(element_bytes(call.datatype));
  unsigned char last = 0;  // the byte with the sign or, of bytes, the only one
  copy(&last, place.output + 701 * bytes - 1, 1);
  last ^= 0x80;
  copy(place.output + 701 * bytes - 1, &last, 1);
  const WrongElements wrong = check_first(buffers, call, reference_of(call), 0, check);
  EXPECT_EQ(wrong.count, 1U);
  EXPECT_EQ(wrong.first.find("element 700 of the output is "), 0U) << wrong.first;
}

TEST_P(CheckOnGpu, FindsBytesOverwrittenBeforeAndBehindTheOutputAndInTheInput) {
  ValueCheck check(nullptr);
  const Call call = call_of(GetParam(), false);
  CallBuffers buffers(call.size, Bytes(0));
  prepare_first(buffers, call, reference_of(call), 0, check);
  const CallPlace place = buffers.place(call, 0, 1, 0);
  copy(place.output, place.input, call.size.value());
  const unsigned char zero = 0;
  copy(place.output - 1, &zero, 1);
  copy(place.output + call.size.value(), &zero, 1);
  WrongElements wrong = check_first(buffers, call, reference_of(call), 0, check);
  EXPECT_EQ(wrong.count, 2U) << wrong.first;
  EXPECT_EQ(wrong.first, "byte 255 of the 256 before the output was overwritten");
  prepare_first(buffers, call, reference_of(call), 0, check);
  copy(place.output, place.input, call.size.value());
  copy(place.input, place.input + static_cast<std::uint64_t>(element_bytes(call.datatype)),
       static_cast<std::uint64_t>(element_bytes(call.datatype)));
  wrong = check_first(buffers, call, reference_of(call), 0, check);
  EXPECT_EQ(wrong.count, 1U);
  EXPECT_EQ(wrong.first.find("element 0 of the input is "), 0U) << wrong.first;
}

INSTANTIATE_TEST_SUITE_P(AllTypes, CheckOnGpu,
                         testing::Values(Datatype::float32, Datatype::float16, Datatype::bfloat16,
                                         Datatype::float64, Datatype::int32, Datatype::int64,
                                         Datatype::uint8),
                         [](const auto& which) { return std::string(to_string(which.param)); });

}  // namespace
}  // namespace lanecast
