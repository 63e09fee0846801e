#include "tests/cases/h200_sweeps.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "model/error.hpp"

namespace lanecast::cases {
namespace {

constexpr const char* kStated = "stated";
constexpr std::uint64_t kSmallest = 1024;

using Row = std::map<std::string, std::string>;  // by column

std::vector<std::string> fields_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = fields_of(line);
    Row row;
    for (std::size_t i = 0; i < columns.size() && i < fields.size(); ++i) row[columns[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  for (const char* needed : {"protocol", "transport", "channels", "size_bytes", "time_us_out_of_place"}) {
    if (!rows.empty() && rows.front().count(needed) != 0) continue;
    throw Error(ErrorKind::usage, std::string("there is no column `") + needed + "`", path,
                "give shared/measurements/h200x2-nvlink/nccl-2.28.9.csv");
  }
  return rows;
}

/// All columns but the sizes and times.
Row settings_of(Row row) {
  for (const char* result : {"size_bytes", "time_us_out_of_place", "time_us_in_place"}) row.erase(result);
  return row;
}

std::uint64_t size_of(const Row& row) { return std::stoull(row.at("size_bytes")); }

std::vector<NcclSetting> environment_of(const Row& row) {
  const std::map<std::string, std::string> protocols{{"ll", "LL"}, {"ll128", "LL128"}, {"simple", "Simple"}};
  std::vector<NcclSetting> all{{"NCCL_ALGO", "Ring", kStated}, {"NCCL_NVLS_ENABLE", "0", kStated}};
  const auto add = [&](const char* name, const std::string& value) { all.push_back({name, value, kStated}); };
  if (row.at("protocol") != "auto") add("NCCL_PROTO", protocols.at(row.at("protocol")));
  if (row.at("transport") == "shm") add("NCCL_P2P_DISABLE", "1");
  if (row.at("channels") != "auto") {
    add("NCCL_MIN_NCHANNELS", row.at("channels"));
    add("NCCL_MAX_NCHANNELS", row.at("channels"));
  }
  if (row.at("buffsize") != "4194304") add("NCCL_BUFFSIZE", row.at("buffsize"));
  if (row.at("nthreads") != "auto") add("NCCL_NTHREADS", row.at("nthreads"));
  if (row.at("register") == "off") add("NCCL_GRAPH_REGISTER", "0");
  return all;
}

AllReduceCase case_of(const Row& row) {
  AllReduceCase entry;
  const bool shm = row.at("transport") == "shm";
  entry.case_id = std::string("2 x H200, ") + (shm ? "host memory" : "NVLink") + ", " + row.at("protocol");
  entry.variant = row.at("launch") + ", " + row.at("channels") + " channels";
  entry.machine = "h200x2-nvlink-vm";
  entry.implementation = "nccl-2.28";
  entry.environment = environment_of(row);
  entry.call.launch = row.at("launch") == "graph" ? Launch::graph : Launch::stream;
  entry.call.iterations = std::stoi(row.at("iters"));
  if (row.at("protocol") == "auto") entry.not_stated = "protocol";
  return entry;
}

}  // namespace

std::vector<AllReduceSweep> h200_sweeps(const std::string& path) {
  std::vector<AllReduceSweep> sweeps;
  Row before;
  std::uint64_t size_before = 0;
  for (const Row& row : read_rows(path)) {
    const bool first = settings_of(row) != before || size_of(row) <= size_before;
    size_before = size_of(row);
    if (first) {
      before = settings_of(row);
      sweeps.push_back({case_of(row), {}});
      continue;
    }
    if (size_of(row) < kSmallest) continue;
    sweeps.back().rows.push_back({Bytes(size_of(row)), std::stod(row.at("time_us_out_of_place"))});
  }
  return sweeps;
}

}  // namespace lanecast::cases
