#pragma once

struct CUstream_st;

namespace lanecast {

/// Makes a non-blocking stream on the current device that has already run a kernel; one thread of the process
/// at a time. Streams that several threads use for the first time at once can end up behind each other: seen
/// on two H200 (driver 580.159.04) with eight threads, where one in eight first calls did not start before
/// another rank's kernel, which waited for it, had given up.
/// @param priority  as CUDA counts; 0: the usual
/// @return          CUDA's error code, 0 is success
int make_stream(CUstream_st** stream, int priority = 0);

}  // namespace lanecast
