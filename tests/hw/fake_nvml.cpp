// NVIDIA's management library of an invented machine. GPU 0 has two NVLinks to GPU 1, one to a switch, and
// one that is down; GPU 1 idles and has an old driver's gaps; GPU 2 is lost.
#include <cstdio>
#include <cstring>

#include "hw/nvml_library.hpp"

using lanecast::nvml::Device;
using lanecast::nvml::FieldValue;
using lanecast::nvml::Memory;
using lanecast::nvml::PciInfo;

namespace {

constexpr int kNotSupported = 3;
constexpr int kInvalid = 2;
constexpr int kLost = 15;

char gpus[3];

Device handle(unsigned index) { return reinterpret_cast<Device>(&gpus[index]); }
unsigned index_of(Device device) { return device == handle(0) ? 0 : 1; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.00.01");
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index == 2) return kLost;
  *device = handle(index);
  return 0;
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  info->pci_device_id = 0x233510deU;
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", 0x3bU + index_of(device));
  return 0;
}

int nvmlDeviceGetName(Device, char* text, unsigned size) {
  std::snprintf(text, size, "Example Accelerator 900");
  return 0;
}

int nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  *memory = {80ULL << 30, 0, 0};
  return 0;
}

int nvmlDeviceGetBAR1MemoryInfo(Device, Memory* memory) {
  *memory = {128ULL << 30, 0, 0};
  return 0;
}

int nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation) {
  *generation = index_of(device) == 0 ? 5 : 1;
  return 0;
}

int nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* width) {
  *width = index_of(device) == 0 ? 16 : 3;  // no width that PCIe has
  return 0;
}

int nvmlDeviceGetGpuMaxPcieLinkGeneration(Device, unsigned* generation) {
  *generation = 5;
  return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned* generation) {
  *generation = 4;  // in a slot that is slower than the card
  return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* width) {
  *width = 16;
  return index_of(device) == 0 ? 0 : kNotSupported;
}

int nvmlDeviceGetPerformanceState(Device device, int* state) {
  *state = index_of(device) == 0 ? 0 : 8;
  return 0;
}

int nvmlDeviceGetClockInfo(Device device, int kind, unsigned* megahertz) {
  *megahertz = kind == lanecast::nvml::kSmClock ? 1980 : 3201;
  return index_of(device) == 0 ? 0 : kNotSupported;
}

int nvmlDeviceGetPcieReplayCounter(Device device, unsigned* count) {
  *count = 41;
  return index_of(device) == 0 ? 0 : kNotSupported;
}

int nvmlDeviceGetNvLinkState(Device device, unsigned link, int* active) {
  if (index_of(device) != 0 || link > 3) return kInvalid;
  *active = link == 3 ? 0 : 1;
  return 0;
}

int nvmlDeviceGetNvLinkVersion(Device, unsigned, unsigned* version) {
  *version = 4;
  return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device, unsigned link, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%s:00.0", link == 2 ? "C1" : "3C");
  return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(Device, unsigned link, int* type) {
  *type = link == 2 ? 2 : 0;
  return 0;
}

int nvmlDeviceGetFieldValues(Device, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const bool known = values[i].field == 90;
    values[i].result = known ? 0 : kNotSupported;
    values[i].value_type = 1;
    values[i].value.as_unsigned = 26562;
  }
  return 0;
}

int nvmlDeviceGetTopologyCommonAncestor(Device, Device, int* level) {
  *level = 30;
  return 0;
}

// nvmlDeviceGetP2PStatus is missing, as in a driver that is too old for it.

}  // extern "C"
