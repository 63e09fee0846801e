#include "configs/measured/nccl_tests_run.hpp"

#include <algorithm>
#include <charconv>

#include "configs/measured/cell_values.hpp"
#include "configs/measured/launcher_prefix.hpp"
#include "configs/measured/nccl_settings.hpp"
#include "configs/quantity.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostRanks = 65536;

bool holds(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value)
                                                                                : std::nullopt;
}

/// What stands behind a label: "maxBytes 1024", "iters: 20".
std::optional<std::string_view> behind(std::string_view line, std::string_view label) {
  for (std::size_t at = line.find(label); at != std::string_view::npos; at = line.find(label, at + 1)) {
    if (at > 0 && line[at - 1] != ' ' && line[at - 1] != '#') continue;
    const std::vector<std::string_view> words = words_of(line.substr(at + label.size()).substr(0, 64));
    if (words.empty()) return std::nullopt;
    return words.front();
  }
  return std::nullopt;
}

std::optional<int> number_behind(std::string_view line, std::string_view label) {
  const auto word = behind(line, label);
  return word ? whole(*word) : std::nullopt;
}

/// "all_reduce" of "./build/all_reduce_perf"; "" for a word that names no test.
std::string test_of(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  const std::size_t end = word.find("_perf");
  const std::string_view rest = end == std::string_view::npos ? "" : word.substr(end + 5);
  if (end == std::string_view::npos || end == 0 || end > 32 || !(rest.empty() || rest == "_mpi")) return "";
  return std::string(word.substr(0, end));
}

}  // namespace

bool NcclTestsRun::begins_another(std::string_view line, bool has_rows) const {
  if (holds(line, "Collective test concluded")) return false;
  if (holds(line, "nThread ") && holds(line, "minBytes ")) return has_rows || head_;
  if (holds(line, "nccl-tests version")) return has_rows || head_ || version_;
  if (!has_rows || !holds(line, "_perf")) return false;
  NcclTestsRun probe("", 0);
  return holds(line, "Collective test starting") || probe.take_command(line);
}

bool NcclTestsRun::take(std::string_view line) {
  if (holds(line, "nccl-tests version")) {
    version_ = true;
    const std::size_t library = line.find("nccl-library=");
    if (library != std::string_view::npos) {
      const std::string_view code = line.substr(library + 13, 6);
      set_library(whole(code.substr(0, code.find_first_not_of("0123456789"))).value_or(0));
    }
    return true;
  }
  if (const std::size_t at = line.find("Collective test starting: "); at != std::string_view::npos) {
    set_test(test_of(trimmed(line.substr(at + 26))));
    return true;
  }
  if (holds(line, "Collective test concluded")) return true;
  return take_head(line) || take_rank(line) || take_command(line);
}

void NcclTestsRun::set_library(int code) {
  if (code >= 20000) minor_ = code / 100 % 100;                // 22809
  if (code >= 2000 && code < 10000) minor_ = code / 100 % 10;  // 2708
}

void NcclTestsRun::set_test(const std::string& name) {
  if (!name.empty()) test_ = name;
}

void NcclTestsRun::set_sizes(Bytes max_bytes, int iterations, std::optional<int> graph) {
  head_ = true;
  max_bytes_ = max_bytes;
  iterations_ = iterations;
  graph_ = graph.value_or(0);
}

void NcclTestsRun::add_rank(int rank, NcclTestsRank listed) {
  if (ranks_.size() < kMostRanks) ranks_.try_emplace(rank, std::move(listed));
}

bool NcclTestsRun::take_head(std::string_view line) {
  if (!holds(line, "nThread ") || !holds(line, "minBytes ")) return false;
  head_ = true;
  const auto threads = number_behind(line, "nThread"), gpus = number_behind(line, "nGpus");
  if (threads && gpus && *threads > 0 && *threads < 1024 && *gpus > 0 && *gpus < 1024) {
    own_ranks_ = *threads * *gpus;
  }
  if (const auto text = behind(line, "maxBytes")) {
    if (const Reading<Bytes> most = parse_size(std::string(*text))) max_bytes_ = most.value;
  }
  if (const auto step = behind(line, "step:"); step && holds(*step, "(factor)")) {
    if (const auto factor = whole(step->substr(0, step->find('('))); factor && *factor > 1) factor_ = *factor;
  }
  // "warmup iters: 5 iters: 20 agg iters: 1"
  for (std::size_t at = line.find(" iters:"); at != std::string_view::npos;
       at = line.find(" iters:", at + 1)) {
    const std::string_view word =
        words_of(line.substr(at + 7, 64)).empty() ? "" : words_of(line.substr(at + 7, 64))[0];
    const std::string_view before = trimmed(line.substr(0, at));
    const bool warmup = before.size() >= 6 && before.substr(before.size() - 6) == "warmup";
    const bool agg = before.size() >= 3 && before.substr(before.size() - 3) == "agg";
    if (agg) together_ = whole(word).value_or(1);
    if (!warmup && !agg) iterations_ = whole(word);
  }
  graph_ = number_behind(line, "graph:").value_or(0);  // releases that don't say it had no graphs
  return true;
}

