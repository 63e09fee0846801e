#include "hw/engine/communicator_parts.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "hw/engine/copy_call.hpp"
#include "hw/engine/fail_together.hpp"
#include "hw/rendezvous/deadline.hpp"
#include "model/error.hpp"
#include "model/implementation/communicator.hpp"
#include "model/implementation/engine_defaults.hpp"
#include "model/protocol/protocol.hpp"

namespace lanecast {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr Datatype kDatatypes[] = {Datatype::float32, Datatype::float16, Datatype::bfloat16,
                                   Datatype::float64, Datatype::int32,   Datatype::int64,
                                   Datatype::uint8};
constexpr int kCopyChannels = 4;
constexpr int kCopySlots = 2;
constexpr std::uint64_t kCopySlotBytes = std::uint64_t{8} << 20;

std::string digest(const EngineOptions& options) {
  std::string text = options.transport ? to_string(*options.transport) : "auto";
  text += " channels " + (options.channels ? std::to_string(*options.channels) : std::string("auto"));
  for (const std::optional<Bytes>& buffsize : options.ring_buffsize)
    text += " buffsize " + (buffsize ? std::to_string(buffsize->value()) : std::string("auto"));
  text += options.exchanges ? " exchanges" : "";
  text += " timeout " + std::to_string(options.timeout.count()) + " ms first_step " +
          std::to_string(options.first_step);
  return text;
}

void check_options(const EngineOptions& options, int ranks) {
  const auto refuse = [](const std::string& what, const std::string& where, const std::string& mend) {
    throw Error(ErrorKind::usage, what, where, mend);
  };
  if (ranks > kMostEngineRanks)
    refuse(std::to_string(ranks) + " ranks", "ranks",
           "the engine takes at most " + std::to_string(kMostEngineRanks));
  if (options.channels && (*options.channels < 1 || *options.channels > kMostEngineChannels))
    refuse(std::to_string(*options.channels) + " channels", "channels",
           "take 1 to " + std::to_string(kMostEngineChannels));
  if (options.timeout.count() < 1 || options.timeout.count() > 600'000)
    refuse("a time-out of " + std::to_string(options.timeout.count()) + " ms", "timeout",
           "take 1 ms to 10 minutes");
  for (const std::optional<Bytes>& buffsize : options.ring_buffsize) {
    if (buffsize && (buffsize->value() < (32u << 10) || buffsize->value() > (1u << 30)))
      refuse("a connection's buffer of " + std::to_string(buffsize->value()) + " B", "buffsize",
             "take 32 KiB to 1 GiB");
  }
}

}  // namespace

void agree_about(Exchange& exchange, const EngineOptions& options) {
  together(exchange, "check the options", [&] { check_options(options, exchange.ranks()); });
  const std::vector<std::string> all = exchange.all_gather(digest(options), "the options");
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw Error(ErrorKind::usage,
                "ranks disagree about the options: rank 0 has `" + all[0] + "`, rank " +
                    std::to_string(rank) + " `" + all[rank] + "`",
                "opening the communicator", "give all ranks the same options");
  }
}

Communicator::Impl::Impl(std::unique_ptr<Exchange> joined, EngineDevice& own_device,
                         const EngineOptions& wanted)
    : exchange(std::move(joined)), device(own_device), options(wanted) {
  try {
    agree_about(*exchange, options);
    exchange_devices();
    paths = find_paths(*exchange, device, devices, options.transport);
    board = std::make_unique<StatusBoard>(*exchange);
    map_status_page();
    choose_layout();
    watch = std::make_unique<Watch>(
        *exchange, *board, [this](int from, int to) { return paths[at(from)][at(to)].name(); },
        options.timeout);
    if (engines != nullptr) proxy = std::make_unique<CopyProxy>(device, *engines, *mailboxes, *watch);
    exchange->all_gather("", "the end of the set-up");
  } catch (const std::exception& error) {
    exchange->give_up(error.what());
    proxy.reset();
    engines.reset();
    watch.reset();
    planner.reset();
    mailboxes.reset();
    if (page_seen != nullptr) device.unmap_host(reinterpret_cast<std::byte*>(&board->own()));
    throw;
  }
}

