#include "configs/dumps/lspci_names.hpp"

#include <algorithm>
#include <array>

#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::uint32_t nvidia = 0x10de;
constexpr std::uint32_t amd_graphics = 0x1002;
constexpr std::uint32_t intel = 0x8086;
constexpr std::uint32_t mellanox = 0x15b3;
constexpr std::uint32_t none = 0xffff;  // what reads of a function that is gone return

struct VendorRow {
  std::string_view name;
  std::uint32_t id;
};

// Longer names before those that they begin with. Vendors with several ids of one name (Red Hat, Marvell) are
// left out.
constexpr std::array<VendorRow, 50> vendors{{
    {"NVIDIA Corporation", nvidia},
    {"nVidia Corporation", nvidia},
    {"Advanced Micro Devices, Inc. [AMD/ATI]", amd_graphics},
    {"Advanced Micro Devices [AMD/ATI]", amd_graphics},
    {"Advanced Micro Devices [AMD] nee ATI", amd_graphics},
    {"Advanced Micro Devices, Inc. [AMD] nee ATI", amd_graphics},
    {"ATI Technologies Inc", amd_graphics},
    {"Advanced Micro Devices, Inc. [AMD]", 0x1022},
    {"Advanced Micro Devices [AMD]", 0x1022},
    {"Intel Corporation", intel},
    {"Mellanox Technologies", mellanox},
    {"Broadcom / LSI", 0x1000},
    {"LSI Logic / Symbios Logic", 0x1000},
    {"PLX Technology, Inc.", 0x10b5},
    {"ASPEED Technology, Inc.", 0x1a03},
    {"Broadcom Inc. and subsidiaries", 0x14e4},
    {"Broadcom Corporation", 0x14e4},
    {"Broadcom Limited", 0x14e4},
    {"PMC-Sierra Inc.", 0x11f8},
    {"Microsemi / PMC / IDT", 0x111d},
    {"Integrated Device Technology, Inc.", 0x111d},
    {"ASMedia Technology Inc.", 0x1b21},
    {"Samsung Electronics Co Ltd", 0x144d},
    {"Realtek Semiconductor Co., Ltd.", 0x10ec},
    {"Chelsio Communications Inc", 0x1425},
    {"Amazon.com, Inc.", 0x1d0f},
    {"Google, Inc.", 0x1ae0},
    {"Microsoft Corporation", 0x1414},
    {"Xilinx Corporation", 0x10ee},
    {"Huawei Technologies Co., Ltd.", 0x19e5},
    {"Chengdu Haiguang IC Design Co., Ltd.", 0x1d94},
    {"Zhaoxin", 0x1d17},
    {"Ampere Computing, LLC", 0x1def},
    {"Pericom Semiconductor", 0x12d8},
    {"VMware", 0x15ad},
    {"Matrox Electronics Systems Ltd.", 0x102b},
    {"HighPoint Technologies, Inc.", 0x1103},
    {"IBM", 0x1014},
    {"Solarflare Communications", 0x1924},
    {"AMD Pensando Systems", 0x1dd8},
    {"Pensando Systems", 0x1dd8},
    {"Cornelis Networks", 0x434e},
    {"Habana Labs Ltd.", 0x1da3},
    {"Moore Threads Technology Co.,Ltd", 0x1ed5},
    {"Micron Technology Inc", 0x1344},
    {"KIOXIA Corporation", 0x1e0f},
    {"SK hynix", 0x1c5c},
    {"Sandisk Corp", 0x15b7},
    {"Qualcomm Technologies, Inc", 0x17cb},
    {"Illegal Vendor ID", none},
}};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view each) { return has(text, each); });
}

const VendorRow* vendor_named(std::string_view name) {
  for (const VendorRow& row : vendors) {
    if (name.starts_with(row.name) && (name.size() == row.name.size() || name[row.name.size()] == ' '))
      return &row;
  }
  return nullptr;
}

