#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "configs/dumps/facts.hpp"
#include "configs/dumps/lspci_text.hpp"

namespace lanecast {

/// A line below a function's head: `LnkSta: Speed 8GT/s, Width x8`, without the blanks around it.
struct RegisterLine {
  std::string_view key;   // "LnkSta"; "" of a line that continues the one before
  std::string_view rest;  // what follows the colon; of a continuation the whole line
  bool whole = true;      // false: the last word may be cut
};
RegisterLine split_register(std::string_view line, bool whole);

/// LnkCap, LnkCtl, LnkSta, DevCap, DevCtl, ACSCtl, "Bus", "NUMA node", "Physical Slot", Express capabilities:
/// what they state of the function and its link. Other lines state nothing.
///
/// Speeds and widths are those that the registers hold: the word "(downgraded)" is not looked at, since lspci
/// prints it of endpoints and upstream ports alone. "Speed unknown" and "Width x0" state nothing.
/// Source: facts.md F1; pciutils 3.0 to 3.10 (ls-caps.c, ls-ecaps.c, lspci.c).
void state_register(PciFacts& function, const RegisterLine& line, const Place& place);

/// Counts error bits that are set, over one line and those that continue it.
class ErrorBits {
 public:
  /// CESta: RxErr, BadTLP, BadDLLP, Rollover, Timeout. Not AdvNonFatalErr, CorrIntErr and HeaderOF: they say
  /// nothing about the link. UESta: what loses data or the link. Not UnsupReq, which probing absent functions
  /// sets at each boot, nor what access control refuses (ACSViol, BlockedTLP, AtomicOpBlocked, ...).
  ///
  /// Bits stay set until they are cleared: each tells that its error happened, not how often.
  void begin(const RegisterLine& line, int number);
  void go_on(const RegisterLine& line);

  /// States the count if all of the bits that count were seen, and begins anew.
  void finish(PciFacts& function, const std::string& file);

 private:
  enum class Register { none, correctable, uncorrectable };
  void take(std::string_view flags);

  Register register_ = Register::none;
  std::uint64_t count_ = 0;
  bool complete_ = false;
  int line_ = 0;
};

/// A memory region: `Region 1: Memory at 3f000000000 (64-bit, prefetchable) [size=64G]`, or without its
/// number
/// (`-v`); or `BAR 1: current size: 64GB` of a resizable one.
struct MemoryRegion {
  Bytes size{0};
  bool prefetchable = false;
  bool assigned = true;  // false: it has no address, the firmware found no room
};
std::optional<MemoryRegion> read_memory_region(std::string_view line);

}  // namespace lanecast
