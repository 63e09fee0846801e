#include "cli/nccl_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "cli/output.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/topology/routes.hpp"
#include "reports/nccl_topology.hpp"
#include "reports/prediction_report.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlag = "--nccl-dir";
constexpr Bytes kNoEnd{std::numeric_limits<std::uint64_t>::max()};

std::vector<std::string> file_names() {
  return {nccl_environment_file, nccl_tuner_file, nccl_graph_file, nccl_topology_file};
}

std::string path_of(const NcclFolder& folder, const std::string& name) {
  return (fs::path(folder.path) / name).string();
}

bool runs_alike(const Prediction& a, const Prediction& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels &&
         a.stands_in_for == b.stands_in_for;
}

/// Where a row ends and the next begins.
Bytes boundary(const Prediction& below, const Prediction& above, const std::vector<Crossover>& crossovers) {
  for (const Crossover& crossover : crossovers) {
    if (crossover.size > below.call.size && crossover.size <= above.call.size) return crossover.size;
  }
  return Bytes(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(below.call.size.value()) *
                                                    static_cast<double>(above.call.size.value()))));
}

NcclTunerRow row_of(const Prediction& way, const CommunicatorSetup& communicator) {
  NcclTunerRow row;
  row.collective = way.call.collective;
  row.algorithm = way.algorithm;
  row.protocol = way.protocol;
  row.channels = way.channels;
  row.nodes = 1;
  row.ranks = static_cast<int>(communicator.ranks.size());
  if (!way.stands_in_for.empty()) {  // NCCL's own choice stays
    row.algorithm = Algorithm::nvls;
    row.protocol = Protocol::simple;
    row.channels = communicator.nccl->nvls.channels;
  }
  return row;
}

/// Sizes that rows are sought for beside those asked: a tuner is asked with any size.
std::vector<Bytes> usual_sizes() {
  std::vector<Bytes> sizes;
  for (std::uint64_t size = 1U << 10; size <= (1U << 30); size *= 4) sizes.emplace_back(size);
  return sizes;
}

/// Calls of a collective, like those of another: of their sizes and of the usual ones.
std::vector<Call> calls_of(Collective collective, const std::vector<Call>& like, std::size_t ranks) {
  const bool blocks = collective == Collective::all_gather || collective == Collective::reduce_scatter;
  const std::uint64_t grain =
      static_cast<std::uint64_t>(element_bytes(like.front().datatype)) * (blocks ? ranks : 1);
  std::vector<Bytes> sizes = usual_sizes();
  for (const Call& call : like) sizes.push_back(call.size);
  std::sort(sizes.begin(), sizes.end());
  std::vector<Call> calls;
  for (const Bytes size : rounded_sizes(sizes, grain)) {
    calls.push_back(like.front());
    calls.back().collective = collective;
    calls.back().size = size;
    if (!has_reduction(collective)) calls.back().op = ReduceOp::sum;
  }
  return calls;
}

/// Rows of a collective; what was found for it already is taken over.
std::vector<NcclTunerRow> rows_of(Collective collective, const Situation& situation, const Tuning& tuning,
                                  const PredictorOf& predictor_of) {
  const Implementation& implementation = tuning.nccl->implementation;
  const std::vector<Call> calls = calls_of(collective, tuning.nccl->calls, situation.ranks.size());
  const Predictor predict = predictor_of(implementation);
  WayQuestion question{situation.machine, situation.profile(), implementation, predict, {}};
  question.lists.channels = {1, 2, 4, 8, 16, 32};
  const CommunicatorSetup communicator = open_communicator(situation.machine, implementation, calls.front());
  const int most = std::max(communicator.channels(), most_channels(tuning.best));  // as NCCL then sets up
  std::erase_if(question.lists.channels, [&](int count) { return count > most; });
  std::vector<Prediction> best = best_ways(question, calls, predict(situation.machine, calls));
  for (Prediction& way : best) {
    for (const Prediction& found : tuning.best) {
      if (found.call.collective == collective && found.call.size == way.call.size) way = found;
    }
  }
  return tuner_rows(best, crossovers(question, calls, best), communicator);
}

