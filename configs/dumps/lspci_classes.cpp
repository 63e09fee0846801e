#include "configs/dumps/lspci_classes.hpp"

#include <array>

#include "configs/dumps/lspci_text.hpp"

namespace lanecast {
namespace {

struct ClassRow {
  std::string_view words;
  std::uint32_t code;  // class and subclass
};

constexpr std::array<ClassRow, 62> classes{{
    {"3D controller", 0x0302},
    {"VGA compatible controller", 0x0300},
    {"XGA compatible controller", 0x0301},
    {"Display controller", 0x0380},
    {"Processing accelerators", 0x1200},
    {"PCI bridge", 0x0604},
    {"Host bridge", 0x0600},
    {"ISA bridge", 0x0601},
    {"CardBus bridge", 0x0607},
    {"Semi-transparent PCI-to-PCI bridge", 0x0609},
    {"InfiniBand to PCI host bridge", 0x060a},
    {"Bridge", 0x0680},
    {"Ethernet controller", 0x0200},
    {"Infiniband controller", 0x0207},
    {"Fabric controller", 0x0208},
    {"Network controller", 0x0280},
    {"Non-VGA unclassified device", 0x0000},
    {"VGA compatible unclassified device", 0x0001},
    {"SCSI storage controller", 0x0100},
    {"IDE interface", 0x0101},
    {"RAID bus controller", 0x0104},
    {"ATA controller", 0x0105},
    {"SATA controller", 0x0106},
    {"Serial Attached SCSI controller", 0x0107},
    {"Non-Volatile memory controller", 0x0108},
    {"Mass storage controller", 0x0180},
    {"Multimedia video controller", 0x0400},
    {"Multimedia audio controller", 0x0401},
    {"Audio device", 0x0403},
    {"Multimedia controller", 0x0480},
    {"RAM memory", 0x0500},
    {"FLASH memory", 0x0501},
    {"CXL", 0x0502},
    {"Memory controller", 0x0580},
    {"Serial controller", 0x0700},
    {"Parallel controller", 0x0701},
    {"Modem", 0x0703},
    {"Communication controller", 0x0780},
    {"PIC", 0x0800},
    {"DMA controller", 0x0801},
    {"Timer", 0x0802},
    {"RTC", 0x0803},
    {"SD Host controller", 0x0805},
    {"IOMMU", 0x0806},
    {"System peripheral", 0x0880},
    {"Keyboard controller", 0x0900},
    {"Input device controller", 0x0980},
    {"Co-processor", 0x0b40},
    {"FireWire (IEEE 1394)", 0x0c00},
    {"USB controller", 0x0c03},
    {"Fibre Channel", 0x0c04},
    {"SMBus", 0x0c05},
    {"InfiniBand", 0x0c06},
    {"IPMI Interface", 0x0c07},
    {"Serial bus controller", 0x0c80},
    {"Wireless controller", 0x0d80},
    {"Encryption controller", 0x1080},
    {"Performance counters", 0x1101},
    {"Signal processing controller", 0x1180},
    {"Non-Essential Instrumentation", 0x1300},
    {"Coprocessor", 0x4000},
    {"Unassigned class", 0xff00},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Older databases wrote some words with other capitals: "USB Controller".
bool same_words(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (lower(a[at]) != lower(b[at])) return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint32_t> pci_class_of(std::string_view words) {
  constexpr std::size_t digits = 4;
  std::string_view code = words;
  if (words.size() > digits + 2 && words.back() == ']' && words[words.size() - digits - 2] == '[') {
    code = words.substr(words.size() - digits - 1, digits);
  } else if (words.substr(0, 6) == "Class ") {
    code = words.substr(6);
  }
  if (code.size() == digits) {
    if (const auto number = leading_hex(code, digits)) return *number << 8;
  }
  for (const ClassRow& row : classes) {
    if (same_words(words, row.words)) return row.code << 8;
  }
  return std::nullopt;
}

bool is_accelerator_class(std::uint32_t class_code) {
  const std::uint32_t base = class_code >> 16;
  return base == 0x03 || base == 0x12;
}

}  // namespace lanecast
