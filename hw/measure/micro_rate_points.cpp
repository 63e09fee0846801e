#include "hw/measure/micro_points.hpp"

namespace lanecast {
namespace {

using namespace literals;

/// Threads a block and blocks.
struct Shape {
  int threads;
  int blocks;
};

std::vector<Shape> grid(Suite suite) {
  if (suite == Suite::quick) return {{128, 1}, {512, 1}, {512, 4}, {512, 16}};
  std::vector<Shape> shapes;
  for (const int threads : {64, 128, 256, 512}) {
    for (const int blocks : {1, 2, 4, 8, 16, 32}) shapes.push_back({threads, blocks});
  }
  return shapes;
}

std::vector<Shape> corners(Suite suite) {
  if (suite == Suite::quick) return {{512, 1}, {512, 16}};
  return {{128, 1}, {512, 1}, {512, 4}, {512, 16}, {512, 32}};
}

MicroPoint sm_point(const std::string& name, std::vector<MicroFlow> flows, Shape shape, Bytes size) {
  MicroPoint point;
  point.kind = MicroKind::sm_rate;
  point.name = name;
  point.flows = std::move(flows);
  point.threads = shape.threads;
  point.blocks = shape.blocks;
  point.size = size;
  return point;
}

constexpr Bytes kSmBuffer = 32_MiB;

/// A device's thread blocks and one memory: their own, the host's or a peer's.
void add_device_and_memory(int device, int memory, const std::vector<Shape>& shapes,
                           std::vector<MicroPoint>& points) {
  const auto add = [&](const std::string& name, MicroFlow flow) {
    for (const Shape shape : shapes) points.push_back(sm_point(name, {flow}, shape, kSmBuffer));
  };
  add("sm_store", {device, memory, device, SmWork::store});
  add("sm_load", {memory, device, device, SmWork::load});
  if (memory == device) {
    add("sm_copy", {device, device, device, SmWork::copy});
    add("sm_reduce", {device, device, device, SmWork::reduce});
    return;
  }
  add("sm_push", {device, memory, device, SmWork::copy});
  add("sm_pull", {memory, device, device, SmWork::copy});
  add("sm_reduce_push", {device, memory, device, SmWork::reduce});
  add("sm_reduce_pull", {memory, device, device, SmWork::reduce});
}

/// Local copies whose working set (both buffers) goes from 8 to 256 MB.
void add_working_sets(Suite suite, int device, std::vector<MicroPoint>& points) {
  const std::vector<Bytes> sizes = suite == Suite::full ? std::vector{4_MiB,  8_MiB,  12_MiB, 16_MiB, 20_MiB,
                                                                      24_MiB, 32_MiB, 64_MiB, 128_MiB}
                                                        : std::vector{4_MiB, 16_MiB, 128_MiB};
  for (const Bytes size : sizes) {
    for (const int blocks : {16, 128}) {
      points.push_back(
          sm_point("sm_copy_sweep", {{device, device, device, SmWork::copy}}, {512, blocks}, size));
    }
  }
}

/// Every device with the next one, the last with the first; empty where two don't reach each other.
std::vector<MicroFlow> ring(const MicroGpus& gpus, bool backwards) {
  std::vector<MicroFlow> flows;
  const std::size_t count = gpus.devices.size();
  if (count < 2) return flows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = (i + (backwards ? count - 1 : 1)) % count;
    if (!gpus.access[i][next]) return {};
    flows.push_back({gpus.devices[i], gpus.devices[next], gpus.devices[i], SmWork::copy});
  }
  return flows;
}

MicroFlow to_host(int device) { return {device, kHostMemory, device, SmWork::copy}; }
MicroFlow from_host(int device) { return {kHostMemory, device, device, SmWork::copy}; }

std::vector<MicroFlow> joined(std::vector<MicroFlow> flows, const std::vector<MicroFlow>& more) {
  flows.insert(flows.end(), more.begin(), more.end());
  return flows;
}

struct NamedFlows {
  std::string name;
  std::vector<MicroFlow> flows;
};

/// What is moved at the same time, for thread blocks and copy engines alike: host memory both ways, by one
/// device and by all; each pair both ways; all devices to the next one.
std::vector<NamedFlows> joint_flows(const MicroGpus& gpus) {
  std::vector<NamedFlows> joint;
  std::vector<MicroFlow> out, in;
  for (const int device : gpus.devices) {
    joint.push_back({"duplex", {to_host(device), from_host(device)}});
    out.push_back(to_host(device));
    in.push_back(from_host(device));
  }
  if (gpus.devices.size() < 2) return joint;
  joint.push_back({"to_host_all", out});
  joint.push_back({"from_host_all", in});
  joint.push_back({"duplex_all", joined(out, in)});
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.devices.size(); ++b) {
      if (!gpus.access[a][b] || !gpus.access[b][a]) continue;
      const int one = gpus.devices[a], other = gpus.devices[b];
      joint.push_back({"pair", {{one, other, one, SmWork::copy}, {other, one, other, SmWork::copy}}});
    }
  }
  if (const auto flows = ring(gpus, false); !flows.empty()) joint.push_back({"ring", flows});
  if (gpus.devices.size() < 3) return joint;  // with two, one ring is both ways already
  if (const auto flows = joined(ring(gpus, false), ring(gpus, true));
      flows.size() == 2 * gpus.devices.size()) {
    joint.push_back({"ring_both", flows});
  }
  return joint;
}

