#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/profile/fit_record.hpp"
#include "model/profile/parameter.hpp"
#include "model/units.hpp"

namespace lanecast {

/// Every fitted or assumed number of the model. `parameter_table()` says unit, prior, range, source and
/// meaning.
enum class Param : std::size_t {
  // PCIe packets
  pcie_write_overhead,
  pcie_completion_overhead,
  pcie_dllp_share,
  pcie_sm_payload,
  pcie_copy_payload,
  pcie_copy_payload_old,
  pcie_sm_read_payload,
  pcie_read_efficiency,
  pcie_approach_exponent,
  pcie_replay_time,
  pcie_l0s_exit,
  pcie_l1_exit,
  // sharing
  duplex_peer,
  duplex_uplink,
  duplex_host,
  host_joint_share,
  host_joint_exponent,
  host_fifo_exponent,
  host_line_joint_share,
  host_line_joint_exponent,
  socket_duplex,
  channel_spread,
  // latencies
  latency_gpu,
  latency_switch,
  latency_root,
  latency_socket,
  latency_nvlink,
  host_read_round_trip,
  host_poll_share,
  // NVLink
  nvlink_sm_efficiency,
  nvlink_line_efficiency,
  nvlink_copy_efficiency,
  // copies staged by the driver where there is no peer access
  staged_copy_efficiency,
  staged_copy_duplex,
  staged_copy_latency,
  // GPU: launch
  base_specialised,
  base_generic,
  block_start_128,
  block_start_256,
  block_start_ll,
  block_start_ll128,
  channel_start,
  graph_replay,
  stream_period,
  registration_exchange,
  // GPU: operation rates of one channel at 512 threads, GB/s, and their thread curves
  simple_peer_send,
  simple_peer_reduce_send,
  simple_peer_copy,
  simple_host_send,
  simple_host_reduce_send,
  simple_host_copy,
  send_threads_to_peak,
  peer_thread_exponent,
  host_thread_exponent,
  ll128_send,
  ll128_reduce_send,
  ll128_copy,
  ll_peer_poll,
  ll_host_poll,
  ll_host_credit,
  ll_thread_exponent,
  ll_send,
  ll128_thread_exponent,
  ll128_poll_bytes,
  local_copy,
  l2_hot_gain,
  l2_share,
  l2_exponent,
  // protocol: per slice
  simple_overhead,
  simple_host_start,
  simple_first_load,
  simple_fence_local,
  simple_empty_slice,
  ll_overhead,
  ll128_overhead,
  // band of a prediction
  band_latency,
  band_bandwidth,
  count_
};

inline constexpr std::size_t parameter_count = static_cast<std::size_t>(Param::count_);

/// Unit, prior, range, source and meaning of each parameter, in the order of `Param`.
const std::array<ParameterInfo, parameter_count>& parameter_table();

const ParameterInfo& info(Param parameter);

/// By the name: `gpu.`, `simple.`, `ll.`, `ll128.`, `nvlink.` and `latency.nvlink` are the GPU's, `band.` the
/// band's, all else the link's.
ParameterGroup group_of(Param parameter);

/// The parameter of this name, as in profile files: "pcie.dllp_share".
std::optional<Param> parameter_from_name(const std::string& name);

/// A set of values for all parameters. `generic` holds the priors and nothing else.
class Profile {
 public:
  Profile();  // generic

  std::string name = "generic";

  /// In the parameter's own unit (us, ns, GB/s, 1).
  double value(Param parameter) const { return values_[static_cast<std::size_t>(parameter)]; }
  bool from_prior(Param parameter) const { return !set_[static_cast<std::size_t>(parameter)]; }

  /// @param origin  where the value comes from, for readers: "profile `h200-nvlink`"; empty: not said
  /// @throws Error, kind usage, outside the parameter's range
  void set(Param parameter, double value, std::string origin = "");

  /// Where a value comes from; of a prior, the prior's source.
  const std::string& origin(Param parameter) const;

  /// How the values were found and how far to trust them; absent: priors, or values set by hand.
  std::optional<FitRecord> fit;

  /// The value of a parameter whose unit is a time, or a rate.
  Seconds time(Param parameter) const;
  BytesPerSecond rate(Param parameter) const;

 private:
  std::array<double, parameter_count> values_{};
  std::array<bool, parameter_count> set_{};
  std::array<std::string, parameter_count> origins_;
};

}  // namespace lanecast
