#include "configs/measured/call_row.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "configs/measured/cell_values.hpp"
#include "configs/measured/nccl_settings.hpp"
#include "configs/reading.hpp"
#include "model/measured/measured_settings.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kNcclBuffsize = std::uint64_t{4} << 20;  // NCCL's default: as if it were not set
constexpr int kMost = 1 << 20;

std::optional<Transport> transport_from(const std::string& text) {
  if (text == "p2p") return Transport::p2p;
  return text == "shm" ? std::optional(Transport::shm) : std::nullopt;
}
std::optional<Launch> launch_from(const std::string& text) {
  if (text == "graph") return Launch::graph;
  return text == "stream" ? std::optional(Launch::stream) : std::nullopt;
}
std::optional<Registration> registration_from(const std::string& text) {
  if (text == "on" || text == "1") return Registration::on;
  return text == "off" || text == "0" ? std::optional(Registration::off) : std::nullopt;
}
std::optional<std::string> staging_from(const std::string& text) {
  return text == "sm" || text == "ce" ? std::optional(text) : std::nullopt;
}
std::optional<std::string> implementation_from(const std::string& text) {
  const bool known = text == "lanecast" || text == "rccl" || text.substr(0, 4) == "nccl";
  return known ? std::optional(text) : std::nullopt;
}

/// Takes a value and remembers that the file states it.
template <class T>
void take(T& to, bool& stated, const std::optional<T>& value) {
  if (!value) return;
  to = *value;
  stated = true;
}

/// What is asked for.
void read_question(CellValues& values, MeasuredCall& measured) {
  Call& call = measured.call;
  StatedMembers& stated = measured.stated;
  call.size = values.bytes({"size_bytes", "size"}).value_or(Bytes(0));
  take(call.collective, stated.collective,
       values.named(
           {"collective"}, &collective_from_string,
           "a collective that is modelled: all_reduce, reduce_scatter, all_gather, broadcast or reduce"));
  take(call.datatype, stated.datatype,
       values.named({"datatype", "type"}, &datatype_from_string, "a datatype, such as float or bfloat16"));
  if (values.text({"op", "redop"}) != "none") {
    take(call.op, stated.op,
         values.named({"op", "redop"}, &reduce_op_from_string, "an operation: sum, prod, max, min or avg"));
  }
  const auto root = values.text({"root"});
  if (root && root != "-1") call.root = values.integer({"root"}, 0, kMost).value_or(0);
}

/// How it was launched and where the data lay.
void read_launch(CellValues& values, MeasuredCall& measured) {
  Call& call = measured.call;
  StatedMembers& stated = measured.stated;
  take(call.launch, stated.launch, values.named({"launch"}, &launch_from, "a launch: stream or graph"));
  const auto replays = values.integer({"graph_replays"}, 0, kMost);
  if (!stated.launch && replays) {
    take(call.launch, stated.launch, std::optional(*replays > 0 ? Launch::graph : Launch::stream));
  }
  take(call.iterations, stated.iterations, values.integer({"iterations", "iters"}, 1, kMost));
  take(call.registration, stated.registration,
       values.named({"register"}, &registration_from, "on, off or auto"));
  take(measured.session, stated.session, values.integer({"session"}, 1, kMost));
  measured.ranks = values.integer({"ranks"}, 1, kMost).value_or(0);
  call.working_set = values.bytes({"working_set_bytes"});
}

/// The GPU of each rank.
void read_devices(CellValues& values, MeasuredCall& measured) {
  const DataCell* cell = values.stated({"devices"});
  if (cell == nullptr) return;
  std::string plain = cell->text;
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream stream(plain);
  std::vector<int> devices;
  for (int device = 0; stream >> device;) devices.push_back(device);
  const bool apart = std::set<int>(devices.begin(), devices.end()).size() == devices.size();
  if (devices.empty() ||
      (measured.ranks != 0 && devices.size() != static_cast<std::size_t>(measured.ranks))) {
    values.complain(*cell, "not one GPU for each rank", "give as many indices as there are ranks");
    return;
  }
  measured.ranks = static_cast<int>(devices.size());
  measured.shared_gpu = !apart;
  if (apart) measured.call.ranks = devices;
}

