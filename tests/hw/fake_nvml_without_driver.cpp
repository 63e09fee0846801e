// NVIDIA's management library where the kernel's module is not loaded.
#include "hw/nvml_library.hpp"

extern "C" {

int nvmlInit_v2() { return 9; }
int nvmlShutdown() { return 1; }
int nvmlDeviceGetCount_v2(unsigned*) { return 1; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, lanecast::nvml::Device*) { return 1; }
int nvmlDeviceGetPciInfo_v3(lanecast::nvml::Device, lanecast::nvml::PciInfo*) { return 1; }

}  // extern "C"
