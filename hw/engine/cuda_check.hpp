#pragma once
#include <string>

namespace lanecast {

/// @param code  a cudaError_t; 0 is success
/// @param what  what was tried, on which device: "allocate the mailbox of rank 1 on device 0"
/// @param mend  may be empty
/// @throws Error  kind runtime, with CUDA's own words
void check_cuda(int code, const std::string& what, const std::string& where, const std::string& mend = "");

/// CUDA's words for a code, and forgets it.
std::string cuda_words(int code);

}  // namespace lanecast
