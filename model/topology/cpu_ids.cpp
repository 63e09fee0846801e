#include "model/topology/cpu_ids.hpp"

#include <cctype>

namespace lanecast {
namespace {

struct Row {
  const char* vendor;
  CpuId id;
  const char* model;
};

/// Names of generations hold a product number of four digits, by which `nccl_rules` tells Xeons apart.
constexpr Row kRows[] = {
    {"amd", {0x17, 0x01}, "AMD EPYC 7001 (Naples)"},
    {"amd", {0x17, 0x31}, "AMD EPYC 7002 (Rome)"},
    {"amd", {0x19, 0x01}, "AMD EPYC 7003 (Milan)"},
    {"amd", {0x19, 0x08}, "AMD Ryzen Threadripper PRO 5000 (Chagall)"},
    {"amd", {0x19, 0x11}, "AMD EPYC 9004 (Genoa)"},
    {"amd", {0x19, 0x18}, "AMD Ryzen Threadripper 7000 (Storm Peak)"},
    {"amd", {0x19, 0x30}, "AMD EPYC 7A53 (Trento)"},
    {"amd", {0x19, 0xa0}, "AMD EPYC 9004 (Bergamo)"},
    {"amd", {0x1a, 0x02}, "AMD EPYC 9005 (Turin)"},
    {"amd", {0x1a, 0x08}, "AMD Ryzen Threadripper 9000 (Shimada Peak)"},
    {"amd", {0x1a, 0x11}, "AMD EPYC 9005 (Turin Dense)"},
    {"intel", {6, 0x2d}, "Intel Xeon E5-2600 (Sandy Bridge)"},
    {"intel", {6, 0x3e}, "Intel Xeon E5-2600 v2 (Ivy Bridge)"},
    {"intel", {6, 0x3f}, "Intel Xeon E5-2600 v3 (Haswell)"},
    {"intel", {6, 0x4f}, "Intel Xeon E5-2600 v4 (Broadwell)"},
    {"intel", {6, 0x55}, "Intel Xeon 8100 or 8200 series (Skylake or Cascade Lake)"},
    {"intel", {6, 0x6a}, "Intel Xeon 8300 series (Ice Lake)"},
    {"intel", {6, 0x8f}, "Intel Xeon 8400 series (Sapphire Rapids)"},
    {"intel", {6, 0xcf}, "Intel Xeon 8500 series (Emerald Rapids)"},
    {"intel", {6, 0xad}, "Intel Xeon 6 (Granite Rapids)"},
    {"intel", {6, 0xaf}, "Intel Xeon 6 (Sierra Forest)"},
    {"zhaoxin", {7, 0x5b}, "Zhaoxin (Yongfeng)"},
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string hex(int number) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned left = static_cast<unsigned>(number); left != 0 || text.empty(); left /= 16)
    text.insert(text.begin(), kDigits[left % 16]);
  return "0x" + text;
}

/// The first number of exactly four digits: 9575 of "EPYC 9575F"; "" without one.
std::string product_number(const std::string& text) {
  for (std::size_t i = 0, end = 0; i < text.size(); i = end + 1) {
    for (end = i; end < text.size() && is_digit(text[end]);) ++end;
    if (end - i == 4) return text.substr(i, 4);
  }
  return "";
}

std::optional<CpuId> amd_id(const std::string& model, const std::string& number) {
  const char generation = number[3];
  if (contains(model, "EPYC")) {
    if (number[0] == '7' && generation == '1') return CpuId{0x17, 0x01};
    if (number[0] == '7' && generation == '2') return CpuId{0x17, 0x31};
    if (number[0] == '7' && generation == '3') return CpuId{0x19, 0x01};
    if (number[0] == '9' && generation == '4') return CpuId{0x19, 0x11};
    if (number[0] == '9' && generation == '5') return CpuId{0x1a, 0x02};
  }
  if (contains(model, "Threadripper")) {
    if (number[0] == '3') return CpuId{0x17, 0x31};
    if (number[0] == '5') return CpuId{0x19, 0x08};
    if (number[0] == '7') return CpuId{0x19, 0x18};
    if (number[0] == '9') return CpuId{0x1a, 0x08};
  }
  return std::nullopt;
}

std::optional<CpuId> intel_id(const std::string& model, const std::string& number) {
  if (!contains(model, "Xeon")) return std::nullopt;
  if (contains(model, " v3")) return CpuId{6, 0x3f};
  if (contains(model, " v4")) return CpuId{6, 0x4f};
  if (contains(model, "Xeon 6") && number.empty()) return CpuId{6, 0xad};
  if (contains(model, "E5-") || contains(model, "E7-") || number.empty()) return std::nullopt;
  switch (number[1]) {
    case '1':
    case '2':
      return CpuId{6, 0x55};
    case '3':
      return CpuId{6, 0x6a};
    case '4':
      return CpuId{6, 0x8f};
    case '5':
      return CpuId{6, 0xcf};
    default:
      return std::nullopt;
  }
}

}  // namespace

CpuId cpu_id_from_nccl(int familyid, int modelid) {
  constexpr int kBase = 15;  // with an extended family, the base one is 15
  if (familyid % 16 == kBase && familyid > kBase) return {kBase + familyid / 16, modelid};
  return {familyid, modelid};
}

int nccl_familyid(const CpuId& id) { return id.family > 15 ? 15 + ((id.family - 15) << 4) : id.family; }

std::string cpu_vendor_of(const std::string& vendor_text) {
  if (contains(vendor_text, "AMD")) return "amd";
  if (contains(vendor_text, "Intel")) return "intel";
  if (contains(vendor_text, "Shanghai") || contains(vendor_text, "CentaurHauls")) return "zhaoxin";
  if (contains(vendor_text, "ARM") || contains(vendor_text, "Arm")) return "arm";
  if (contains(vendor_text, "IBM")) return "ibm";
  return "unknown";
}

std::optional<std::string> cpuid_vendor_of(const std::string& vendor) {
  if (vendor == "intel") return "GenuineIntel";
  if (vendor == "amd") return "AuthenticAMD";
  return std::nullopt;
}

std::string cpu_model_of(const std::string& vendor, const CpuId& id) {
  for (const Row& row : kRows) {
    if (vendor == row.vendor && id == row.id) return row.model;
  }
  const std::string maker = vendor == "amd" ? "AMD " : vendor == "intel" ? "Intel " : "";
  return maker + "family " + hex(id.family) + ", model " + hex(id.model);
}

std::optional<CpuId> cpu_id_of(const std::string& vendor, const std::string& model) {
  for (const Row& row : kRows) {
    if (vendor == row.vendor && model == row.model) return row.id;
  }
  const std::string number = product_number(model);
  if (vendor == "intel") return intel_id(model, number);
  if (vendor == "amd" && !number.empty()) return amd_id(model, number);
  return std::nullopt;
}

}  // namespace lanecast
