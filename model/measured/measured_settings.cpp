#include "model/measured/measured_settings.hpp"

#include <charconv>
#include <cstdint>

namespace lanecast {
namespace {

template <class T>
std::optional<T> variable(const MeasuredCall& measured, const char* name) {
  const auto found = measured.environment.find(name);
  if (found == measured.environment.end()) return std::nullopt;
  const std::string& text = found->second;
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const char* buffsize_variable(const MeasuredCall& measured) {
  if (measured.call.protocol == Protocol::ll) return "NCCL_LL_BUFFSIZE";
  return measured.call.protocol == Protocol::ll128 ? "NCCL_LL128_BUFFSIZE" : "NCCL_BUFFSIZE";
}

const char* threads_variable(const MeasuredCall& measured) {
  return measured.call.protocol == Protocol::ll128 ? "NCCL_LL128_NTHREADS" : "NCCL_NTHREADS";
}

bool by_engine(const MeasuredCall& measured) { return measured.implementation == "lanecast"; }

}  // namespace

std::optional<int> set_channels(const MeasuredCall& measured) {
  if (measured.call.channels) return measured.call.channels;
  const auto least = variable<int>(measured, "NCCL_MIN_NCHANNELS");
  const auto most = variable<int>(measured, "NCCL_MAX_NCHANNELS");
  return least == most ? least : std::nullopt;
}

std::optional<int> set_threads(const MeasuredCall& measured) {
  if (measured.call.threads) return measured.call.threads;
  return variable<int>(measured, threads_variable(measured));
}

std::optional<Bytes> set_buffsize(const MeasuredCall& measured) {
  if (measured.call.buffsize) return measured.call.buffsize;
  const auto value = variable<std::uint64_t>(measured, buffsize_variable(measured));
  return value ? std::optional(Bytes(*value)) : std::nullopt;
}

void set_channels(MeasuredCall& measured, int channels) {
  if (by_engine(measured)) {
    measured.call.channels = channels;
    return;
  }
  measured.environment["NCCL_MIN_NCHANNELS"] = std::to_string(channels);
  measured.environment["NCCL_MAX_NCHANNELS"] = std::to_string(channels);
}

void set_threads(MeasuredCall& measured, int threads) {
  if (by_engine(measured)) {
    measured.call.threads = threads;
  } else {
    measured.environment[threads_variable(measured)] = std::to_string(threads);
  }
}

void set_buffsize(MeasuredCall& measured, Bytes buffsize) {
  if (by_engine(measured)) {
    measured.call.buffsize = buffsize;
  } else {
    measured.environment[buffsize_variable(measured)] = std::to_string(buffsize.value());
  }
}

}  // namespace lanecast
