#pragma once
#include <string>

#include "configs/reading.hpp"
#include "model/units.hpp"

namespace lanecast {

/// "256 KiB": a number with B, KiB, MiB, GiB or TiB. Fractions are allowed where whole bytes result.
Reading<Bytes> parse_bytes(const std::string& text);

/// "25.6 GB/s": a number with B/s, kB/s, MB/s, GB/s, TB/s (powers of 1000) or Gbit/s.
Reading<BytesPerSecond> parse_rate(const std::string& text);

/// "1.2 us": a number with ns, us, ms or s.
Reading<Seconds> parse_time(const std::string& text);

/// A number without a unit, such as "1e-4": decimal, finite, not negative.
Reading<double> parse_number(const std::string& text);

/// A whole number without a unit, 0 to 2^31 - 1.
Reading<int> parse_integer(const std::string& text);

/// A size as the command line takes it: "8", "128M", "64KiB". K, M, G and T are powers of 1024, as in
/// nccl-tests.
Reading<Bytes> parse_size(const std::string& text);

/// The same, for a command's option.
///
/// @param where  what the message points at, such as "-b 12Q"
/// @throws Error kind usage, naming the units that are accepted
Bytes read_size(const std::string& text, const std::string& where = "");

/// Text that the parse function of the same unit reads back to the same value, in the handiest unit.
std::string format_bytes(Bytes size);          // "256 KiB"
std::string format_rate(BytesPerSecond rate);  // "25.6 GB/s"
std::string format_time(Seconds time);         // "1.2 us"
std::string format_number(double value);       // "0.0001"

/// Regular expression (ECMA) of what the parse functions accept, for the JSON Schema.
std::string bytes_pattern();
std::string rate_pattern();
std::string time_pattern();

}  // namespace lanecast
