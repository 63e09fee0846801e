#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "configs/dumps/nccl_system_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/nccl_log.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"
#include "model/topology/gpu_ids.hpp"

// Source of the lines: NVIDIA/nccl src/init.cc (`ncclCommInitRankFunc`), NVIDIA/nccl-tests src/common.cu.

namespace lanecast {
namespace {

constexpr std::size_t kMostGpus = 1024;
constexpr std::size_t kLongestLine = 1 << 14;  // the rest of a longer one is passed over

/// What the log says of one GPU, by which three kinds of numbers.
struct LoggedGpu {
  std::optional<int> nvml;   // as nvidia-smi numbers it
  std::optional<int> cuda;   // as the process saw it
  std::optional<int> tests;  // nccl-tests' device
  std::string model;
  int line = 0;
  int tests_line = 0;
};

std::string_view behind(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + marker.size());
}

template <class T>
std::optional<T> number_behind(std::string_view text, std::string_view marker, int base = 10) {
  std::string_view rest = behind(text, marker);
  T value{};
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error != std::errc() || rest.empty()) return std::nullopt;
  const bool ends = stop != rest.data() + rest.size() && *stop == ' ';  // else it may be cut
  return ends ? std::optional(value) : std::nullopt;
}

/// "box" of "box:734:746 [0] ", the front of a line of NCCL's; launchers put more before it.
std::string host_of(std::string_view front) {
  front = trimmed(front);
  if (!front.empty() && front.back() == ']') front = trimmed(front.substr(0, front.rfind('[')));
  front.remove_prefix(front.find_last_of(' ') == std::string_view::npos ? 0 : front.find_last_of(' ') + 1);
  for (int part = 0; part < 2; ++part) {
    const std::size_t colon = front.rfind(':');
    if (colon == std::string_view::npos) return "";
    front = front.substr(0, colon);
  }
  const std::size_t colon = front.rfind(':');
  return std::string(colon == std::string_view::npos ? front : front.substr(colon + 1));
}

class LogReader {
 public:
  LogReader(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts), system_(file) {}

  /// @param whole  false: the text ends within it, and its last number may be a part of one
  void take_line(std::string_view line, int number, bool whole) {
    const std::size_t marker = line.find("NCCL INFO ");
    if (marker == std::string_view::npos) return take_tests_line(line, number);
    const std::string_view front = line.substr(0, marker);
    std::string_view message = line.substr(marker + 10);
    while (!message.empty() && (message.back() == '\r' || message.back() == ' ')) message.remove_suffix(1);
    if (message.find("NCCL INFO ") != std::string_view::npos) return;  // two lines in one
    if (!is_our_host(host_of(front), number)) return;
    if (message.find(" busId ") != std::string_view::npos && message.find(" rank ") != std::string_view::npos)
      take_init(message, number);
    take_peer_check(message, number);
    const bool closed = whole || message.substr(0, 4) == "GPU/";  // paths end in brackets
    if (closed) system_.take(front, message, number);
  }

  /// Adds what was gathered. @return  how many GPUs and other devices
  int finish() {
    place_bus_gpus();
    add_gpus();
    const int devices = system_.add_to(facts_);
    if (!other_hosts_.empty()) {
      facts_.notes.push_back(file_ + ": lines of " + std::to_string(other_hosts_.size()) +
                             " other computers are left out; the machine is `" +
                             printable(host_ ? *host_ : *tests_host_) + "`");
    }
    return devices + static_cast<int>(gpus_.size()) + numbered_;
  }

  /// GPUs by rank; nothing for a rank that the log does not place, or where the numbers do not tell GPUs
  /// apart.
  std::optional<std::vector<int>> gpus_of(const std::vector<int>& ranks) const {
    std::vector<int> indices;
    for (const int rank : ranks) {
      const auto address = address_of_rank_.find(rank);
      if (address == address_of_rank_.end()) return std::nullopt;
      const auto index = index_of_.find(address->second);
      if (index == index_of_.end()) return std::nullopt;
      indices.push_back(index->second);
    }
    return indices;
  }

  bool knows_ranks() const { return !address_of_rank_.empty(); }

 private:
  bool is_our_host(const std::string& host, int line) {
    if (host.empty()) return true;
    if (!host_) {
      host_ = host;
      facts_.host.add(printable(host), place(line, "line of NCCL's"));
    }
    if (*host_ == host) return true;
    if (other_hosts_.size() < 64) other_hosts_.insert(host);
    return false;
  }

  std::string place(int line, const std::string& what) const {
    return file_ + ":" + std::to_string(line) + " (" + what + ")";
  }

  /// "... comm 0x2 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0x1 - Init START"
  void take_init(std::string_view message, int line) {
    const auto id = number_behind<std::uint64_t>(message, " busId ", 16);
    const auto rank = number_behind<int>(message, " rank ");
    const auto address = id ? address_of_nccl_id(*id) : std::nullopt;
    if (!address || !rank || *rank < 0 || gpus_.size() >= kMostGpus) return;
    LoggedGpu& gpu = gpus_[*address];
    address_of_rank_.try_emplace(*rank, *address);
    if (gpu.line == 0) gpu.line = line;
    if (!gpu.nvml) gpu.nvml = number_behind<int>(message, " nvmlDev ");
    if (!gpu.cuda) gpu.cuda = number_behind<int>(message, " cudaDev ");
  }

