#include "configs/dumps/config_space.hpp"

namespace lanecast {
namespace {

// Configuration header
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kStatus = 0x06;
constexpr unsigned kHasCapabilities = 0x10;  // bit of the status register
constexpr std::size_t kHeaderType = 0x0e;
constexpr unsigned kBridge = 1;
constexpr std::size_t kSecondaryBus = 0x19;
constexpr std::size_t kSubordinateBus = 0x1a;
constexpr std::size_t kFirstCapability = 0x34;
constexpr std::size_t kPciSize = 256;
constexpr int kMostCapabilities = 48;  // as many as fit: (256 - 64) / 4

// PCI Express capability, offsets from its start
constexpr unsigned kPciExpressId = 0x10;
constexpr std::size_t kFlags = 0x02;
constexpr std::size_t kDevCap = 0x04;
constexpr std::size_t kDevCtl = 0x08;
constexpr std::size_t kLnkCap = 0x0c;
constexpr std::size_t kLnkCtl = 0x10;
constexpr std::size_t kLnkSta = 0x12;
constexpr std::size_t kSltCap = 0x14;
constexpr unsigned kSlotImplemented = 0x100;

// Extended capabilities
constexpr std::size_t kExtendedSize = 4096;
constexpr int kMostExtended = 480;  // as many as fit: (4096 - 256) / 8
constexpr unsigned kErrorReportingId = 0x01;
constexpr std::size_t kUncorrectedStatus = 0x04;
constexpr std::size_t kCorrectedStatus = 0x10;
constexpr unsigned kAccessControlId = 0x0d;
constexpr std::size_t kAccessControl = 0x06;
constexpr unsigned kRedirects = 0x04 | 0x08;  // requests, completions

/// Little-endian registers; nothing beyond the end.
class Registers {
 public:
  explicit Registers(std::string_view bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }
  std::optional<unsigned> byte(std::size_t at) const { return number(at, 1); }
  std::optional<unsigned> word(std::size_t at) const { return number(at, 2); }
  std::optional<unsigned> dword(std::size_t at) const { return number(at, 4); }

 private:
  std::optional<unsigned> number(std::size_t at, std::size_t count) const {
    if (at + count > bytes_.size()) return std::nullopt;
    unsigned value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  std::string_view bytes_;
};

PciePort port_of(unsigned flags) {
  switch (flags >> 4 & 0xf) {
    case 0:  // endpoint
    case 1:  // legacy endpoint
      return PciePort::endpoint;
    case 4:
      return PciePort::root_port;
    case 5:
      return PciePort::upstream_port;
    case 6:
      return PciePort::downstream_port;
    case 9:
      return PciePort::integrated_endpoint;
    default:
      return PciePort::other;
  }
}

/// 128 B to 4096 B; the codes above are reserved.
std::optional<Bytes> size_of(unsigned code) {
  if (code > 5) return std::nullopt;
  return Bytes(std::uint64_t{128} << code);
}

std::optional<PcieRate> rate_of(unsigned code) {
  if (code < 1 || code > 6) return std::nullopt;
  return static_cast<PcieRate>(code);
}

std::optional<int> width_of(unsigned code) {
  const int width = static_cast<int>(code);
  return is_pcie_width(width) ? std::optional(width) : std::nullopt;
}

Aspm aspm_of(unsigned control) {
  if ((control & 2) != 0) return Aspm::l1;
  return (control & 1) != 0 ? Aspm::l0s : Aspm::off;
}

/// "Less than 1 us" to "at most 64 us", doubling; the last code has no bound.
std::optional<Seconds> l1_exit_of(unsigned capability) {
  const bool supported = (capability >> 10 & 2) != 0;
  const unsigned code = capability >> 15 & 7;
  if (!supported || code == 7) return std::nullopt;
  return Seconds(1e-6 * static_cast<double>(1U << code));
}

void decode_link(const Registers& registers, std::size_t at, ConfigSpace& config) {
  if (const auto capability = registers.dword(at + kLnkCap)) {
    config.max_rate = rate_of(*capability & 0xf);
    config.max_width = width_of(*capability >> 4 & 0x3f);
    config.l1_exit = l1_exit_of(*capability);
  }
  if (const auto control = registers.word(at + kLnkCtl)) config.aspm = aspm_of(*control);
  if (const auto status = registers.word(at + kLnkSta)) {
    config.rate = rate_of(*status & 0xf);
    config.width = width_of(*status >> 4 & 0x3f);
  }
}

void decode_pci_express(const Registers& registers, std::size_t at, ConfigSpace& config) {
  const auto flags = registers.word(at + kFlags);
  if (!flags) return;
  config.port = port_of(*flags);
  if (const auto capability = registers.dword(at + kDevCap)) {
    config.max_payload_capability = size_of(*capability & 7);
  }
  if (const auto control = registers.word(at + kDevCtl)) {
    config.max_payload = size_of(*control >> 5 & 7);
    config.max_read_request = size_of(*control >> 12 & 7);
  }
  // An endpoint within the root complex has no link.
  if (*config.port != PciePort::integrated_endpoint) decode_link(registers, at, config);
  const auto slot = registers.dword(at + kSltCap);
  if ((*flags & kSlotImplemented) != 0 && slot && *slot >> 19 != 0)
    config.slot = static_cast<int>(*slot >> 19);
}

void decode_capabilities(const Registers& registers, ConfigSpace& config) {
  std::size_t at = *registers.byte(kFirstCapability) & 0xfcU;
  for (int count = 0; at >= kHeaderSize && count < kMostCapabilities; ++count) {
    const auto head = registers.word(at);
    if (!head) {
      config.capabilities_hidden = registers.size() < kPciSize;
      return;
    }
    if ((*head & 0xff) == kPciExpressId) return decode_pci_express(registers, at, config);
    at = *head >> 8 & 0xfcU;
  }
}

void decode_extended(const Registers& registers, ConfigSpace& config) {
  std::size_t at = kPciSize;
  for (int count = 0; at >= kPciSize && count < kMostExtended; ++count) {
    const auto head = registers.dword(at);
    if (!head || *head == 0 || *head == 0xffffffffU) break;
    const unsigned id = *head & 0xffff;
    if (id == kErrorReportingId) {
      config.uncorrected_status = registers.dword(at + kUncorrectedStatus);
      config.corrected_status = registers.dword(at + kCorrectedStatus);
    } else if (id == kAccessControlId) {
      if (const auto control = registers.word(at + kAccessControl)) {
        config.acs_redirect = (*control & kRedirects) != 0;
      }
    }
    at = *head >> 20 & 0xffcU;
  }
  const bool turns_peers = config.port == PciePort::root_port || config.port == PciePort::downstream_port;
  if (turns_peers && !config.acs_redirect && registers.size() >= kExtendedSize) config.acs_redirect = false;
}

}  // namespace

ConfigSpace decode_config_space(std::string_view bytes) {
  ConfigSpace config;
  const Registers registers(bytes);
  if (registers.dword(0) == 0xffffffffU) config.gone = true;
  if (config.gone || bytes.size() < kHeaderSize) return config;
  if ((*registers.byte(kHeaderType) & 0x7fU) == kBridge) {
    config.secondary_bus = static_cast<int>(*registers.byte(kSecondaryBus));
    config.subordinate_bus = static_cast<int>(*registers.byte(kSubordinateBus));
  }
  if ((*registers.word(kStatus) & kHasCapabilities) != 0) decode_capabilities(registers, config);
  decode_extended(registers, config);
  return config;
}

}  // namespace lanecast
