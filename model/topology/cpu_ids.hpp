#pragma once
#include <optional>
#include <string>

namespace lanecast {

/// What the instruction CPUID says of a processor's generation. NCCL's files write it as `familyid` and
/// `modelid`, where `familyid` is the base family plus 16 times the extended one (xml.cc): 175 for 0x19.
struct CpuId {
  int family = 0;
  int model = 0;  // 4 bits, plus 4 extended ones
  auto operator<=>(const CpuId&) const = default;
};

/// From NCCL's `familyid` and `modelid`. Hand-written files also hold the family itself (Azure's: 23 for
/// 0x17).
CpuId cpu_id_from_nccl(int familyid, int modelid);

/// NCCL's `familyid` of a processor.
int nccl_familyid(const CpuId& id);

/// "intel", "amd", "zhaoxin", ... from CPUID's vendor text ("AuthenticAMD"); "unknown" for others.
std::string cpu_vendor_of(const std::string& vendor_text);

/// CPUID's vendor text of "intel" or "amd"; nothing for all others, of which NCCL needs no name.
std::optional<std::string> cpuid_vendor_of(const std::string& vendor);

/// "AMD EPYC 7003 (Milan)", "Intel Xeon 8400 series (Sapphire Rapids)": the generation, as coarse as the
/// numbers are. Where they are not known: "AMD family 0x19, model 0x55".
/// Source: Linux, arch/x86/include/asm/intel-family.h and amd.c; facts.md A8 for those that NCCL tells apart.
std::string cpu_model_of(const std::string& vendor, const CpuId& id);

/// The other way, also from the full names that other tools print ("AMD EPYC 9575F 64-Core Processor",
/// "Intel(R) Xeon(R) Platinum 8480C"); nothing where the text does not give the generation away.
std::optional<CpuId> cpu_id_of(const std::string& vendor, const std::string& model);

}  // namespace lanecast