bool NcclTestsRun::take_rank(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t first = !words.empty() && words[0] == "#" ? 1 : 0;
  if (words.size() < first + 7 || words[first] != "Rank") return false;
  const auto rank = whole(words[first + 1]);
  const auto device = std::find(words.begin(), words.end(), "device");
  if (!rank || device == words.end() || device + 1 == words.end()) return false;
  NcclTestsRank listed;
  listed.device = whole(*(device + 1)).value_or(0);
  listed.host = std::string(*(device - 1));
  const std::size_t open = line.find('['), close = line.find(']');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    listed.bus_id = std::string(line.substr(open + 1, close - open - 1));
    listed.model = printable(std::string(trimmed(line.substr(close + 1))));
  }
  add_rank(*rank, std::move(listed));
  return true;
}

void NcclTestsRun::take_option(std::string_view flag, std::string_view value) {
  const Reading<Bytes> size = parse_size(std::string(value));
  if ((flag == "-e" || flag == "--maxbytes") && size && !max_bytes_) max_bytes_ = size.value;
  const auto number = whole(value);
  if (!number || *number <= 0) return;
  if ((flag == "-n" || flag == "--iters") && !iterations_) iterations_ = *number;
  if ((flag == "-G" || flag == "--cudagraph") && !graph_) graph_ = *number;
  if ((flag == "-g" || flag == "--ngpus") && !own_ranks_ && *number < 1024) own_ranks_ = *number;
}

bool NcclTestsRun::take_command(std::string_view line) {
  if (!holds(line, "_perf")) return false;
  const std::vector<std::string_view> words = words_of(line);
  const auto command =
      std::find_if(words.begin(), words.end(), [](auto word) { return !test_of(word).empty(); });
  if (command == words.end()) return false;
  set_test(test_of(*command));
  command_ = true;
  for (auto word = words.begin(); word != command; ++word) {
    const std::size_t equals = word->find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(word->substr(0, equals)), value(word->substr(equals + 1));
    if (name.substr(0, 5) == "NCCL_") set_variable(name, value);
    if (name != "CUDA_VISIBLE_DEVICES") continue;
    visible_.clear();
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const auto index = whole(rest.substr(0, comma))) visible_.push_back(*index);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  for (auto word = command + 1; word != words.end() && word + 1 != words.end(); ++word) {
    take_option(*word, *(word + 1));
  }
  return true;
}

bool NcclTestsRun::on_several_hosts() const {
  std::set<std::string> hosts;
  for (const auto& [rank, listed] : ranks_) hosts.insert(listed.host);
  return hosts.size() > 1;
}

void NcclTestsRun::put_ranks(MeasuredCall& measured, const NcclLog& log) {
  measured.ranks = static_cast<int>(ranks_.size());
  if (measured.ranks == 0) measured.ranks = log.ranks.value_or(own_ranks_.value_or(0));
  std::set<std::pair<std::string, int>> devices;
  std::vector<int> order;
  for (const auto& [rank, listed] : ranks_) {
    devices.insert({listed.host, listed.device});
    const auto at = static_cast<std::size_t>(listed.device);
    order.push_back(at < visible_.size() ? visible_[at] : listed.device);
  }
  if (ranks_.empty() && visible_.size() == static_cast<std::size_t>(measured.ranks)) order = visible_;
  measured.shared_gpu = devices.size() < ranks_.size();
  if (!measured.shared_gpu && !on_several_hosts()) measured.call.ranks = order;
}

void NcclTestsRun::put_transport(MeasuredCall& measured, const NcclLog& log, MeasuredReading& reading) {
  if (log.connections.empty() || log.several_communicators) return;
  const auto all = [&](std::string_view prefix) {
    return std::all_of(log.connections.begin(), log.connections.end(),
                       [&](const NcclLogConnection& connection) {
                         return std::string_view(connection.via).substr(0, prefix.size()) == prefix;
                       });
  };
  if (all("P2P")) measured.call.transport = Transport::p2p;
  if (all("SHM")) measured.call.transport = Transport::shm;
  for (const NcclLogConnection& connection : log.connections) {
    if (connection.via.substr(0, 3) != "NET") continue;
    reading.note("some ranks talk through the network", connection.line);
    return;
  }
}

MeasuredCall NcclTestsRun::call(MeasuredReading& reading) && {
  const NcclLog log = std::move(log_).finish();
  MeasuredCall measured;
  if (!minor_ && log.version && !log.version->release.rccl) minor_ = log.version->release.minor;
  const bool rccl = log.version && log.version->release.rccl;
  measured.implementation = rccl ? "rccl" : minor_ ? nccl_implementation(*minor_, reading, line_) : "nccl";
  measured.environment = typed_;
  for (const NcclSetting& setting : log.settings) measured.environment[setting.name] = setting.value;
  for (const NcclLogConflict& conflict : log.conflicts) {
    reading.note("`" + conflict.name + "` is " + printable(conflict.first_value) + " and " +
                     printable(conflict.second_value) + "; the first is taken",
                 conflict.second_line);
  }
  put_ranks(measured, log);
  put_transport(measured, log, reading);
  measured.call.launch = graph_.value_or(0) > 0 ? Launch::graph : Launch::stream;
  measured.stated.launch = graph_.has_value();
  if (iterations_ && *iterations_ > 0) {
    measured.call.iterations = *iterations_;
    measured.stated.iterations = true;
  }
  if (const auto collective = collective_from_string(test_)) {
    measured.call.collective = *collective;
    measured.stated.collective = true;
  }
  settle_environment(measured);
  if (together_ > 1) {
    reading.note(std::to_string(together_) + " operations in one group (-m), which is not modelled", line_);
  }
  for (const auto& [rank, listed] : ranks_) {
    if (!listed.model.empty()) reading.data.gpu_models.push_back(listed.model);
  }
  return measured;
}

}  // namespace lanecast
