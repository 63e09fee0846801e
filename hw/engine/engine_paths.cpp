#include "hw/engine/engine_paths.hpp"

#include <algorithm>
#include <utility>

#include "hw/engine/fail_together.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr std::size_t kTestWords = kTestBytes / sizeof(std::uint64_t);

std::uint64_t seed_of(int from, int to) {
  return static_cast<std::uint64_t>(from) << 32 | static_cast<unsigned>(to);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A block of this rank's memory that all others try to write into, and theirs.
class Probe {
 public:
  Probe(Exchange& exchange, EngineDevice& device, const std::vector<RankDevice>& ranks)
      : exchange_(exchange), device_(device), ranks_(ranks), opened_(ranks.size()), refusals_(ranks.size()) {}

  ~Probe() {
    close_all();
    device_.free(own_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Why this rank reaches another's memory or not, by rank; empty: it does.
  std::vector<std::string> run() {
    together(exchange_, "test the memory paths", [&] {
      own_ = device_.allocate(Bytes(kTestBytes * ranks_.size()), "the test of the memory paths");
    });
    const std::vector<std::string> handles = exchange_.all_gather(exported(), "memory handles");
    open(handles, exchange_.all_gather(own_problem_, "problems with memory handles"));
    together(exchange_, "write the test patterns", [&] {
      for (int to = 0; to < size(); ++to) {
        if (refusals_[at(to)].empty() && to != rank())
          device_.store_words(opened_[at(to)] + kTestBytes * at(rank()), seed_of(rank(), to), kTestWords);
      }
    });
    read_back();
    close();
    return refusals_;
  }

 private:
  int rank() const { return exchange_.rank(); }
  int size() const { return static_cast<int>(ranks_.size()); }

  std::string exported() {
    try {
      return device_.export_memory(own_);
    } catch (const Error& error) {
      own_problem_ = first_line(error.what());
      return "";
    }
  }

  void open(const std::vector<std::string>& handles, const std::vector<std::string>& problems) {
    for (int to = 0; to < size(); ++to) {
      if (to == rank()) continue;
      std::string& refusal = refusals_[at(to)];
      refusal = device_.refuses_peer(ranks_[at(to)]).value_or("");
      if (handles[at(to)].empty() && refusal.empty())
        refusal = "rank " + std::to_string(to) + ": " + problems[at(to)];
      if (!refusal.empty()) continue;
      try {
        opened_[at(to)] = device_.open_memory(handles[at(to)]);
      } catch (const Error& error) {
        refusal = first_line(error.what());
      }
    }
  }

  /// Everyone looks at what the others wrote, and tells them.
  void read_back() {
    std::string seen;
    for (int from = 0; from < size(); ++from) {
      const bool good = from == rank() ||
                        device_.words_are(own_ + kTestBytes * at(from), seed_of(from, rank()), kTestWords);
      seen += good ? '1' : '0';
    }
    const std::vector<std::string> all = exchange_.all_gather(seen, "the results of the test patterns");
    for (int to = 0; to < size(); ++to) {
      if (to != rank() && refusals_[at(to)].empty() && all[at(to)].at(at(rank())) != '1')
        refusals_[at(to)] = "peer access is granted, but the data arrive wrong";
    }
  }

  void close() {
    close_all();
    exchange_.all_gather("", "the end of the memory test");  // importers close first: facts.md E1
  }
  void close_all() {
    for (std::byte*& memory : opened_) {
      if (memory != nullptr) device_.close_memory(std::exchange(memory, nullptr));
    }
  }

  Exchange& exchange_;
  EngineDevice& device_;
  const std::vector<RankDevice>& ranks_;
  std::byte* own_ = nullptr;
  std::string own_problem_;
  std::vector<std::byte*> opened_;
  std::vector<std::string> refusals_;
};

/// One line a rank: its refusals, separated by a character that no message has.
constexpr char kSeparator = '\x1f';

std::string joined(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += text + kSeparator;
  return line;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = line.find(kSeparator, begin);
    texts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

std::string pair_text(const std::vector<RankDevice>& ranks, int from, int to) {
  return "rank " + std::to_string(from) + " (" + ranks[at(from)].bus_id + ") to rank " + std::to_string(to) +
         " (" + ranks[at(to)].bus_id + ")";
}

}  // namespace

std::string EnginePath::name() const {
  if (transport == Transport::shm) return "host memory";
  if (same_gpu) return "memory of the same GPU";
  return nvlink ? "peer memory over NVLink" : "peer memory over PCIe";
}

EnginePaths find_paths(Exchange& exchange, EngineDevice& device, const std::vector<RankDevice>& ranks,
                       std::optional<Transport> forced) {
  std::vector<std::string> refusals(ranks.size(), "host memory was asked for");
  if (forced != Transport::shm) refusals = Probe(exchange, device, ranks).run();
  std::string nvlinks;
  for (const RankDevice& peer : ranks) nvlinks += device.joined_by_nvlink(peer) ? '1' : '0';
  const std::vector<std::string> all = exchange.all_gather(joined(refusals), "the memory paths");
  const std::vector<std::string> all_nvlinks = exchange.all_gather(nvlinks, "NVLinks");

  EnginePaths paths(ranks.size(), std::vector<EnginePath>(ranks.size()));
  std::vector<std::vector<std::string>> reasons;
  for (const std::string& line : all) reasons.push_back(split(line));
  for (int from = 0; from < static_cast<int>(ranks.size()); ++from) {
    for (int to = 0; to < static_cast<int>(ranks.size()); ++to) {
      if (from == to) continue;
      EnginePath& path = paths[at(from)][at(to)];
      path.same_gpu = ranks[at(from)].bus_id == ranks[at(to)].bus_id;
      path.reason = reasons[at(from)].at(at(to));
      if (path.reason.empty()) path.reason = reasons[at(to)].at(at(from));
      path.transport = path.reason.empty() ? Transport::p2p : Transport::shm;
      path.nvlink = path.transport == Transport::p2p && all_nvlinks[at(from)].at(at(to)) == '1' &&
                    all_nvlinks[at(to)].at(at(from)) == '1';
      if (forced == Transport::p2p && path.transport != Transport::p2p) {
        throw Error(ErrorKind::runtime,
                    "no peer memory from " + pair_text(ranks, from, to) + ": " + path.reason, "transport p2p",
                    "take `--transport auto` or `shm`, or see what `lanecast doctor` says of this pair");
      }
    }
  }
  return paths;
}

Machine engine_machine(const std::vector<RankDevice>& ranks, const EnginePaths& paths) {
  Machine machine;
  machine.name = "this job";
  Cpu cpu;
  cpu.name = "cpu0";
  cpu.vendor = "unknown";
  machine.cpus.push_back(cpu);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string number = std::to_string(rank);
    RootComplex root;
    root.name = "root" + number;
    machine.roots.push_back(root);
    Gpu gpu;
    gpu.name = "gpu" + number;
    gpu.model = ranks[rank].name;
    gpu.sm = ranks[rank].sm;
    gpu.p2p = true;
    machine.gpus.push_back(gpu);
    Link link;
    link.name = gpu.name;
    link.from = {NodeKind::root, static_cast<int>(rank)};
    link.to = {NodeKind::gpu, static_cast<int>(rank)};
    machine.links.push_back(link);
    for (std::size_t other = 0; other < rank; ++other) {
      if (!paths[rank][other].nvlink) continue;
      Link nvlink;
      nvlink.name = "nvlink" + std::to_string(other) + "-" + number;
      nvlink.kind = LinkKind::nvlink;
      nvlink.from = {NodeKind::gpu, static_cast<int>(other)};
      nvlink.to = {NodeKind::gpu, static_cast<int>(rank)};
      nvlink.lane_rate = BytesPerSecond(25e9);
      machine.links.push_back(nvlink);
    }
  }
  machine.p2p.level = Distance::sys;
  return machine;
}

}  // namespace lanecast
