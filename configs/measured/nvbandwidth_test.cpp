#include "configs/measured/nvbandwidth_test.hpp"

#include <charconv>

#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

bool begins(const std::string& text, const char* part) { return text.rfind(part, 0) == 0; }
bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Host copies with others at the same time: each figure is one flow's.
void add_flows(const NvbandwidthTest& test, const PrintedMatrix& table, MeasuredReading& reading) {
  if (table.cells.size() != 1) {
    reading.problem(table.line, "a table of host copies has one row", "copy all of it");
    return;
  }
  for (std::size_t gpu = 0; gpu < table.cells.front().size(); ++gpu) {
    const std::string& text = table.cells.front()[gpu];
    if (text == "N/A") continue;
    const Reading<double> value = parse_number(text);
    if (!value || *value.value <= 0) {
      reading.problem(table.line, "`" + printable(text) + "` in a table is not a number above 0",
                      "give the table as the tool printed it; N/A is what was not measured");
      continue;
    }
    const std::string name = "gpu" + std::to_string(gpu);
    MeasuredRate rate;
    rate.name = test.rate;
    rate.source = test.to_host ? name : "host";
    rate.destination = test.to_host ? "host" : name;
    rate.GBps = value.value;
    rate.where = reading.at(table.line);
    reading.data.rates.push_back(std::move(rate));
  }
}

/// Figures of nanoseconds are round trips of loads; one way is half of it.
void take_latency(PrintedMatrix& table, int version, MeasuredReading& reading) {
  table.unit = "us";
  table.scale = 0.5e-3;
  reading.note("latencies of nvbandwidth are round trips of loads; half of one counts as one way",
               table.line);
  if (version == 0) {
    reading.note(
        "the version of nvbandwidth is not said: before 0.8 latencies between GPUs were those of the host",
        table.line);
  }
}

}  // namespace

int nvbandwidth_version(const std::string& text) {
  const std::size_t at = text.find_first_of("0123456789");
  if (at == std::string::npos) return 0;
  int major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + at, end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || major > 100 || minor < 0 || minor > 9) return 0;
  return major * 10 + minor;
}

NvbandwidthTest nvbandwidth_test(const std::string& name) {
  NvbandwidthTest test;
  const bool engine = name.size() > 3 && name[name.size() - 3] == '_';
  test.engine = engine ? name.substr(name.size() - 2) : "";
  if (test.engine != "ce" && test.engine != "sm") return test;
  using Kind = NvbandwidthTest::Kind;
  const bool both = holds(name, "bidirectional");
  const auto matrix = [&](const char* kind) {
    test.kind = Kind::matrix;
    test.matrix = kind;
  };
  const auto flows = [&](const char* suffix, bool to_host) {
    test.kind = Kind::flows;
    test.rate = test.engine + suffix;
    test.to_host = to_host;
  };
  if (begins(name, "device_to_device_latency")) matrix("latency");
  if (begins(name, "device_to_device_memcpy")) matrix("p2p");
  if (begins(name, "device_to_device_bidirectional_memcpy")) matrix("bidir");
  if (begins(name, "host_to_device_memcpy")) matrix("h2d");
  if (begins(name, "device_to_host_memcpy")) matrix("d2h");
  const bool measured_alone = both && test.engine == "ce";  // kernels' figures are of both ways together
  if (begins(name, "host_to_device_bidirectional") && measured_alone) flows("_duplex", false);
  if (begins(name, "device_to_host_bidirectional") && measured_alone) flows("_duplex", true);
  if (begins(name, "all_to_host_memcpy")) flows("_to_host_all", true);
  if (begins(name, "host_to_all_memcpy")) flows("_from_host_all", false);
  if (begins(name, "all_to_host_bidirectional") && measured_alone) flows("_duplex_all", true);
  if (begins(name, "host_to_all_bidirectional") && measured_alone) flows("_duplex_all", false);
  return test;
}

void add_nvbandwidth_table(PrintedMatrix table, const std::string& description, int version,
                           MeasuredReading& reading) {
  const NvbandwidthTest test = nvbandwidth_test(table.name);
  if (test.kind == NvbandwidthTest::Kind::unknown) {
    reading.leave_out("tables of `" + printable(table.name) + "` are not read", table.line);
    return;
  }
  if (test.kind == NvbandwidthTest::Kind::flows) return add_flows(test, table, reading);
  if (test.matrix == "bidir" && !holds(description, "Total")) return;  // its halves
  table.kind = test.matrix;
  table.engine = test.engine;
  table.unit = "GB/s";
  table.row_is_destination = holds(description, "<-") && !holds(description, "<->");
  if (test.matrix == "latency") {
    if (version != 0 && version < 8) {
      reading.leave_out("latencies between GPUs are wrong before nvbandwidth 0.8", table.line);
      return;
    }
    take_latency(table, version, reading);
  }
  add_matrix(table, reading);
}

}  // namespace lanecast
