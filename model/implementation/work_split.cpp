#include "model/implementation/work_split.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"

namespace lanecast {
namespace {

bool long_chunks(Protocol protocol, Collective collective, Schedule schedule) {
  return protocol == Protocol::simple && schedule != Schedule::tree && collective != Collective::broadcast &&
         collective != Collective::reduce;
}

std::uint64_t payload_of(std::uint64_t wire, const ProtocolTraits& traits) {
  return static_cast<std::uint64_t>(static_cast<double>(wire) / traits.wire_per_payload + 0.5);
}

}  // namespace

ChunkGeometry chunk_geometry(Protocol protocol, Collective collective, Schedule schedule,
                             std::optional<Bytes> buffsize, std::optional<Bytes> chunk) {
  const ProtocolTraits traits = protocol_traits(protocol);
  const int chunk_steps = long_chunks(protocol, collective, schedule) ? traits.steps_per_chunk : 1;
  const int slice_steps = long_chunks(protocol, collective, schedule) ? traits.steps_per_slice : 1;
  ChunkGeometry geometry;
  geometry.buffsize = buffsize.value_or(traits.default_buffsize);
  geometry.grain = traits.grain;
  geometry.slices_per_chunk = chunk_steps / slice_steps;
  const auto slices = static_cast<std::uint64_t>(geometry.slices_per_chunk);
  const std::uint64_t step_wire = geometry.buffsize.value() / static_cast<std::uint64_t>(traits.fifo_steps);
  const std::uint64_t step = payload_of(step_wire, traits) / traits.grain.value() * traits.grain.value();
  if (step == 0 || geometry.buffsize.value() > (std::uint64_t{1} << 36)) {
    throw Error(ErrorKind::usage,
                "a connection's buffer of " + std::to_string(geometry.buffsize.value()) + " B", "--buffsize",
                "take at least 32 KiB and at most 64 GiB");
  }
  geometry.chunk = Bytes(step * static_cast<std::uint64_t>(chunk_steps));
  if (chunk)
    geometry.chunk = Bytes(std::max(round_up(chunk->value(), traits.grain.value()), traits.grain.value()));
  const std::uint64_t slice = ceil_div(geometry.chunk.value(), slices);
  const auto slice_wire = static_cast<std::uint64_t>(static_cast<double>(slice) * traits.wire_per_payload);
  geometry.slice = Bytes(slice);
  const auto chunk_wire = slices * slice_wire;
  if (!buffsize) geometry.buffsize = std::max(geometry.buffsize, Bytes(chunk_wire));
  geometry.fifo_slices =
      static_cast<int>(std::min<std::uint64_t>(geometry.buffsize.value() / slice_wire, 1u << 20));
  if (geometry.buffsize.value() < chunk_wire) {
    throw Error(
        ErrorKind::usage,
        "a chunk takes " + std::to_string(chunk_wire) + " B on the wire; the buffer of a connection holds " +
            std::to_string(geometry.buffsize.value()) + " B, and ranks begin by sending a whole chunk",
        "--chunk", "take a smaller --chunk or a larger --buffsize");
  }
  // NCCL's floor is 1/32 of the slice that its buffer gives (32 KiB by default), whatever the chunk
  if (slices > 1) {
    geometry.min_slice = Bytes(std::min(step * static_cast<std::uint64_t>(slice_steps) / 32, slice));
  }
  return geometry;
}

ChunkGeometry with_chunk(ChunkGeometry geometry, Bytes chunk) {
  geometry.chunk = geometry.slice = chunk;
  return geometry;
}

Bytes tree_ll128_chunk(Bytes chunk, Bytes size, int channels, int ranks) {
  constexpr std::uint64_t kMiddle = 128u << 10;
  constexpr std::uint64_t kLeast = 32u << 10;
  const double n = ranks;
  const double steps = 1.0 + 0.1 * n;
  std::uint64_t bytes = chunk.value();
  const auto chunks = [&] {
    return static_cast<double>(size.value() / (static_cast<std::uint64_t>(channels) * bytes));
  };
  while (chunks() < steps * 64 / n && bytes > kMiddle) bytes /= 2;
  while (chunks() < steps * 16 / n && bytes > kLeast) bytes /= 2;
  const std::uint64_t grain = protocol_traits(Protocol::ll128).grain.value();
  return Bytes(std::max(bytes / grain * grain, grain));
}

std::vector<std::uint64_t> split_over_channels(std::uint64_t count, int element_bytes, Collective collective,
                                               int ranks, Protocol protocol, int channels,
                                               Bytes min_traffic) {
  std::uint64_t traffic_per_byte = 1;
  if (collective == Collective::all_reduce) traffic_per_byte = 2;
  if (collective == Collective::all_gather || collective == Collective::reduce_scatter) {
    traffic_per_byte = static_cast<std::uint64_t>(ranks);
  }
  if (protocol == Protocol::ll) traffic_per_byte *= 4;
  const auto element = static_cast<std::uint64_t>(element_bytes);
  const std::uint64_t cell_bytes = round_up(ceil_div(min_traffic.value(), traffic_per_byte), 16);
  const std::uint64_t cells = ceil_div(count * element, cell_bytes);
  const std::uint64_t per_channel =
      std::max<std::uint64_t>(1, ceil_div(cells, static_cast<std::uint64_t>(channels)));
  std::vector<std::uint64_t> counts;
  const std::uint64_t share = per_channel * (cell_bytes / element);
  for (std::uint64_t done = 0; done < count; done += share) counts.push_back(std::min(share, count - done));
  return counts;
}

}  // namespace lanecast