/// What stands in the brackets that `text` begins with and that end it; nothing for other texts.
std::optional<std::string_view> only_brackets(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  if (has(text, "[") || has(text, "]")) return std::nullopt;
  return text;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Length of the chip's name that begins the text: "AD102GL", "GN21-X11"; 0 where there is none. Of NVIDIA's
/// parts, GPUs begin with G, A, T or NV and a number soon after; chipsets with C, M, "NF" or a lower-case
/// letter.
std::size_t chip_name(std::string_view text) {
  if (text.empty() || (!text.starts_with("NV") && !has("GAT", text.substr(0, 1)))) return 0;
  std::size_t at = 0;
  while (at < text.size() && is_upper(text[at])) ++at;
  if (at > 3 || at == text.size() || !is_digit(text[at])) return 0;
  while (at < text.size() && (is_upper(text[at]) || is_digit(text[at]) || text[at] == '-')) ++at;
  return at;
}

/// GPUs are named by their chip, mostly with the model in brackets and nothing behind; all other functions of
/// a card say what they are: "GA104 High Definition Audio Controller".
std::optional<std::uint32_t> nvidia_class(std::string_view part, bool whole) {
  constexpr std::array<std::string_view, 6> families{"GeForce", "Geforce", "Quadro", "Tesla", "RTX", "TITAN"};
  const std::size_t chip = chip_name(part);
  if (chip == 0) return std::nullopt;
  const std::string_view rest = trimmed(part.substr(chip));
  if (rest.empty()) return whole ? std::optional<std::uint32_t>(0x030000) : std::nullopt;
  if (const auto model = only_brackets(rest)) return has(*model, "NVSwitch") ? 0x068000 : 0x030000;
  const bool cut_in_brackets = rest.front() == '[' && !has(rest, "]");
  if (!cut_in_brackets) return std::nullopt;
  for (const std::string_view family : families) {
    if (rest.substr(1).starts_with(family)) return 0x030000;
  }
  return std::nullopt;
}

/// AMD's and Intel's GPUs: a chip's name, then the model in brackets at the end.
std::optional<std::uint32_t> other_gpu_class(std::string_view part, std::uint32_t vendor) {
  constexpr std::array<std::string_view, 8> others{"Audio",  "USB",    "UCSI", "Port",
                                                   "Bridge", "Switch", "I2C",  "Serial"};
  constexpr std::array<std::string_view, 5> amd{"Radeon", "Instinct", "FirePro", "FireGL", "FireMV"};
  const std::size_t open = part.rfind('[');
  if (open == std::string_view::npos || part.back() != ']' || has_any(part.substr(0, open), others)) {
    return std::nullopt;
  }
  const std::string_view model = part.substr(open + 1);
  const bool display = vendor == amd_graphics ? has_any(model, amd) : model.starts_with("Arc ");
  if (display) return 0x030000;
  if (vendor == intel && model.starts_with("Data Center GPU")) return 0x038000;
  return std::nullopt;
}

bool is_adapter(std::string_view part, std::uint32_t vendor) {
  constexpr std::array<std::string_view, 9> others{
      "Bridge", "bridge", "Recovery", "recovery", "Management", "management", "CAPI", "switch", "DMA"};
  constexpr std::array<std::string_view, 10> words{
      "Ethernet",           "ConnectX",        "InfiniBand", "Infiniband", "InfiniHost",
      "network controller", "Network Adapter", "Omni-Path",  "Connect-IB", "Network Connection"};
  if (has_any(part, others)) return false;
  if (has_any(part, words)) return true;
  return vendor == mellanox && part.starts_with("MT2") && part.size() > 5 &&
         std::all_of(part.begin() + 3, part.begin() + 6, is_digit);
}

std::optional<std::uint32_t> class_named(std::string_view part, std::uint32_t vendor, bool whole) {
  if (part.empty()) return std::nullopt;
  if (is_adapter(part, vendor)) return 0x020000;
  if (vendor == nvidia) return nvidia_class(part, whole);
  if (vendor == amd_graphics || vendor == intel) return other_gpu_class(part, vendor);
  return std::nullopt;
}

/// Takes "10de:26b1", or " [10de:26b1]" from the end of a name.
void take_ids(std::string_view& text, PciName& name) {
  constexpr std::size_t bare = 9;  // "10de:26b1"
  std::string_view ids = text;
  std::string_view rest;
  if (text.size() >= bare + 2 && text.back() == ']' && text[text.size() - bare - 2] == '[') {
    ids = text.substr(text.size() - bare - 1, bare);
    rest = trimmed(text.substr(0, text.size() - bare - 2));
  } else if (text.starts_with("Device ")) {  // neither the vendor nor the device is in the database
    ids = text.substr(7);
  }
  if (ids.size() != bare || ids[4] != ':') return;
  const auto vendor = leading_hex(ids.substr(0, 4), 4);
  const auto device = leading_hex(ids.substr(5), 4);
  if (!vendor || !device) return;
  name.vendor = vendor;
  name.device = device;
  text = rest;
}

/// "Device 2bb5" of a device that the database does not know.
std::optional<std::uint32_t> unnamed_device(std::string_view part) {
  if (!part.starts_with("Device ") || part.size() != 11) return std::nullopt;
  return leading_hex(part.substr(7), 4);
}

}  // namespace

PciName read_pci_name(std::string_view text, bool whole) {
  PciName name;
  text = trimmed(text);
  take_ids(text, name);
  const VendorRow* vendor = vendor_named(text);
  if (vendor != nullptr) {
    const std::string_view part = trimmed(text.substr(vendor->name.size()));
    if (!name.vendor) {
      name.vendor = vendor->id;
      name.vendor_by_name = true;
    }
    if (!name.device) name.device = unnamed_device(part);
    name.class_by_name = class_named(part, *name.vendor, whole);
  }
  name.gone = name.vendor == none || (name.device == none && name.vendor_by_name);
  name.name = plain_name(text);
  // With -nn, a device without a name is "Device [10de:2bb5]"; without it, "Device 2bb5".
  constexpr std::string_view unnamed = " Device";
  if (name.device && text.size() > unnamed.size() && text.substr(text.size() - unnamed.size()) == unnamed) {
    constexpr const char* hex = "0123456789abcdef";
    name.name += ' ';
    for (int shift = 12; shift >= 0; shift -= 4) name.name += hex[(*name.device >> shift) & 15];
  }
  return name;
}

void state_name(PciFacts& function, const PciName& name, const Place& place, const std::string& tool) {
  if (name.gone) {
    state(function.present, false, place, tool);
    return;
  }
  if (!name.name.empty()) state(function.name, name.name, place, tool);
  if (name.vendor)
    state(function.vendor, *name.vendor, place, name.vendor_by_name ? tool + ", by its name" : tool);
  if (name.device) state(function.device, *name.device, place, tool);
}

}  // namespace lanecast
