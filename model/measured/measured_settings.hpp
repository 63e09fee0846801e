#pragma once
#include <optional>
#include <string>

#include "model/measured/measurement.hpp"
#include "model/units.hpp"

namespace lanecast {

/// What a measured call ran with, as far as it is known: by the call, or else by NCCL's variables.
///
/// NCCL's variables bound channels and threads; small messages use fewer. A Call's fix them. So the readers
/// leave a variable a variable, and these tell configurations apart.
std::optional<int> set_channels(const MeasuredCall& measured);    // NCCL_MIN_NCHANNELS = NCCL_MAX_NCHANNELS
std::optional<int> set_threads(const MeasuredCall& measured);     // NCCL_NTHREADS, NCCL_LL128_NTHREADS
std::optional<Bytes> set_buffsize(const MeasuredCall& measured);  // NCCL_BUFFSIZE and its siblings

/// Sets them: in the call where lanecast's engine ran, else as NCCL's variables.
void set_channels(MeasuredCall& measured, int channels);
void set_threads(MeasuredCall& measured, int threads);
void set_buffsize(MeasuredCall& measured, Bytes buffsize);

}  // namespace lanecast