/// In order: nobody's kernels run, nobody has another's memory open, memory is freed. After a failure too: a
/// kernel that is told late to give up would write into memory that is gone.
/// Where a rank is late and nobody knows why, a kernel of it may still be to come: what it writes into is
/// never freed. (Where something is known to be wrong, its kernels give up, and its calls are refused.)
Communicator::Impl::~Impl() {
  const bool known = watch->problem().has_value();
  device.drain();
  if (proxy != nullptr) proxy->settle(options.timeout);
  proxy.reset();
  engines.reset();
  const bool quiet = end_together(EndStage::calls_ended);
  mailboxes->close();
  const bool closed = end_together(EndStage::memory_closed);
  exchange->leave();
  watch.reset();
  planner.reset();
  if (!known && !(quiet && closed)) static_cast<void>(mailboxes.release());
  mailboxes.reset();
  for (std::byte* memory : recordings) device.free(memory);
  if (page_seen != nullptr) device.unmap_host(reinterpret_cast<std::byte*>(&board->own()));
}

/// Says that this rank is at the stage, and waits until all are that have not ended: at most the time-out,
/// and so long again after telling them to give up.
/// @return  whether they came
bool Communicator::Impl::end_together(EndStage stage) noexcept {
  board->own().stage.store(stage, std::memory_order_release);
  if (all_reach(stage)) return true;
  const std::string own = "rank " + std::to_string(board->rank());
  try {
    watch->report(own + " has closed its communicator, and waited for the others to do so\n  at " + own +
                  "\n  mend: let all ranks make the same calls, then close");
  } catch (const std::exception&) {
    board->abort_all();
  }
  return all_reach(stage);
}

bool Communicator::Impl::all_reach(EndStage stage) noexcept {
  const Deadline deadline(options.timeout);
  for (int rank = 0; rank < board->ranks(); ++rank) {
    while (board->page(rank).stage.load(std::memory_order_acquire) < stage) {
      const std::optional<LostRank> lost = exchange->lost();
      if (lost && lost->rank == rank) break;
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return true;
}

void Communicator::Impl::check() const {
  const std::optional<std::string> problem = watch->problem();
  if (!problem) return;
  if (proxy != nullptr) proxy->settle(options.timeout);
  throw Error(ErrorKind::runtime, *problem);
}

void Communicator::Impl::refuse_closed() const {
  const std::uint64_t call = board->own().calls.load(std::memory_order_relaxed) + 1;
  for (int rank = 0; rank < board->ranks(); ++rank) {
    const StatusPage& page = board->page(rank);
    if (page.stage.load(std::memory_order_acquire) == EndStage::open) continue;
    if (page.calls.load(std::memory_order_acquire) >= call) continue;  // it has done its part of this one
    throw Error(ErrorKind::runtime, "rank " + std::to_string(rank) + " has closed its communicator",
                "rank " + std::to_string(board->rank()), "let all ranks make the same calls, then close");
  }
}

void Communicator::Impl::explain_abort() const {
  constexpr std::chrono::milliseconds kLongest{500};
  const auto begin = std::chrono::steady_clock::now();
  while (board->own().abort != 0 && !watch->problem() &&
         std::chrono::steady_clock::now() - begin < kLongest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    watch->look();
  }
}

/// As lines: what a RankDevice has.
void Communicator::Impl::exchange_devices() {
  const RankDevice own = device.describe();
  const std::string mine = std::to_string(own.process) + "\n" + std::to_string(own.device) + "\n" +
                           own.bus_id + "\n" + own.name + "\n" + std::to_string(own.sm) + "\n" +
                           std::to_string(own.multiprocessors) + "\n";
  for (const std::string& text : exchange->all_gather(mine, "the GPUs")) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      lines.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    RankDevice rank;
    rank.rank = static_cast<int>(devices.size());
    rank.process = std::stoi(lines.at(0));
    rank.device = std::stoi(lines.at(1));
    rank.bus_id = lines.at(2);
    rank.name = lines.at(3);
    rank.sm = std::stoi(lines.at(4));
    rank.multiprocessors = std::stoi(lines.at(5));
    devices.push_back(rank);
  }
}

void Communicator::Impl::map_status_page() {
  together(*exchange, "map the status page", [this] {
    page_seen = device.map_host(reinterpret_cast<std::byte*>(&board->own()), Bytes(StatusBoard::kPageBytes));
  });
}

namespace {

/// Ranks on the GPU of this one, itself among them.
int sharers_of(const std::vector<RankDevice>& devices, int rank) {
  return static_cast<int>(std::count_if(devices.begin(), devices.end(), [&](const RankDevice& other) {
    return other.bus_id == devices[at(rank)].bus_id;
  }));
}

/// Blocks that this rank's kernels may have at once, so that those of all ranks of its GPU fit beside each
/// other: a block that waits for one that can't start would wait for ever.
void share_gpu(const EngineDevice& device, const std::vector<RankDevice>& devices, int rank,
               int (&blocks)[3]) {
  const int sharers = sharers_of(devices, rank);
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    const int threads = protocol_traits(protocol).max_threads;
    int fewest = kMostEngineChannels * sharers * 2;
    for (const Datatype type : kDatatypes) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod}) {
        for (const KernelShape shape : {KernelShape::ring, KernelShape::one_shot, KernelShape::any})
          fewest = std::min(fewest, device.resident_blocks(protocol, type, op, shape, threads));
      }
    }
    blocks[at(static_cast<int>(protocol))] = fewest / sharers;
  }
}

