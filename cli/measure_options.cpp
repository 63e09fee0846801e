#include "cli/measure_options.hpp"

#include <filesystem>
#include <set>
#include <system_error>

#include "model/error.hpp"

namespace lanecast {
namespace {

/// Adds a flag with a value to a group of the help.
struct Adder {
  CLI::App& command;
  const char* group;

  CLI::Option* operator()(const char* flags, std::string& value, const char* text) const {
    return command.add_option(flags, value, text)->group(group);
  }
};

void add_call(CLI::App& command, MeasureOptions& options) {
  const Adder add{command, "The calls (lists with commas, or `all`, measure every combination)"};
  add("--collective", options.collective,
      "all_reduce, reduce_scatter, all_gather, broadcast, reduce; none: micro-benchmarks only")
      ->capture_default_str();
  add("-d,--datatype", options.datatype, "float, half, bfloat16, double, int32, int64, uint8")
      ->capture_default_str();
  add("--op", options.op, "sum, prod, max, min, avg")->capture_default_str();
  add("-r,--root", options.root, "rank of the root (broadcast, reduce)")->capture_default_str();
  CLI::Option* in = command.add_flag("--in-place", options.in_place, "in place only (default: both)");
  CLI::Option* out = command.add_flag("--out-of-place", options.out_of_place, "out of place only");
  in->group(add.group);
  out->group(add.group)->excludes(in);
  add("--algorithm", options.algorithm, "ring, one_shot, two_shot, ... or auto")->capture_default_str();
  add("--protocol", options.protocol, "simple, ll, ll128, or auto")->capture_default_str();
  add("--transport", options.transport, "p2p (peer memory), shm (host memory), or auto")
      ->capture_default_str();
  add("--staging", options.staging, "who moves data through host memory: sm, ce (copy engines), or auto")
      ->capture_default_str();
  add("--channels", options.channels, "thread blocks that share the data, or auto")->capture_default_str();
  add("--threads", options.threads, "of a thread block, or auto")->capture_default_str();
  add("--chunk", options.chunk, "payload of a chunk, such as 128K, or auto")->capture_default_str();
  add("--buffsize", options.buffsize, "FIFO of one connection, such as 4M, or auto")->capture_default_str();
}

void add_ranks(CLI::App& command, MeasureOptions& options) {
  const Adder add{command, "The ranks"};
  add("-g,--ngpus", options.ranks,
      "ranks to start (default: as many as GPUs; a launcher's where there is one)");
  add("--ranks-as", options.ranks_as, "processes, or threads of one process")->capture_default_str();
  add("--devices", options.devices, "GPU of each rank by CUDA's index, such as 0,0,1 (default: in turn)");
  add("-T,--timeout", options.timeout, "seconds that a rank waits for another")->capture_default_str();
}

void add_timing(CLI::App& command, MeasureOptions& options) {
  const Adder add{command, "Timing"};
  add("-b,--minbytes,--begin", options.sweep.begin, "smallest size; K, M and G are powers of 1024")
      ->capture_default_str();
  add("-e,--maxbytes,--end", options.sweep.end, "largest size")->capture_default_str();
  CLI::Option* factor = add("-f,--stepfactor,--factor", options.sweep.factor, "growth from size to size");
  factor->capture_default_str();
  add("-i,--stepbytes,--increment", options.sweep.step, "step from size to size, instead of -f")
      ->excludes(factor);
  add("-n,--iters,--iterations", options.iterations, "calls in one graph, or in one timing of a stream")
      ->capture_default_str();
  add("-w,--warmup_iters,--warmup", options.warmup, "calls before, which are not timed")
      ->capture_default_str();
  add("-c,--check", options.checks, "how often each result is checked, all elements; 0: never")
      ->capture_default_str();
  add("-G,--graph", options.graph,
      "timed replays of the graph; 0: stream launches (default: up to 20, within a second)");
  add("--launch", options.launch, "graph or stream (default: graph)");
  add("--sessions", options.sessions, "how often all of it is repeated")->capture_default_str();
  add("--working-set", options.working_set, "bytes of a buffer that calls rotate over (default: as -e)");
  add("--offset", options.offset, "elements between an aligned address and the buffers")
      ->capture_default_str();
  add("--suite", options.suite, "micro-benchmarks for calibration besides: quick or full");
}

}  // namespace

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  add_timing(command, options);
  add_call(command, options);
  add_ranks(command, options);
  add_output_options(command, options.output);
  const Adder add{command, "Output"};
  add("-J,--json", options.json, "write everything as JSON to this file, too");
  add("--json-lines", options.json_lines, "write each row to this file as it comes, a JSON object a line");
  command.add_flag("--dry-run", options.dry_run, "print what would be measured")->group("Output");
}

OutputOptions json_output(const MeasureOptions& options) {
  return {"json", options.json, options.output.force};
}

OutputOptions json_lines_output(const MeasureOptions& options) {
  return {"json", options.json_lines, options.output.force};
}

Format checked_outputs(const MeasureOptions& options) {
  const Format format = checked_output(options.output);
  std::set<std::string> paths;
  for (const OutputOptions& output : {options.output, json_output(options), json_lines_output(options)}) {
    if (output.path.empty()) continue;
    if (output.path == "-") {
      if (output.path == options.output.path) continue;
      throw Error(ErrorKind::usage, "the standard output has the result", "-J -, --json-lines -",
                  "name a file, or take --format json");
    }
    checked_output(output);
    std::error_code unknown;
    const std::string place = std::filesystem::weakly_canonical(output.path, unknown).string();
    if (paths.insert(place.empty() ? output.path : place).second) continue;
    throw Error(ErrorKind::usage, "two documents go to `" + output.path + "`", "-o, -J, --json-lines",
                "take a name for each");
  }
  return format;
}

}  // namespace lanecast