  /// "Check P2P Type isAllDirectP2p 1 directMode 1", "Check P2P Type intraNodeP2pSupport 0 directMode 1".
  void take_peer_check(std::string_view message, int line) {
    if (message.substr(0, 15) != "Check P2P Type ") return;
    auto all = number_behind<int>(message, "isAllDirectP2p ");
    if (!all) all = number_behind<int>(message, "intraNodeP2pSupport ");
    if (all) facts_.nccl.all_peers.add(*all != 0, place(line, "Check P2P Type"));
  }

  /// "#  Rank  0 Group  0 Pid    734 on         vm device  0 [0000:00:06] NVIDIA H200"; older ones print the
  /// bus alone, "[0x21]".
  void take_tests_line(std::string_view line, int number) {
    const std::size_t hash = line.find('#');
    if (hash == std::string_view::npos || trimmed(line.substr(hash + 1)).substr(0, 5) != "Rank ") return;
    const std::string_view device = behind(line, " device ");
    const std::size_t open = device.find('[');
    const std::size_t close = device.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
    const std::string_view before = line.substr(0, line.find(" device "));
    const std::string host(trimmed(behind(before, " on ")));
    if (!tests_host_) tests_host_ = host;
    if (*tests_host_ != host) {
      if (other_hosts_.size() < 64 && host != host_.value_or("")) other_hosts_.insert(host);
      return;
    }
    const std::string_view where = device.substr(open + 1, close - open - 1);
    LoggedGpu gpu;
    const std::string_view digits = trimmed(device.substr(0, open));
    int index = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && stop == digits.data() + digits.size() && index >= 0) gpu.tests = index;
    gpu.model = printable(std::string(trimmed(device.substr(close + 1))));
    gpu.tests_line = number;
    if (where.substr(0, 2) == "0x") {
      if (bus_gpus_.size() < kMostGpus) bus_gpus_.emplace_back(std::string(where.substr(2)), std::move(gpu));
    } else if (const auto address =
                   pci_address(std::string(where) + (where.find('.') < where.size() ? "" : ".0"))) {
      add_tests_gpu(*address, gpu);
    }
  }

  void add_tests_gpu(const std::string& address, const LoggedGpu& from) {
    if (gpus_.size() >= kMostGpus && gpus_.count(address) == 0) return;
    LoggedGpu& gpu = gpus_[address];
    if (gpu.tests_line > 0) return;  // another size, another run
    gpu.tests = from.tests;
    gpu.model = from.model;
    gpu.tests_line = from.tests_line;
  }

  /// GPUs of which only the bus is known: those that another line places on that bus; else function 0 of it.
  /// Bus 0, as virtual machines have it, holds other devices too, and tells nothing.
  void place_bus_gpus() {
    for (const auto& [bus, gpu] : bus_gpus_) {
      const auto assumed = pci_address("0000:" + std::string(bus.size() == 1 ? "0" : "") + bus + ":00.0");
      if (!assumed) continue;
      std::vector<std::string> found;
      for (const auto& [address, known] : gpus_) {
        if (known.line > 0 && bus_of(address) == bus_of(*assumed)) found.push_back(address);
      }
      if (found.size() == 1) {
        add_tests_gpu(found.front(), gpu);
      } else if (found.empty() && bus_of(*assumed) != "0000:00") {
        add_tests_gpu(*assumed, gpu);
      } else if (gpu.tests && !gpu.model.empty()) {
        facts_.numbered_gpus[*gpu.tests].add(gpu.model, place(gpu.tests_line, "device"));
        ++numbered_;
      }
    }
  }

  /// Indices by the first kind of number that all GPUs have and that tells them apart: processes that see one
  /// GPU each call it 0.
  void choose_indices() {
    constexpr std::optional<int> LoggedGpu::*kKinds[] = {&LoggedGpu::nvml, &LoggedGpu::cuda,
                                                         &LoggedGpu::tests};
    for (const auto kind : kKinds) {
      std::map<std::string, int> chosen;
      std::set<int> used;
      for (const auto& [address, gpu] : gpus_) {
        const std::optional<int>& number = gpu.*kind;
        if (number && *number >= 0 && used.insert(*number).second) chosen[address] = *number;
      }
      if (chosen.size() != gpus_.size()) continue;
      index_of_ = std::move(chosen);
      return;
    }
  }

  void add_gpus() {
    choose_indices();
    if (index_of_.empty() && !gpus_.empty())
      facts_.notes.push_back(file_ + ": the log gives several GPUs the same number, so it numbers none");
    for (const auto& [address, gpu] : gpus_) {
      PciFacts& device = facts_.devices[address];
      const std::string from = gpu.line > 0 ? place(gpu.line, "busId") : place(gpu.tests_line, "device");
      const auto index = index_of_.find(address);
      if (index != index_of_.end()) device.gpu_index.add(index->second, from);
      if (!gpu.model.empty()) {
        device.gpu_model.add(gpu.model, place(gpu.tests_line, "device"));
        const auto id = pci_id_of_gpu(gpu.model);
        const auto known = id ? known_gpu(*id) : std::nullopt;
        if (known && known->sm > 0) device.sm.add(known->sm, place(gpu.tests_line, "device"));
      } else if (index == index_of_.end()) {
        device.class_code.add(0x030000, from);
      }
    }
  }

  const std::string& file_;
  MachineFacts& facts_;
  NcclSystemLines system_;
  std::optional<std::string> host_;
  std::optional<std::string> tests_host_;
  std::set<std::string> other_hosts_;
  std::map<std::string, LoggedGpu> gpus_;                    // by address
  std::vector<std::pair<std::string, LoggedGpu>> bus_gpus_;  // bus, "21"
  int numbered_ = 0;
  std::map<int, std::string> address_of_rank_;
  std::map<std::string, int> index_of_;
};

