#include "cli/call_options.hpp"

#include <algorithm>

#include "cli/option_values.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

constexpr int kMostChannels = 64;
constexpr int kMostThreads = 640;  // LL128; the other protocols take 512
constexpr int kMostIterations = 1'000'000;
constexpr std::uint64_t kLargestBuffer = std::uint64_t{1}
                                         << 30;  // NCCL keeps these sizes in 32 bits with a sign

std::optional<int> read_count(const std::string& text, const std::string& flag, int high) {
  if (text == "auto") return std::nullopt;
  return static_cast<int>(read_integer(text, flag, 1, high));
}

std::optional<Bytes> read_bytes(const std::string& text, const std::string& flag) {
  if (text.empty() || text == "auto") return std::nullopt;
  const Bytes size = read_size(text, flag + " " + printable(text));
  if (size.value() != 0 && size.value() <= kLargestBuffer) return size;
  throw Error(ErrorKind::usage, "`" + flag + "` is `" + printable(text) + "`", flag,
              "take a size from 1 to 1G, or leave it out");
}

std::optional<Algorithm> read_algorithm(const std::string& text) {
  if (text.empty() || text == "auto") return std::nullopt;
  if (const auto algorithm = algorithm_from_string(text)) return algorithm;
  std::vector<std::string> names = algorithm_names();
  names.emplace_back("auto");
  throw unknown_choice(text, "--algorithm", names);
}

std::optional<Protocol> read_protocol(const CallOptions& options) {
  const std::string& text = options.protocol;
  if (text.empty() || text == "auto") return std::nullopt;
  if (const auto protocol = protocol_from_string(text)) return protocol;
  throw unknown_choice(text, "--protocol", {"simple", "ll", "ll128", "auto"});
}

Collective read_collective(const std::string& text) {
  if (const auto collective = collective_from_string(text)) return *collective;
  throw unknown_choice(text, "--collective",
                       {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"});
}

Datatype read_datatype(const std::string& text) {
  if (const auto type = datatype_from_string(text)) return *type;
  throw unknown_choice(text, "--datatype",
                       {"float", "half", "bfloat16", "double", "int32", "int64", "uint8"});
}

ReduceOp read_op(const CallOptions& options, Collective collective, const Session& session) {
  if (options.op.empty()) return ReduceOp::sum;
  const auto op = reduce_op_from_string(options.op);
  if (!op) throw unknown_choice(options.op, "--op", {"sum", "prod", "max", "min", "avg"});
  if (!has_reduction(collective)) session.note("--op means nothing to " + std::string(to_string(collective)));
  return *op;
}

/// -1 stands for "not given": the first rank is then the root, which only the machine can tell.
int read_root(const CallOptions& options, Collective collective, const Session& session) {
  if (options.root.empty()) return -1;
  const int root = static_cast<int>(read_integer(options.root, "--root", 0, 1'000'000));
  if (!has_root(collective)) session.note("--root means nothing to " + std::string(to_string(collective)));
  return root;
}

void add_geometry_options(CLI::App& command, CallOptions& options) {
  const auto add = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("How it runs");
  };
  add("--algorithm", options.algorithm,
      "ring, tree, direct (one_shot, two_shot, one_shot_pull, two_shot_pull), halving_doubling, hierarchical "
      "(hierarchical_ring, hierarchical_tree), star, nvls (nccl-model), or auto; nccl: ring, tree");
  add("--protocol", options.protocol, "simple, ll, ll128, or auto");
  add("--transport", options.transport, "auto, p2p (for all neighbours) or shm (for none)")
      ->capture_default_str();
  add("--channels", options.channels, "thread blocks that share the data, or auto")->capture_default_str();
  add("--threads", options.threads, "of a thread block, or auto")->capture_default_str();
  add("--buffsize", options.buffsize, "FIFO of one connection, such as 4M");
  add("--chunk", options.chunk, "payload of a chunk, such as 128K, or auto")->capture_default_str();
  add("--implementation", options.implementation,
      "nccl, nccl-2.18 to nccl-2.30, rccl, nccl-model or nccl-model-2.28 (NCCL's own estimates), lanecast "
      "[nccl; lanecast for algorithms that NCCL lacks]");
  add("--launch", options.launch, "stream or graph")->capture_default_str();
  add("-n,--iterations", options.iterations, "launches in one graph or stream timing")->capture_default_str();
  add("--register", options.registration, "registered user buffers: auto, on or off")->capture_default_str();
}

}  // namespace

void add_call_options(CLI::App& command, CallOptions& options) {
  const auto add = [&](const char* flags, std::string& value, const char* text) {
    return command.add_option(flags, value, text)->group("The call");
  };
  add("--collective", options.collective, "all_reduce, reduce_scatter, all_gather, broadcast or reduce")
      ->capture_default_str();
  add("-d,--datatype", options.datatype, "float, half, bfloat16, double, int32, int64 or uint8")
      ->capture_default_str();
  add("--op", options.op, "sum, prod, max, min or avg");
  add("-r,--root", options.root, "GPU index of the root (broadcast, reduce)");
  command.add_flag("--in-place", options.in_place, "send and receive buffer are the same")->group("The call");
  add("--ranks", options.ranks, "GPU indices that take part, such as 0,1,3 (default: all)");
  add("--order", options.order, "of the ranks: auto, or given (as --ranks is written)")
      ->capture_default_str();
  add_geometry_options(command, options);
}

std::string asked_implementation(const CallOptions& options, const Session& session) {
  if (!options.implementation.empty()) return options.implementation;
  const auto algorithm = read_algorithm(options.algorithm);
  if (!algorithm || is_of_nccl(*algorithm)) return "nccl";
  session.note(std::string("NCCL has no ") + to_string(*algorithm) +
               ": answered for lanecast's engine (--implementation lanecast)");
  return "lanecast";
}

Call read_call(const CallOptions& options, const Session& session) {
  Call call;
  call.collective = read_collective(options.collective);
  call.datatype = read_datatype(options.datatype);
  call.op = read_op(options, call.collective, session);
  call.root = read_root(options, call.collective, session);
  call.in_place = options.in_place;
  call.algorithm = read_algorithm(options.algorithm);
  call.protocol = read_protocol(options);
  call.transport = read_choice<std::optional<Transport>>(
      options.transport, "--transport",
      {{"auto", std::nullopt}, {"p2p", Transport::p2p}, {"shm", Transport::shm}});
  call.channels = read_count(options.channels, "--channels", kMostChannels);
  call.threads = read_count(options.threads, "--threads", kMostThreads);
  call.buffsize = read_bytes(options.buffsize, "--buffsize");
  call.chunk = read_bytes(options.chunk, "--chunk");
  call.launch =
      read_choice<Launch>(options.launch, "--launch", {{"stream", Launch::stream}, {"graph", Launch::graph}});
  call.iterations = static_cast<int>(read_integer(options.iterations, "--iterations", 1, kMostIterations));
  call.registration = read_choice<Registration>(
      options.registration, "--register",
      {{"auto", Registration::automatic}, {"on", Registration::on}, {"off", Registration::off}});
  call.order_given = read_choice<bool>(options.order, "--order", {{"auto", false}, {"given", true}});
  if (!options.ranks.empty()) call.ranks = read_indices(options.ranks, "--ranks");
  return call;
}

}  // namespace lanecast