bool any_staged(const EnginePaths& paths) {
  bool any = false;
  for (std::size_t from = 0; from < paths.size(); ++from) {
    for (std::size_t to = 0; to < paths.size(); ++to)
      any = any || (from != to && paths[from][to].transport == Transport::shm);
  }
  return any;
}

bool all_staged(const EnginePaths& paths) {
  bool all = true;
  for (std::size_t from = 0; from < paths.size(); ++from) {
    for (std::size_t to = 0; to < paths.size(); ++to)
      all = all && (from == to || paths[from][to].transport == Transport::shm);
  }
  return all;
}

MailboxLayout layout_for(const EngineOptions& options, const EnginePaths& paths, int channels) {
  MailboxLayout layout;
  layout.ranks = static_cast<int>(paths.size());
  layout.channels = channels;
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    const std::size_t p = at(static_cast<int>(protocol));
    if (protocol == Protocol::ll128 && any_staged(paths)) continue;  // refused there: way_choice.cpp
    layout.ring_bytes[p] =
        round_up(options.ring_buffsize[p].value_or(protocol_traits(protocol).default_buffsize).value(), 128);
    if (options.exchanges)
      layout.any_bytes[p] = round_up(engine_buffsize(protocol, Algorithm::one_shot)->value(), 128);
  }
  if (paths.size() < 2 || !all_staged(paths)) return layout;
  layout.copy_channels = kCopyChannels;
  layout.copy_slots = kCopySlots;
  layout.copy_slot_bytes = kCopySlotBytes;
  return layout;
}

}  // namespace

void Communicator::Impl::choose_layout() {
  PlannerSetup setup;
  setup.rank = exchange->rank();
  setup.machine = engine_machine(devices, paths);
  setup.alone = sharers_of(devices, setup.rank) == 1;
  setup.paths = paths;
  int blocks[3] = {};
  together(*exchange, "ask how many blocks fit", [&] { share_gpu(device, devices, setup.rank, blocks); });
  const std::string mine(reinterpret_cast<const char*>(blocks), sizeof blocks);
  std::copy(std::begin(blocks), std::end(blocks), std::begin(setup.most_blocks));
  for (const std::string& text : exchange->all_gather(mine, "how many blocks fit")) {
    int theirs[3] = {};
    std::memcpy(theirs, text.data(), sizeof theirs);
    for (int p = 0; p < 3; ++p) setup.most_blocks[p] = std::max(1, std::min(setup.most_blocks[p], theirs[p]));
  }
  Implementation engine;
  engine.library = Library::lanecast;
  const int usual = open_communicator(setup.machine, engine, Call{}).channels();
  const int most = *std::max_element(std::begin(setup.most_blocks), std::end(setup.most_blocks));
  setup.layout = layout_for(options, paths, std::min(options.channels.value_or(usual), most));
  mailboxes = std::make_unique<Mailboxes>(*exchange, device, paths, setup.layout, options.first_step);
  if (setup.layout.copy_channels != 0) {
    together(*exchange, "allocate memory for copies", [&] {
      engines = device.open_copy_engines();
      if (engines == nullptr) return;
      const RankDevice& own = devices[at(setup.rank)];
      engines->share(
          static_cast<int>(std::count_if(devices.begin(), devices.end(), [&](const RankDevice& other) {
            return other.process == own.process && other.device == own.device;
          })));
      engines->scratch(copy_scratch_bytes(setup.layout));
    });
  }
  planner = std::make_unique<CallPlanner>(std::move(setup));
}

}  // namespace lanecast