/// "p2p", "shm", "net" from "P2P/direct pointer", "SHM/direct/direct", "NET/Socket/0"; "" for others.
std::string transport_of(const std::string& via) {
  for (const auto& [begin, name] :
       {std::pair("P2P", "p2p"), std::pair("SHM", "shm"), std::pair("NET", "net")}) {
    if (via.compare(0, 3, begin) == 0) return name;
  }
  return "";
}

void add_decisions(const NcclLog& log, const LogReader& gpus, const std::string& file, MachineFacts& facts) {
  const auto place = [&](int line, const char* what) {
    return file + ":" + std::to_string(line) + " (" + what + ")";
  };
  NcclFacts& nccl = facts.nccl;
  if (log.version) {
    const std::string text = log.version->text.substr(0, log.version->text.find('+'));
    nccl.version.add((log.version->release.rccl ? "RCCL " : "") + text, place(log.version->line, "version"));
  }
  const int line = log.rings.empty() ? 0 : log.rings.front().line;
  if (log.coll_channels) nccl.channels.add(*log.coll_channels, file + " (coll channels)");
  if (!log.coll_channels && log.ring_channels) nccl.channels.add(*log.ring_channels, place(line, "Channel"));
  const bool one_node = log.nodes.value_or(1) == 1;
  if (!log.rings.empty() && log.rings.front().channel == 0 && one_node) {
    const std::vector<int>& order = log.rings.front().order;
    const auto indices = gpus.knows_ranks() ? gpus.gpus_of(order) : std::optional(order);
    if (indices)
      nccl.ring.add(*indices, place(line, gpus.knows_ranks() ? "Channel 00" : "Channel 00, ranks"));
  }
  std::string transport;
  int transport_line = 0;
  for (const NcclLogConnection& connection : log.connections) {
    const std::string one = transport_of(connection.via);
    if (one.empty()) continue;
    if (transport.empty()) transport_line = connection.line;
    transport = transport.empty() || transport == one ? one : "mixed";
  }
  if (!transport.empty()) nccl.transport.add(transport, place(transport_line, "via"));
  for (const NcclSetting& setting : log.settings)
    nccl.environment.try_emplace(setting.name, Statement<std::string>{setting.value, setting.origin});
  for (const NcclLogConflict& conflict : log.conflicts) {
    facts.notes.push_back(file + ": " + conflict.name + " is `" + printable(conflict.first_value) +
                          "` on line " + std::to_string(conflict.first_line) + " and `" +
                          printable(conflict.second_value) + "` on line " +
                          std::to_string(conflict.second_line) + "; the first was taken");
  }
  if (log.several_communicators)
    facts.notes.push_back(file +
                          ": the log holds several communicators; rings and channels are the first one's");
}

/// What NCCL says of its own decisions. A text holds no zero bytes; here they count as blanks.
std::optional<NcclLog> decisions_of(std::string_view text, const std::string& file) {
  if (text.find("NCCL INFO ") == std::string_view::npos) return std::nullopt;
  std::string clean(text);
  std::replace(clean.begin(), clean.end(), '\0', ' ');
  std::istringstream stream(std::move(clean));
  try {
    return read_nccl_log(stream, file);
  } catch (const Error&) {  // no line of NCCL's
    return std::nullopt;
  }
}

}  // namespace

int read_nccl_log_facts(std::string_view text, const std::string& file, MachineFacts& facts) {
  LogReader reader(file, facts);
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.take_line(text.substr(at, std::min(end - at, kLongestLine)), ++number, end < text.size());
    at = end + 1;
  }
  int items = reader.finish();
  if (const std::optional<NcclLog> log = decisions_of(text, file)) {
    add_decisions(*log, reader, file, facts);
    items += static_cast<int>(log->rings.size() + log->settings.size()) + (log->version ? 1 : 0);
  }
  return items;
}

}  // namespace lanecast