/// How it ran. NCCL's bounds on channels, threads and buffers stay variables (measured_settings.hpp).
void read_ways(CellValues& values, MeasuredCall& measured) {
  Call& call = measured.call;
  measured.implementation =
      values.named({"implementation"}, &implementation_from, "nccl, nccl-2.28 or lanecast").value_or("");
  if (measured.implementation.empty() && values.text({"ranks_as"})) measured.implementation = "lanecast";
  call.algorithm = values.named({"algorithm"}, &algorithm_from_string, "an algorithm, such as ring or tree");
  if (const auto variant = values.named({"variant"}, &algorithm_from_string, "a variant, such as one_shot")) {
    call.algorithm = variant;
  }
  call.protocol = values.named({"protocol"}, &protocol_from_string, "a protocol: simple, ll or ll128");
  call.transport = values.named({"transport"}, &transport_from, "a transport: p2p or shm");
  measured.staging = values.named({"staging"}, &staging_from, "a staging: sm or ce").value_or("");
  const int channels = values.integer({"channels"}, 0, 1024).value_or(0);  // 0: copy engines
  const int threads = values.integer({"threads", "nthreads"}, 0, 1024).value_or(0);
  if (channels != 0) set_channels(measured, channels);
  if (threads != 0) set_threads(measured, threads);
  call.chunk = values.bytes({"chunk_bytes"});
  if (call.chunk == Bytes(0)) call.chunk.reset();
  if (const auto buffsize = values.bytes({"buffsize_bytes"}); buffsize && *buffsize != Bytes(0)) {
    set_buffsize(measured, *buffsize);
  } else if (const auto nccl = values.bytes({"buffsize"}); nccl && nccl->value() != kNcclBuffsize) {
    measured.environment["NCCL_BUFFSIZE"] = std::to_string(nccl->value());  // LL and LL128 have their own
  }
  if (values.text({"shm_memcpy"}) == "1") measured.environment["NCCL_SHM_USE_CUDA_MEMCPY"] = "1";
}

/// One of the two times of a row. @param time_key  key of the time
void add_timed(CellValues& values, MeasuredCall measured, const char* time_key, bool in_place,
               std::vector<MeasuredCall>& calls) {
  const auto time_us = values.positive({time_key});
  if (!time_us) return;
  measured.call.in_place = in_place;
  measured.time = Seconds(*time_us * 1e-6);
  const auto max_bytes = values.bytes({"max_bytes"});
  if (!measured.call.working_set && max_bytes && measured.stated.iterations) {
    measured.call.working_set =
        rotating_working_set(measured.call.size, measured.call.iterations, *max_bytes, in_place);
  }
  calls.push_back(std::move(measured));
}

std::vector<MeasuredCall> times_of(CellValues& values, const MeasuredCall& measured) {
  std::vector<MeasuredCall> calls;
  add_timed(values, measured, "time_us_out_of_place", false, calls);
  add_timed(values, measured, "time_us_in_place", true, calls);
  const bool in_place = values.flag({"in_place"}).value_or(false);
  add_timed(values, measured, "time_us", in_place, calls);
  for (MeasuredCall& call : calls) {
    const auto least = values.positive({"time_us_min"}), p99 = values.positive({"time_us_p99"});
    if (least) call.time_min = Seconds(*least * 1e-6);
    if (p99) call.time_p99 = Seconds(*p99 * 1e-6);
  }
  return calls;
}

std::vector<std::string> split_keys(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

Bytes rotating_working_set(Bytes size, int iterations, Bytes max_bytes, bool in_place) {
  const double wanted = static_cast<double>(size.value()) * iterations;
  const bool all = wanted >= static_cast<double>(max_bytes.value());
  const std::uint64_t buffer =
      all ? std::max(max_bytes, size).value() : size.value() * static_cast<std::uint64_t>(iterations);
  return Bytes(buffer * (in_place ? 1 : 2));
}

const std::vector<std::string>& call_keys() {
  static const std::vector<std::string> kKeys = split_keys(
      "size_bytes size count collective datatype type op redop root in_place algorithm "
      "variant protocol transport staging channels threads nthreads chunk_bytes "
      "buffsize_bytes buffsize shm_memcpy launch iterations iters graph_replays samples "
      "warmup session max_bytes working_set_bytes ranks ranks_as devices register "
      "implementation time_us time_us_out_of_place time_us_in_place time_us_min time_us_p99 "
      "algbw_GBps busbw_GBps wrong");
  return kKeys;
}

std::vector<MeasuredCall> calls_of_row(const DataRow& row, MeasuredReading& reading) {
  CellValues values(row, reading);
  MeasuredCall measured;
  measured.where = reading.at(row.at.line);
  for (const DataCell& cell : row.cells) {
    if (cell.key.substr(0, 5) == "NCCL_" && !cell.open()) measured.environment[cell.key] = cell.text;
  }
  read_question(values, measured);
  read_launch(values, measured);
  read_devices(values, measured);
  read_ways(values, measured);
  settle_environment(measured);
  measured.wrong = values.count({"wrong"});
  std::vector<MeasuredCall> calls = times_of(values, measured);
  if (!values.good()) return {};
  constexpr std::uint64_t largest = std::uint64_t{1} << 50;
  if (values.stated({"size_bytes", "size"}) == nullptr || measured.call.size.value() > largest) {
    reading.problem(row.at, "a row without a size of at most 1 PiB", "give `size_bytes`");
    return {};
  }
  if (calls.empty()) {
    reading.problem(row.at, "a row without a time", "give `time_us`, or leave the row out");
    return {};
  }
  if (measured.call.size == Bytes(0)) {
    reading.leave_out("rows of 0 B are left out", row.at.line);
    return {};
  }
  if (measured.wrong.value_or(0) != 0) {
    reading.leave_out("rows whose results were wrong are left out", row.at.line);
    return {};
  }
  return calls;
}

}  // namespace lanecast
