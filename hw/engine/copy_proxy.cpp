#include "hw/engine/copy_proxy.hpp"

#include <chrono>
#include <exception>

#include "hw/engine/copy_call.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kDone = 128;
constexpr std::chrono::milliseconds kStayAwake{2};
constexpr std::chrono::microseconds kNap{20};
constexpr std::chrono::seconds kSoundAsleep{1};
constexpr std::chrono::microseconds kLongNap{500};

}  // namespace

CopyProxy::CopyProxy(EngineDevice& device, CopyEngines& engines, const Mailboxes& mailboxes, Watch& watch)
    : device_(device),
      engines_(engines),
      mailboxes_(mailboxes),
      watch_(watch),
      page_(SharedMemory::create(kPageBytes, "the copy proxy's page")),
      page_seen_(device.map_host(static_cast<std::byte*>(page_.data()), Bytes(kPageBytes))),
      thread_([this] { run(); }) {}

CopyProxy::~CopyProxy() {
  stop_ = true;
  thread_.join();
  device_.unmap_host(static_cast<std::byte*>(page_.data()));
}

void CopyProxy::enqueue(const CallPlan& plan, const KernelCall& call, bool keep, Stream stream) {
  CopyRequest request;
  request.epoch = mailboxes_.copy_epoch();
  request.word = reinterpret_cast<std::uint64_t*>(page_seen_);
  {
    const std::lock_guard lock(mutex_);
    request.job = next_id_++;
    jobs_[request.job] = std::make_unique<Job>(Job{&plan, call, keep});
  }
  CopyWait done;
  done.counter = reinterpret_cast<std::uint64_t*>(page_seen_ + kDone);
  done.base = mailboxes_.copy_epoch();
  done.what = KernelFault::data;
  done.peer = (call.work.position + call.work.ranks - 1) % call.work.ranks;
  KernelCall patient =
      call;  // the waits within the call have the time-out; this one has all of them behind it
  patient.timeout_ns = call.timeout_ns * 4 + call.total * 64;
  engines_.request(request, patient, done, stream);
}

void CopyProxy::settle(std::chrono::milliseconds longest) {
  const auto begin = std::chrono::steady_clock::now();
  while ((serving_ || !engines_.idle()) && std::chrono::steady_clock::now() - begin < longest)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void CopyProxy::run() {
  std::atomic_ref<std::uint64_t> word(*static_cast<std::uint64_t*>(page_.data()));
  std::uint64_t seen = 0;
  auto last = std::chrono::steady_clock::now();
  while (!stop_) {
    const std::uint64_t asked = word.load(std::memory_order_acquire);
    if (asked != seen) {
      seen = asked;
      serving_ = true;
      serve(static_cast<std::uint32_t>(asked));
      serving_ = false;
      last = std::chrono::steady_clock::now();
    } else if (const auto idle = std::chrono::steady_clock::now() - last; idle > kStayAwake) {
      std::this_thread::sleep_for(idle > kSoundAsleep ? kLongNap : kNap);
    } else {
      std::this_thread::yield();
    }
  }
}

void CopyProxy::serve(std::uint32_t id) {
  const Job* job = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(id);
    if (found != jobs_.end()) job = found->second.get();
  }
  if (job == nullptr) return;
  try {
    issue_copies(*job->plan, job->call, mailboxes_, engines_,
                 reinterpret_cast<std::uint64_t*>(page_seen_ + kDone), mailboxes_.copy_epoch(),
                 [this] { return watch_.problem().has_value(); });
  } catch (const std::exception& error) {
    watch_.report(error.what());
  }
  const std::lock_guard lock(mutex_);
  if (!job->keep) jobs_.erase(id);
}

}  // namespace lanecast
