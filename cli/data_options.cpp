#include "cli/data_options.hpp"

#include "cli/call_options.hpp"
#include "cli/option_values.hpp"

namespace lanecast {
namespace {

constexpr int kMostRanks = 4096;

/// The typed value, or the default where nothing was typed.
void take(const std::string& typed, std::string& value) {
  if (!typed.empty()) value = typed;
}

/// The values by the rules of `predict`'s flags of the same names.
Call typed_call(const DataOptions& options, const Session& session) {
  CallOptions flags;
  take(options.collective, flags.collective);
  take(options.datatype, flags.datatype);
  take(options.algorithm, flags.algorithm);
  take(options.protocol, flags.protocol);
  take(options.transport, flags.transport);
  take(options.channels, flags.channels);
  take(options.threads, flags.threads);
  take(options.buffsize, flags.buffsize);
  take(options.launch, flags.launch);
  take(options.iterations, flags.iterations);
  take(options.registration, flags.registration);
  return read_call(flags, session);
}

}  // namespace

void add_data_options(CLI::App& command, DataOptions& options) {
  const auto add = [&](const char* flags, std::string& value, const char* text) {
    command.add_option(flags, value, text)->group("What the data leave open");
  };
  add("--collective", options.collective, "all_reduce, reduce_scatter, all_gather, broadcast or reduce");
  add("-d,--datatype", options.datatype, "float, half, bfloat16, double, int32, int64 or uint8");
  add("--algorithm", options.algorithm, "ring, tree, ...");
  add("--protocol", options.protocol, "simple, ll or ll128");
  add("--transport", options.transport, "p2p or shm");
  add("--channels", options.channels, "thread blocks that share the data");
  add("--threads", options.threads, "of a thread block");
  add("--buffsize", options.buffsize, "FIFO of one connection, such as 4M");
  add("--launch", options.launch, "stream or graph");
  add("-n,--iterations", options.iterations, "launches in one graph or stream timing");
  add("--register", options.registration, "registered user buffers: on or off");
  add("--ranks", options.ranks, "how many GPUs took part");
}

MeasuredDefaults read_data_options(const DataOptions& options, const Session& session) {
  const Call call = typed_call(options, session);
  MeasuredDefaults defaults;
  if (!options.collective.empty()) defaults.collective = call.collective;
  if (!options.datatype.empty()) defaults.datatype = call.datatype;
  defaults.algorithm = call.algorithm;
  defaults.protocol = call.protocol;
  defaults.transport = call.transport;
  defaults.channels = call.channels;
  defaults.threads = call.threads;
  defaults.buffsize = call.buffsize;
  if (!options.launch.empty()) defaults.launch = call.launch;
  if (!options.iterations.empty()) defaults.iterations = call.iterations;
  if (call.registration != Registration::automatic) defaults.registration = call.registration;
  if (!options.ranks.empty())
    defaults.ranks = static_cast<int>(read_integer(options.ranks, "--ranks", 1, kMostRanks));
  return defaults;
}

}  // namespace lanecast