MicroPoint engine_point(const std::string& name, std::vector<MicroFlow> flows, Bytes size) {
  MicroPoint point;
  point.kind = MicroKind::engine_rate;
  point.name = name;
  point.flows = std::move(flows);
  point.size = size;
  return point;
}

}  // namespace

void add_sm_rate_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    const int device = gpus.devices[a];
    for (const int memory : {device, kHostMemory}) {
      add_device_and_memory(device, memory, a == 0 ? grid(suite) : corners(suite), points);
    }
    for (std::size_t b = 0; b < gpus.devices.size(); ++b) {
      if (a == b || !gpus.access[a][b]) continue;
      add_device_and_memory(device, gpus.devices[b], a + b == 1 ? grid(suite) : corners(suite), points);
    }
    add_working_sets(suite, device, points);
  }
}

void add_joint_sm_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  const std::vector<Shape> shapes =
      suite == Suite::full ? std::vector<Shape>{{128, 1}, {128, 4},  {128, 16}, {512, 1},  {512, 2}, {512, 4},
                                                {512, 8}, {512, 16}, {512, 32}, {256, 16}, {256, 32}}
                           : std::vector<Shape>{{512, 1}, {512, 4}, {512, 16}};
  for (const NamedFlows& joint : joint_flows(gpus)) {
    for (const Shape shape : shapes) {
      points.push_back(sm_point("sm_" + joint.name, joint.flows, shape, kSmBuffer));
    }
  }
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {  // both ways by one device's loads and stores
    for (std::size_t b = 0; b < gpus.devices.size(); ++b) {
      if (a == b || !gpus.access[a][b]) continue;
      const int device = gpus.devices[a], peer = gpus.devices[b];
      for (const Shape shape : corners(suite)) {
        points.push_back(sm_point(
            "sm_duplex", {{device, peer, device, SmWork::copy}, {peer, device, device, SmWork::copy}}, shape,
            kSmBuffer));
      }
    }
  }
}

void add_engine_points(Suite suite, const MicroGpus& gpus, std::vector<MicroPoint>& points) {
  const std::vector<Bytes> sizes = suite == Suite::full
                                       ? std::vector{4_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB, 32_MiB}
                                       : std::vector{64_KiB, 32_MiB};
  for (std::size_t a = 0; a < gpus.devices.size(); ++a) {
    const int device = gpus.devices[a];
    std::vector<MicroFlow> flows{to_host(device), from_host(device)};
    for (std::size_t b = 0; b < gpus.devices.size(); ++b) {
      if (a != b && gpus.access[a][b]) flows.push_back({device, gpus.devices[b], device, SmWork::copy});
    }
    for (const MicroFlow& flow : flows) {
      for (const Bytes size : sizes) points.push_back(engine_point("ce_copy", {flow}, size));
    }
  }
  for (const NamedFlows& joint : joint_flows(gpus)) {
    points.push_back(engine_point("ce_" + joint.name, joint.flows, 32_MiB));
  }
}

}  // namespace lanecast
