#include "configs/measured/predicted_row.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "configs/reading.hpp"
#include "model/measured/measured_settings.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::json;

constexpr double kMostMicroseconds = 1e15;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 50U;
constexpr std::uint64_t kLargestCount = 1'000'000'000;

/// Values of one object, with the objects that stand in for what it lacks.
class RowReader {
 public:
  RowReader(std::vector<const Json*> objects, const RowPlace& place, ProblemList& problems)
      : objects_(std::move(objects)), place_(place), problems_(problems) {}

  /// Null where no object has the key, or null as its value.
  const Json& at(const char* key) const {
    static const Json kNull;
    for (const Json* object : objects_) {
      const auto found = object->find(key);
      if (found != object->end() && !found->is_null()) return *found;
    }
    return kNull;
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (value.is_null()) return "";
    if (value.is_string()) return value.get<std::string>();
    complain(key, value, "a word");
    return "";
  }

  /// A word that `read` knows.
  template <class Read>
  auto word(const char* key, Read read, const char* mend) const -> decltype(read(std::string())) {
    const std::string name = text(key);
    if (name.empty() || name == "auto") return std::nullopt;
    auto value = read(name);
    if (!value)
      problems_.add({place_.at, path(key), "`" + std::string(key) + "` is `" + printable(name) + "`", mend});
    return value;
  }

  std::optional<std::uint64_t> whole(const char* key, std::uint64_t low, std::uint64_t high) const {
    const Json& value = at(key);
    if (value.is_null() || (value.is_string() && value.get<std::string>() == "auto")) return std::nullopt;
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (number >= low && number <= high) return number;
    }
    complain(key, value, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
  }

  std::optional<int> count(const char* key) const {
    const std::optional<std::uint64_t> number = whole(key, 0, kLargestCount);
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  }

  std::optional<Bytes> bytes(const char* key) const {
    const std::optional<std::uint64_t> number = whole(key, 1, kLargestSize);
    return number ? std::optional<Bytes>(*number) : std::nullopt;
  }

  std::optional<Seconds> time(const char* key) const {
    const Json& value = at(key);
    if (value.is_null()) return std::nullopt;
    if (value.is_number()) {
      const auto us = value.get<double>();
      if (std::isfinite(us) && us > 0 && us < kMostMicroseconds) return Seconds(us * 1e-6);
    }
    complain(key, value, "a time in microseconds above 0");
    return std::nullopt;
  }

  bool flag(const char* key) const {
    const Json& value = at(key);
    if (value.is_null()) return false;
    if (value.is_boolean()) return value.get<bool>();
    complain(key, value, "true or false");
    return false;
  }

  void missing(const char* key) const {
    if (!problems_.has(path(key)))
      problems_.add({place_.at, path(key), "`" + path(key) + "` is missing", "every row needs it"});
  }

 private:
  std::string path(const char* key) const { return (place_.path.empty() ? "" : place_.path + ".") + key; }

  void complain(const char* key, const Json& value, const std::string& wanted) const {
    problems_.add({place_.at, path(key),
                   "`" + path(key) + "` is `" +
                       printable(value.dump(-1, ' ', false, Json::error_handler_t::replace)) + "`",
                   "it must be " + wanted});
  }

  std::vector<const Json*> objects_;
  const RowPlace& place_;
  ProblemList& problems_;
};

std::optional<Transport> transport_from_string(const std::string& text) {
  if (text == "p2p") return Transport::p2p;
  if (text == "shm") return Transport::shm;
  return std::nullopt;
}

std::optional<Registration> registration_from_string(const std::string& text) {
  if (text == "on") return Registration::on;
  if (text == "off") return Registration::off;
  return std::nullopt;
}

std::optional<Launch> launch_from_string(const std::string& text) {
  if (text == "graph") return Launch::graph;
  if (text == "stream") return Launch::stream;
  return std::nullopt;
}

/// What a call may leave open.
void read_way(const RowReader& row, Call& call) {
  const bool variant = !row.at("variant").is_null();
  call.algorithm = row.word(variant ? "variant" : "algorithm", algorithm_from_string, "take ring, tree, ...");
  call.protocol = row.word("protocol", protocol_from_string, "take simple, ll or ll128");
  call.channels = row.count("channels");
  call.threads = row.count("threads");
  call.chunk = row.bytes("chunk_bytes");
  call.buffsize = row.bytes("buffsize_bytes");
  call.registration = row.word("register", registration_from_string, "take auto, on or off")
                          .value_or(Registration::automatic);
}

void read_what(const RowReader& row, Call& call) {
  if (const auto size = row.whole("size_bytes", 0, kLargestSize)) {
    call.size = Bytes(*size);
  } else {
    row.missing("size_bytes");
  }
  call.collective = row.word("collective", collective_from_string, "take all_reduce, all_gather, ...")
                        .value_or(call.collective);
  call.datatype = row.word("datatype", datatype_from_string, "take float, half, ...").value_or(call.datatype);
  call.op = row.word("op", reduce_op_from_string, "take sum, prod, max, min or avg").value_or(call.op);
  call.in_place = row.flag("in_place");
  call.launch = row.word("launch", launch_from_string, "take graph or stream").value_or(call.launch);
  call.iterations = row.count("iterations").value_or(call.iterations);
}

std::string read_transport(const RowReader& row) {
  std::string text = row.text("transport");
  if (text == "mixed") return text;
  const std::optional<Transport> known =
      row.word("transport", transport_from_string, "take p2p, shm or mixed");
  return known ? text : "";
}

/// What was forced: by flags, else by NCCL's variables.
Call read_asked(const Json& asked, const Json& environment, const Call& call, const RowPlace& place,
                ProblemList& problems) {
  const RowReader reader({&asked}, place, problems);
  MeasuredCall forced;
  forced.call = call;
  read_way(reader, forced.call);
  forced.call.transport = reader.word("transport", transport_from_string, "take p2p or shm");
  for (const auto& [name, value] : environment.items()) {
    if (value.is_string()) forced.environment[name] = value.get<std::string>();
  }
  forced.call.channels = set_channels(forced);
  forced.call.threads = set_threads(forced);
  forced.call.buffsize = set_buffsize(forced);
  return forced.call;
}

}  // namespace

PredictedCall read_predicted_row(const Json& row, const Json& document, const RowPlace& place,
                                 ProblemList& problems) {
  const RowReader reader({&row, &document}, place, problems);
  PredictedCall call;
  read_what(reader, call.call);
  read_way(reader, call.call);
  call.transport = read_transport(reader);
  call.ranks = reader.count("ranks").value_or(0);
  call.implementation = reader.text("implementation");
  call.where = place.where;
  const auto says = [&](const char* key) { return !reader.at(key).is_null(); };
  call.stated = {says("collective"), says("datatype"), says("op"), says("launch"),
                 says("iterations"), says("register"), false};
  if (const auto time = reader.time("time_us")) {
    call.time = *time;
  } else {
    reader.missing("time_us");
  }
  call.time_low = reader.time("time_us_low");
  call.time_high = reader.time("time_us_high");
  const Json& asked = reader.at("asked");
  if (asked.is_object())
    call.asked = read_asked(asked, reader.at("nccl_environment"), call.call, place, problems);
  return call;
}

}  // namespace lanecast