std::vector<NcclTunerRow> all_rows(const Situation& situation, const Tuning& tuning,
                                   const PredictorOf& predictor_of) {
  std::vector<NcclTunerRow> rows;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::reduce}) {
    const std::vector<NcclTunerRow> some = rows_of(collective, situation, tuning, predictor_of);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  const std::vector<NcclTunerRow> exact = rows;
  for (NcclTunerRow row : exact) {  // the same for communicators of other ranks, which no row would fit
    row.nodes = row.ranks = -1;
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> comments(const Situation& situation, const Session& session) {
  return {"written by " + session.command_line(), "for machine " + printable(situation.machine.name) +
                                                      ", predicted with profile " + situation.profile().name +
                                                      " for " + situation.implementation.name()};
}

std::string tuner_text(const std::vector<NcclTunerRow>& rows, const Situation& situation,
                       const Session& session) {
  std::vector<std::string> lines = comments(situation, session);
  lines.emplace_back(
      "NCCL reads this through its example tuner plugin: NCCL_TUNER_PLUGIN=libnccl-tuner-example.so");
  lines.emplace_back(
      "every row names its channels: the plugin takes -1, or no row that fits, for one channel");
  return nccl_tuner_csv(rows, lines);
}

/// Orders of the rings that were found, else NCCL's own. Where NCCL's search ends in its fallback, which
/// counts 0.1 GB/s, what the links allow is stated instead (facts.md A10: that alone halved small calls on
/// one machine).
std::string graph_text(const Situation& situation, const Tuning& tuning) {
  const NcclTuning& nccl = *tuning.nccl;
  NcclSetup setup = *open_communicator(situation.machine, nccl.implementation, situation.calls.front()).nccl;
  const bool ours = tuning.order_gains || setup.ring.fallback;
  std::vector<std::vector<int>> orders;
  for (int c = 0; c < setup.ring.channels; ++c)
    orders.push_back(ours ? tuning.orders.best.order : setup.ring.orders[static_cast<std::size_t>(c)]);
  for (NcclGraph* graph : {&setup.ring, &setup.tree}) {
    if (!graph->fallback) continue;
    graph->fallback = false;
    graph->channels = static_cast<int>(orders.size());
    graph->speed_intra = std::floor(in_GBps(tuning.orders.best.busbw) / static_cast<double>(orders.size()));
    graph->type_intra = PathType::phb;
  }
  return nccl_graph_xml(setup, orders, present_gpus(situation.machine));
}

std::string environment_text(const NcclFolder& folder, const Situation& situation, const Tuning& tuning,
                             const std::vector<std::string>& remarks, const Session& session) {
  std::vector<NcclEnvironmentLine> lines;
  for (const NcclAdvice& advice : tuning.nccl->variables)
    lines.push_back({advice.name, advice.value, advice.reason, true});
  for (const NcclAdvice& advice : tuning.files) {
    if (advice.value == nccl_tuner_file) {
      lines.push_back(
          {"NCCL_TUNER_PLUGIN", "libnccl-tuner-example.so",
           "NCCL's example tuner plugin, built from plugins/tuner/example of its repository; without it "
           "the table below does nothing",
           advice.gains});
    }
    std::error_code unknown;
    const std::string path = fs::absolute(path_of(folder, advice.value), unknown).string();
    lines.push_back({advice.name, path, advice.reason, advice.gains});
  }
  std::vector<std::string> head = comments(situation, session);
  head.emplace_back("lines that are commented out are predicted to gain nothing on top of the others");
  head.emplace_back(
      "the graph file is for communicators of exactly the GPUs that took part: NCCL fails where another "
      "meets it");
  for (const std::string& remark : remarks) head.push_back(std::string(nccl_topology_file) + ": " + remark);
  return nccl_environment_text(lines, head);
}

}  // namespace

void check_folder(const NcclFolder& folder) {
  if (folder.path.empty()) return;
  const std::string where = std::string(kFlag) + " " + printable(folder.path);
  if (printable(folder.path) != folder.path) {
    throw Error(ErrorKind::usage, "the name of the folder holds characters that a shell's file cannot", where,
                "take a name without control characters");
  }
  std::error_code failed;
  fs::create_directory(folder.path, failed);
  if (!fs::is_directory(folder.path, failed)) {
    throw Error(ErrorKind::usage, "`" + printable(folder.path) + "` is no folder, and none can be made there",
                where, "name a folder in one that is there");
  }
  for (const std::string& name : file_names()) {
    if (folder.force || !fs::exists(path_of(folder, name), failed)) continue;
    throw Error(ErrorKind::usage, "`" + printable(path_of(folder, name)) + "` exists already", where,
                "take another folder, or add --force");
  }
}

std::vector<NcclTunerRow> tuner_rows(const std::vector<Prediction>& best,
                                     const std::vector<Crossover>& crossovers,
                                     const CommunicatorSetup& communicator) {
  std::vector<NcclTunerRow> rows;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i > 0 && runs_alike(best[i - 1], best[i])) continue;
    NcclTunerRow row = row_of(best[i], communicator);
    if (i > 0) {
      row.from = boundary(best[i - 1], best[i], crossovers);
      rows.back().to = Bytes(row.from.value() - 1);
    }
    row.to = kNoEnd;
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> write_nccl_files(const NcclFolder& folder, const Situation& situation,
                                          const Tuning& tuning, const PredictorOf& predictor_of,
                                          const Session& session) {
  const NcclTopologyFile topology = nccl_topology_xml(situation.machine);
  for (const std::string& warning : topology.warnings)
    session.note(std::string(nccl_topology_file) + ": " + warning);
  const std::vector<std::pair<std::string, std::string>> texts{
      {nccl_environment_file, environment_text(folder, situation, tuning, topology.warnings, session)},
      {nccl_tuner_file, tuner_text(all_rows(situation, tuning, predictor_of), situation, session)},
      {nccl_graph_file, graph_text(situation, tuning)},
      {nccl_topology_file, topology.xml}};
  std::vector<std::string> written;
  for (const auto& [name, text] : texts) {
    OutputOptions output;
    output.path = path_of(folder, name);
    output.force = folder.force;
    write_output(output, text);
    written.push_back(output.path);
  }
  return written;
}

}  // namespace lanecast
