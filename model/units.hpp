#pragma once
#include <compare>
#include <cstdint>

#if defined(__CUDACC__)
#define LANECAST_HD __host__ __device__  // pure arithmetic, callable from both sides
#define LANECAST_DEV __device__          // code that nvcc compiles for kernels only
#else
#define LANECAST_HD
#define LANECAST_DEV
#endif

namespace lanecast {

/// A number with a dimension. Only the operations that make sense exist; the rest does not compile.
template <class Tag, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  LANECAST_HD constexpr explicit Quantity(Rep value) : value_(value) {}
  LANECAST_HD constexpr Rep value() const { return value_; }
  auto operator<=>(const Quantity&) const = default;

  LANECAST_HD constexpr Quantity operator+(Quantity other) const { return Quantity(value_ + other.value_); }
  LANECAST_HD constexpr Quantity operator-(Quantity other) const { return Quantity(value_ - other.value_); }
  LANECAST_HD constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesTag, std::uint64_t>;
using Seconds = Quantity<struct SecondsTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;

LANECAST_HD constexpr Seconds operator/(Bytes size, BytesPerSecond rate) {
  return Seconds(static_cast<double>(size.value()) / rate.value());
}
LANECAST_HD constexpr BytesPerSecond operator/(Bytes size, Seconds time) {
  return BytesPerSecond(static_cast<double>(size.value()) / time.value());
}
LANECAST_HD constexpr Seconds operator*(Seconds time, double factor) {
  return Seconds(time.value() * factor);
}
LANECAST_HD constexpr Seconds operator*(double factor, Seconds time) { return time * factor; }
LANECAST_HD constexpr BytesPerSecond operator*(BytesPerSecond rate, double factor) {
  return BytesPerSecond(rate.value() * factor);
}
LANECAST_HD constexpr BytesPerSecond operator*(double factor, BytesPerSecond rate) { return rate * factor; }
LANECAST_HD constexpr double operator/(BytesPerSecond a, BytesPerSecond b) { return a.value() / b.value(); }
LANECAST_HD constexpr double operator/(Seconds a, Seconds b) { return a.value() / b.value(); }

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(n); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(n << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(n << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(n << 30); }
constexpr Seconds operator""_us(long double t) { return Seconds(static_cast<double>(t) * 1e-6); }
constexpr Seconds operator""_ns(long double t) { return Seconds(static_cast<double>(t) * 1e-9); }
constexpr BytesPerSecond operator""_GBps(long double r) {
  return BytesPerSecond(static_cast<double>(r) * 1e9);
}
}  // namespace literals

}  // namespace lanecast
